// RUN: shardwright export %s --to stablehlo | filecheck %s
// RUN: shardwright export %s --to stablehlo -o %t && shardwright run %t --check

// Both weights are there at the start and travel together, though the second is used behind a product. Both gradients
// travel together, though the first is transposed at once: nobody needs that before the end.
// CHECK-LABEL: func.func public @main
// CHECK-COUNT-1: stablehlo.all_gather
// CHECK: stablehlo.dot_general
// CHECK-NOT: stablehlo.all_gather
// CHECK-COUNT-1: stablehlo.reduce_scatter
// CHECK-NOT: stablehlo.reduce_scatter
// CHECK: stablehlo.transpose
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %a: tensor<256x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %first: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %second: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %first, contracting_dims = [1] x [0] : (tensor<256x8xf32>, tensor<8x4xf32>) -> tensor<256x4xf32>
  %1 = stablehlo.tanh %0 : tensor<256x4xf32>
  %2 = stablehlo.dot_general %1, %second, contracting_dims = [1] x [0] : (tensor<256x4xf32>, tensor<4x8xf32>) -> tensor<256x8xf32>
  %3 = stablehlo.tanh %2 : tensor<256x8xf32>
  %4 = stablehlo.dot_general %1, %3, contracting_dims = [0] x [0] : (tensor<256x4xf32>, tensor<256x8xf32>) -> tensor<4x8xf32>
  %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %6 = stablehlo.dot_general %3, %1, contracting_dims = [0] x [0] : (tensor<256x8xf32>, tensor<256x4xf32>) -> tensor<8x4xf32>
  return %5, %6 : tensor<8x4xf32>, tensor<8x4xf32>
}
