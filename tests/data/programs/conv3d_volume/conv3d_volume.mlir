module @jit_conv3d_volume attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x8x8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}, {"model"}, {}, {}]>}, %arg1: tensor<3x3x3x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}, {}]>}) -> (tensor<2x8x8x4x4xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}, {"model"}, {}, {}]>}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {stride = [1, 1, 1], pad = [[1, 1], [1, 1], [1, 1]], lhs_dilate = [1, 1, 1], rhs_dilate = [1, 1, 1], reverse = [false, false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x4x4xf32>, tensor<3x3x3x4x4xf32>) -> tensor<2x8x8x4x4xf32>
    return %0 : tensor<2x8x8x4x4xf32>
  }
}
