// Softmax along a dim that two axes split: a greatest value and a sum for each of 4 rows, over 4 devices.
// Each all-reduce sends 2 * 3/4 of 16 bytes.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 48 bytes in 2 messages, as predicted
// CHECK-NEXT:   all_reduce           over x, y                                  48 bytes in 2
module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}) -> (tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x16xf32>
    %2 = stablehlo.subtract %a, %1 : tensor<4x16xf32>
    %3 = stablehlo.exponential %2 : tensor<4x16xf32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x16xf32>
    %6 = stablehlo.divide %3, %5 : tensor<4x16xf32>
    return %6 : tensor<4x16xf32>
  }
}
