// RUN: shardwright-opt %s -p choose-layouts --split-input-file | filecheck %s --check-prefixes=CHECK,MUCH
// RUN: shardwright-opt %s -p choose-layouts{memory-limit=3800} --split-input-file | filecheck %s --check-prefixes=CHECK,LITTLE

// Rows of the first operand, which sends nothing; what was laid out stays.
// CHECK-LABEL: module @product
module @product {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %c: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> (tensor<8x4xf32>, tensor<4xf32>) {
    // CHECK: @main(%a: tensor<8x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> {dtensor.why = "chosen automatically: rows over x"},
    // CHECK-SAME: %b: tensor<16x4xf32, #dtensor.layout<@mesh, [{}, {}]>> {dtensor.why = "chosen automatically: not split"},
    // CHECK-SAME: %c: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>)
    // CHECK: stablehlo.dot_general {{.*}} {dtensor.why = "chosen automatically: rows over x, with rows of argument 0"}
    // CHECK-SAME: -> tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    // CHECK: stablehlo.negate %c {{.*}} : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.negate %c : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<4xf32>
    return %0, %1 : tensor<8x4xf32>, tensor<4xf32>
  }
}

// -----

// Hidden units are split: nothing is sent until they are summed up, and the result is left in parts.
// CHECK-LABEL: module @layers
module @layers {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<1x4xf32>, %w: tensor<4x32xf32>, %v: tensor<32x4xf32>) -> tensor<1x4xf32> {
    // CHECK: %w: tensor<4x32xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
    // CHECK-SAME: %v: tensor<32x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    // CHECK: stablehlo.tanh {{.*}} {dtensor.why = "chosen automatically: columns over x, with columns of argument 1"} : tensor<1x32xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x4xf32>, tensor<4x32xf32>) -> tensor<1x32xf32>
    %1 = stablehlo.tanh %0 : tensor<1x32xf32>
    %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<1x32xf32>, tensor<32x4xf32>) -> tensor<1x4xf32>
    return %2 : tensor<1x4xf32>
  }
}

// -----

// Where three weights are too much for each device, they are split, and gathered when their turn comes.
// CHECK-LABEL: module @weights
module @weights {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<64x8xf32>, %u: tensor<8x8xf32>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<64x8xf32> {
    // MUCH: %u: tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    // LITTLE: %u: tensor<8x8xf32, #dtensor.layout<@mesh, [{{.*}}{"x"}{{.*}}]>>
    // CHECK: stablehlo.tanh {{.*}} tensor<64x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    %0 = stablehlo.dot_general %x, %u, contracting_dims = [1] x [0] : (tensor<64x8xf32>, tensor<8x8xf32>) -> tensor<64x8xf32>
    %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0] : (tensor<64x8xf32>, tensor<8x8xf32>) -> tensor<64x8xf32>
    %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<64x8xf32>, tensor<8x8xf32>) -> tensor<64x8xf32>
    %3 = stablehlo.tanh %2 : tensor<64x8xf32>
    return %3 : tensor<64x8xf32>
  }
}
