module @jit_unet_fwd attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x16x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}, {"model"}, {}]>}, %arg1: tensor<3x3x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, %arg2: tensor<3x3x12x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}) -> (tensor<2x16x16x4xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}, {"model"}, {}]>}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x16x16x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x8x8x8xf32>
    %1 = call @relu(%0) : (tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 3, 4] : (tensor<2x8x8x8xf32>) -> tensor<2x8x2x8x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x8x2x8x8xf32>) -> tensor<2x16x8x8xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 4] : (tensor<2x16x8x8xf32>) -> tensor<2x16x8x2x8xf32>
    %5 = stablehlo.reshape %4 : (tensor<2x16x8x2x8xf32>) -> tensor<2x16x16x8xf32>
    %6 = stablehlo.concatenate %arg0, %5, dim = 3 : (tensor<2x16x16x4xf32>, tensor<2x16x16x8xf32>) -> tensor<2x16x16x12xf32>
    %7 = stablehlo.convolution(%6, %arg2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x16x16x12xf32>, tensor<3x3x12x4xf32>) -> tensor<2x16x16x4xf32>
    return %7 : tensor<2x16x16x4xf32>
  }
  func.func private @relu(%arg0: tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x8x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x8x8x8xf32>
    return %1 : tensor<2x8x8x8xf32>
  }
}
