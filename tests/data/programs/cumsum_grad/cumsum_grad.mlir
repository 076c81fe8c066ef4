module @jit_cumsum_grad attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<2048xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = call @cumsum(%arg0) : (tensor<2048xf32>) -> tensor<2048xf32>
    %1 = stablehlo.multiply %0, %arg1 : tensor<2048xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<2048xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2048xf32>
    %4 = stablehlo.multiply %3, %arg1 : tensor<2048xf32>
    %5 = call @cumsum_1(%4) : (tensor<2048xf32>) -> tensor<2048xf32>
    return %5 : tensor<2048xf32>
  }
  func.func private @cumsum(%arg0: tensor<2048xf32>) -> tensor<2048xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<2048xf32>) -> tensor<2048xf32>
    return %0 : tensor<2048xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<2048xf32>) -> tensor<2048xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[2047, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 2048>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32>
    return %1 : tensor<2048xf32>
  }
  func.func private @cumsum_1(%arg0: tensor<2048xf32>) -> tensor<2048xf32> {
    %0 = call @cumsum_2(%arg0) : (tensor<2048xf32>) -> tensor<2048xf32>
    return %0 : tensor<2048xf32>
  }
  func.func private @cumsum_2(%arg0: tensor<2048xf32>) -> tensor<2048xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[0, 2047]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 2048>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2048xf32>, tensor<f32>) -> tensor<2048xf32>
    return %1 : tensor<2048xf32>
  }
}
