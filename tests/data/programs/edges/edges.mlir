module @jit_edges attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, %arg1: tensor<0x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg2: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg3: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}) -> (tensor<8x8xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, tensor<8xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<0x3xf32> {jax.result_info = "result[2]"}, tensor<8x8xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, tensor<8x8xf32> {jax.result_info = "result[4]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, tensor<4x4xf32> {jax.result_info = "result[5]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, tensor<f32> {jax.result_info = "result[6]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<0x4xf32>
    %1 = stablehlo.add %arg1, %0 : tensor<0x4xf32>
    %2 = stablehlo.concatenate %arg1, %1, dim = 1 : (tensor<0x4xf32>, tensor<0x4xf32>) -> tensor<0x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<0x8xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %5 = stablehlo.dot_general %2, %4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<0x8xf32>, tensor<8x3xf32>) -> tensor<0x3xf32>
    %6 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %7 = stablehlo.multiply %arg0, %6 : tensor<8x8xf32>
    %8 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %9 = stablehlo.multiply %arg0, %8 : tensor<8x8xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%arg1 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<0x4xf32>, tensor<f32>) -> tensor<f32>
    %12 = stablehlo.add %arg2, %11 : tensor<f32>
    return %arg0, %3, %5, %7, %9, %10, %12 : tensor<8x8xf32>, tensor<8xf32>, tensor<0x3xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x4xf32>, tensor<f32>
  }
}
