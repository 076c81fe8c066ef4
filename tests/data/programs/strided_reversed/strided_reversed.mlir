module @jit_strided_reversed attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "fsdp"=2, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "fsdp", size = 2 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {"model"}]>}) -> (tensor<64x16xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {"model"}]>}, tensor<32x32xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {"model"}]>}, tensor<8x11xf32> {jax.result_info = "result[2]"}, tensor<64x32xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {"model"}]>}) {
    %0 = stablehlo.slice %arg0 [0:64, 1:32:2] : (tensor<64x32xf32>) -> tensor<64x16xf32>
    %1 = stablehlo.reverse %0, dims = [0] : tensor<64x16xf32>
    %2 = stablehlo.slice %arg0 [1:64:2, 0:32] : (tensor<64x32xf32>) -> tensor<32x32xf32>
    %3 = stablehlo.reverse %2, dims = [0] : tensor<32x32xf32>
    %4 = stablehlo.slice %arg0 [3:59:7, 1:32:3] : (tensor<64x32xf32>) -> tensor<8x11xf32>
    %5 = stablehlo.reverse %4, dims = [1] : tensor<8x11xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = call @diff(%arg0, %cst) : (tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
    return %1, %3, %5, %6 : tensor<64x16xf32>, tensor<32x32xf32>, tensor<8x11xf32>, tensor<64x32xf32>
  }
  func.func private @diff(%arg0: tensor<64x32xf32>, %arg1: tensor<f32>) -> tensor<64x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1x32xf32>
    %1 = stablehlo.convert %0 : tensor<1x32xf32>
    %2 = stablehlo.concatenate %1, %arg0, dim = 0 : (tensor<1x32xf32>, tensor<64x32xf32>) -> tensor<65x32xf32>
    %3 = stablehlo.slice %2 [1:65, 0:32] : (tensor<65x32xf32>) -> tensor<64x32xf32>
    %4 = stablehlo.slice %2 [0:64, 0:32] : (tensor<65x32xf32>) -> tensor<64x32xf32>
    %5 = stablehlo.subtract %3, %4 : tensor<64x32xf32>
    return %5 : tensor<64x32xf32>
  }
}
