module @jit_shape_ops attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, %arg1: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<32x40xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %0 = stablehlo.slice %arg0 [0:32, 0:32] : (tensor<32x64xf32>) -> tensor<32x32xf32>
    %1 = stablehlo.slice %arg0 [0:32, 32:64] : (tensor<32x64xf32>) -> tensor<32x32xf32>
    %2 = stablehlo.negate %1 : tensor<32x32xf32>
    %3 = stablehlo.reverse %arg1, dims = [1] : tensor<32x16xf32>
    %4 = stablehlo.concatenate %2, %0, %3, dim = 1 : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x16xf32>) -> tensor<32x80xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = call @_pad(%4, %c) : (tensor<32x80xf32>, tensor<i32>) -> tensor<32x83xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %6 = call @clip(%5, %cst, %cst_0) : (tensor<32x83xf32>, tensor<f32>, tensor<f32>) -> tensor<32x83xf32>
    %7 = stablehlo.slice %6 [0:32, 1:81:2] : (tensor<32x83xf32>) -> tensor<32x40xf32>
    return %7 : tensor<32x40xf32>
  }
  func.func private @_pad(%arg0: tensor<32x80xf32>, %arg1: tensor<i32>) -> tensor<32x83xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [0, 1], high = [0, 2], interior = [0, 0] : (tensor<32x80xf32>, tensor<f32>) -> tensor<32x83xf32>
    return %1 : tensor<32x83xf32>
  }
  func.func private @clip(%arg0: tensor<32x83xf32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<32x83xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<32x83xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<32x83xf32>
    %3 = stablehlo.convert %arg1 : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<32x83xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<32x83xf32>
    return %5 : tensor<32x83xf32>
  }
}
