module @jit_pad_interior_grad attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x33xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, %arg1: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) -> (tensor<64x32xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, tensor<32x33xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg0, %cst, low = [-2, 1], high = [3, -2], interior = [1, 0] : (tensor<32x33xf32>, tensor<f32>) -> tensor<64x32xf32>
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %1 = stablehlo.pad %arg0, %cst_0, low = [-2, 1], high = [3, -2], interior = [1, 0] : (tensor<32x33xf32>, tensor<f32>) -> tensor<64x32xf32>
    %2 = stablehlo.multiply %1, %arg1 : tensor<64x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %5 = stablehlo.multiply %4, %arg1 : tensor<64x32xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.pad %5, %cst_3, low = [2, -1], high = [-3, 2], interior = [0, 0] : (tensor<64x32xf32>, tensor<f32>) -> tensor<63x33xf32>
    %7 = stablehlo.slice %6 [0:63:2, 0:33] : (tensor<63x33xf32>) -> tensor<32x33xf32>
    return %0, %7 : tensor<64x32xf32>, tensor<32x33xf32>
  }
}
