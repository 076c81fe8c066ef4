module @jit_image_patches attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "fsdp"=2, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "fsdp", size = 2 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<4x3x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"fsdp"}, {"model"}]>}, %arg1: tensor<48x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<4x4x4x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"fsdp"}, {"model"}, {}]>}) {
    %0 = stablehlo.iota dim = 0 : tensor<16x16xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x16xi32>
    %2 = stablehlo.add %0, %1 : tensor<16x16xi32>
    %3 = stablehlo.iota dim = 1 : tensor<16x16xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %5 = stablehlo.convert %4 : (tensor<16x16xi1>) -> tensor<16x16xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1, 2] : (tensor<16x16xf32>) -> tensor<3x16x16xf32>
    %7 = stablehlo.reshape %6 : (tensor<3x16x16xf32>) -> tensor<48x1x4x4xf32>
    %8 = stablehlo.convolution(%arg0, %7) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [4, 4], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<4x3x16x16xf32>, tensor<48x1x4x4xf32>) -> tensor<4x48x4x4xf32>
    %9 = stablehlo.dot_general %8, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x48x4x4xf32>, tensor<48x8xf32>) -> tensor<4x4x4x8xf32>
    return %9 : tensor<4x4x4x8xf32>
  }
}
