// RUN: shardwright-opt %s -p propagate-layouts --split-input-file | filecheck %s
// RUN: shardwright-opt %s -p 'propagate-layouts{refine=false}' --split-input-file | filecheck %s --check-prefix=SPREAD

// %0 is as near to %a as to %b, with as many bytes; the first dim wins, and then %0 has to be moved for %1. Refinement
// looks at what follows: either %a or %b has to move (64 bytes: half of a device's half), but %0 need not.
// CHECK-LABEL: module @conflict
// SPREAD-LABEL: module @conflict
module @conflict {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %b: tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>> {
    // SPREAD: stablehlo.add {{.*}}dtensor.why = "from argument 0, its operand; chosen over columns over x, from argument 1, of 256 bytes against 256"{{.*}} -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    // CHECK: stablehlo.add {{.*}}dtensor.why = "moved at {{.*}} to send 64 bytes less per device; without that it would be rows over x"{{.*}} -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
    %0 = stablehlo.add %a, %b : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> tensor<8x8xf32>
    %1 = stablehlo.negate %0 : tensor<8x8xf32>
    %2 = dtensor.constraint %1 : tensor<8x8xf32> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
    return %2 : tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
  }
}

// -----

// What the user gave is not moved, however much that would save; nor is what a constraint fixes.
// CHECK-LABEL: module @user_layouts_stay
module @user_layouts_stay {
  dtensor.mesh @mesh = <["x"=2]>
  // CHECK: %a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> {
    // CHECK-NEXT: dtensor.constraint {{.*}} -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
    %0 = dtensor.constraint %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
    // CHECK-NEXT: dtensor.constraint {{.*}} -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    %1 = dtensor.constraint %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %1 : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  }
}
