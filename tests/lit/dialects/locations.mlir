// RUN: shardwright-opt %s --print-debuginfo | filecheck %s

// Locations in the text are kept, aliases at the end of the file included; other ops get their place in the text.

// CHECK-LABEL: func.func @kinds(
// CHECK-SAME: %arg0: tensor<f32> loc("x"("f.py":1:2)), %arg1: tensor<f32> {jax.note = 1 : i32} loc("y")
func.func @kinds(%arg0: tensor<f32> loc("x"(#loc1)), %arg1: tensor<f32> {jax.note = 1 : i32} loc("y")) {
  // CHECK-NEXT: %0 = stablehlo.add %arg0, %arg1 : tensor<f32> loc("jit(f)/add"("f.py":1:2))
  %0 = stablehlo.add %arg0, %arg1 : tensor<f32> loc(#loc2)
  // CHECK-NEXT: loc("f.py":1:2 to :9)
  %1 = stablehlo.negate %0 : tensor<f32> loc("f.py":1:2 to :9)
  // CHECK-NEXT: loc("f.py":1:2 to 3:9)
  %2 = stablehlo.negate %1 : tensor<f32> loc("f.py":1:2 to 3:9)
  // CHECK-NEXT: loc(callsite("add"("f.py":1:2) at fused<"why">["a.py":1:1, "b"]))
  %3 = stablehlo.negate %2 : tensor<f32> loc(callsite("add"(#loc1) at fused<"why">["a.py":1:1, "b"]))
  // CHECK-NEXT: loc(unknown)
  %4 = "stablehlo.negate"(%3) : (tensor<f32>) -> tensor<f32> loc(unknown)
  // CHECK-NEXT: loc("{{.*}}locations.mlir":19:8)
  %5 = stablehlo.negate %4 : tensor<f32>
  return
}

// CHECK-LABEL: func.func @body_of_another_place(
func.func @body_of_another_place(%arg0: tensor<4xf32>, %arg1: tensor<f32>) {
  // CHECK-NEXT: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : {{.*}} loc("r.py":5:6)
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> loc("r.py":5:6)
  // CHECK-NEXT: stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0]
  %1 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   // CHECK-NEXT: reducer(%a: tensor<f32> loc("a"), %b: tensor<f32> loc("b"))
   reducer(%a: tensor<f32> loc("a"), %b: tensor<f32> loc("b")) {
    // CHECK-NEXT: stablehlo.add %a, %b : tensor<f32> loc("s.py":7:8)
    %2 = stablehlo.add %a, %b : tensor<f32> loc("s.py":7:8)
    stablehlo.return %2 : tensor<f32>
  // CHECK: } loc("r.py":5:6)
  } loc("r.py":5:6)
  return
}

#loc2 = loc("jit(f)/add"(#loc1))
#loc1 = loc("f.py":1:2)
