// RUN: shardwright-opt %s -p inline --print-debuginfo | filecheck %s

// CHECK: func.func public @main
// CHECK-NEXT: %0 = stablehlo.negate %x : tensor<4xf32> loc(callsite(callsite({{.*}}inline.mlir":27:8 at {{.*}}inline.mlir":21:8) at {{.*}}inline.mlir":10:8))
// CHECK-NEXT: %1 = stablehlo.add %0, %x : tensor<4xf32> loc(callsite({{.*}}inline.mlir":22:8 at {{.*}}inline.mlir":10:8))
// CHECK-NEXT: %2 = stablehlo.negate %1 : tensor<4xf32> loc(callsite({{.*}}inline.mlir":27:8 at {{.*}}inline.mlir":11:8))
// CHECK-NEXT: return %1, %2, %x
// CHECK-NOT: func.func
func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = call @outer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @inner(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @nothing(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

func.func private @nothing(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

func.func private @outer(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @inner(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %a : tensor<4xf32>
  return %1 : tensor<4xf32>
}

func.func private @inner(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @unused() -> tensor<f32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
}
