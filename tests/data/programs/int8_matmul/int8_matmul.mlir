module @jit_int8_matmul attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, %arg1: tensor<64x32xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg2: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<32x32xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %0 = stablehlo.abs %arg0 : tensor<32x64xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %cst_0 = stablehlo.constant dense<1.270000e+02> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<32x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x64xf32>
    %6 = stablehlo.divide %arg0, %5 : tensor<32x64xf32>
    %7 = call @round(%6) : (tensor<32x64xf32>) -> tensor<32x64xf32>
    %c = stablehlo.constant dense<-127> : tensor<i32>
    %c_1 = stablehlo.constant dense<127> : tensor<i32>
    %8 = call @clip(%7, %c, %c_1) : (tensor<32x64xf32>, tensor<i32>, tensor<i32>) -> tensor<32x64xf32>
    %9 = stablehlo.convert %8 : (tensor<32x64xf32>) -> tensor<32x64xi8>
    %10 = stablehlo.dot_general %9, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xi8>, tensor<64x32xi8>) -> tensor<32x32xi32>
    %11 = stablehlo.convert %10 : (tensor<32x32xi32>) -> tensor<32x32xf32>
    %12 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x32xf32>
    %13 = stablehlo.multiply %11, %12 : tensor<32x32xf32>
    %14 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<32x32xf32>
    %16 = stablehlo.multiply %13, %15 : tensor<32x32xf32>
    return %16 : tensor<32x32xf32>
  }
  func.func private @round(%arg0: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
  func.func private @clip(%arg0: tensor<32x64xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<32x64xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<32x64xf32>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<32x64xf32>
    return %5 : tensor<32x64xf32>
  }
}
