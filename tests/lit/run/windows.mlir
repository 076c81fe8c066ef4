// RUN: shardwright run %s --check

// Slices, shifts and reversals of split dims: neighbours exchange what they lack, and the result is the unsharded one.

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(
    %a: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}
  ) -> (
    tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    tensor<24x20xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}
  ) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %a [1:16:2, 3:11:2] : (tensor<16x12xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.reverse %a, dims = [0, 1] : tensor<16x12xf32>
  %2 = stablehlo.pad %a, %zero, low = [5, -3], high = [-5, 3], interior = [0, 0] : (tensor<16x12xf32>, tensor<f32>) -> tensor<16x12xf32>
  %3 = stablehlo.pad %a, %zero, low = [6, 4], high = [2, 4], interior = [0, 0] : (tensor<16x12xf32>, tensor<f32>) -> tensor<24x20xf32>
  return %0, %1, %2, %3 : tensor<8x4xf32>, tensor<16x12xf32>, tensor<16x12xf32>, tensor<24x20xf32>
}
