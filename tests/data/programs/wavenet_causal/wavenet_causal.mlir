module @jit_wavenet_causal attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<2x128x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %arg1: tensor<3x2x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}) -> (tensor<2x128x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
    %0 = stablehlo.slice %arg1 [0:1, 0:2, 0:8, 0:8] : (tensor<3x2x8x8xf32>) -> tensor<1x2x8x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x8x8xf32>) -> tensor<2x8x8xf32>
    %2 = stablehlo.convolution(%arg0, %1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x128x8xf32>, tensor<2x8x8xf32>) -> tensor<2x128x8xf32>
    %3 = stablehlo.tanh %2 : tensor<2x128x8xf32>
    %4 = stablehlo.add %arg0, %3 : tensor<2x128x8xf32>
    %5 = stablehlo.slice %arg1 [1:2, 0:2, 0:8, 0:8] : (tensor<3x2x8x8xf32>) -> tensor<1x2x8x8xf32>
    %6 = stablehlo.reshape %5 : (tensor<1x2x8x8xf32>) -> tensor<2x8x8xf32>
    %7 = stablehlo.convolution(%4, %6) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[2, 0]], lhs_dilate = [1], rhs_dilate = [2], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x128x8xf32>, tensor<2x8x8xf32>) -> tensor<2x128x8xf32>
    %8 = stablehlo.tanh %7 : tensor<2x128x8xf32>
    %9 = stablehlo.add %4, %8 : tensor<2x128x8xf32>
    %10 = stablehlo.slice %arg1 [2:3, 0:2, 0:8, 0:8] : (tensor<3x2x8x8xf32>) -> tensor<1x2x8x8xf32>
    %11 = stablehlo.reshape %10 : (tensor<1x2x8x8xf32>) -> tensor<2x8x8xf32>
    %12 = stablehlo.convolution(%9, %11) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[4, 0]], lhs_dilate = [1], rhs_dilate = [4], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x128x8xf32>, tensor<2x8x8xf32>) -> tensor<2x128x8xf32>
    %13 = stablehlo.tanh %12 : tensor<2x128x8xf32>
    %14 = stablehlo.add %9, %13 : tensor<2x128x8xf32>
    return %14 : tensor<2x128x8xf32>
  }
}
