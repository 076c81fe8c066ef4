// Where there are no elements there is no collective: StableHLO has none of dims without elements.
// RUN: shardwright export %s --to stablehlo | filecheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK: func.func public @main
// CHECK-NOT: all_gather
// CHECK-NOT: reduce_scatter
// CHECK-NOT: all_to_all
// CHECK-NOT: all_reduce
// CHECK-NOT: collective_permute
func.func public @main(
    %gathered: tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %turned: tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %permuted: tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>},
    %moved: tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>},
    %summed: tensor<8x0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %scattered: tensor<8x0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
  ) -> (
    tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
    tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>},
    tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    tensor<0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>},
    tensor<0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
  ) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.tanh %gathered : tensor<0x8xf32>
  %1 = stablehlo.tanh %turned : tensor<0x8xf32>
  %2 = stablehlo.tanh %permuted : tensor<0x8xf32>
  %3 = stablehlo.tanh %moved : tensor<0x8xf32>
  %4 = stablehlo.reduce(%summed init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x0xf32>, tensor<f32>) -> tensor<0xf32>
  %5 = stablehlo.reduce(%scattered init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x0xf32>, tensor<f32>) -> tensor<0xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<0x8xf32>, tensor<0x8xf32>, tensor<0x8xf32>, tensor<0x8xf32>, tensor<0xf32>, tensor<0xf32>
}
