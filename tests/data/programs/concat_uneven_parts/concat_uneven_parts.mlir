module @jit_concat_uneven_parts attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, %arg1: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg2: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<64x16xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, tensor<16x2x16xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {"model"}]>}) {
    %0 = stablehlo.concatenate %arg0, %arg1, %arg2, dim = 0 : (tensor<32x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32>
    %1 = stablehlo.slice %0 [0:40, 0:16] : (tensor<64x16xf32>) -> tensor<40x16xf32>
    %2 = stablehlo.slice %0 [40:64, 0:16] : (tensor<64x16xf32>) -> tensor<24x16xf32>
    %3 = stablehlo.concatenate %2, %1, dim = 0 : (tensor<24x16xf32>, tensor<40x16xf32>) -> tensor<64x16xf32>
    %4 = stablehlo.slice %arg0 [0:16, 0:16] : (tensor<32x16xf32>) -> tensor<16x16xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 2] : (tensor<16x16xf32>) -> tensor<16x1x16xf32>
    %6 = stablehlo.broadcast_in_dim %arg1, dims = [0, 2] : (tensor<16x16xf32>) -> tensor<16x1x16xf32>
    %7 = stablehlo.concatenate %5, %6, dim = 1 : (tensor<16x1x16xf32>, tensor<16x1x16xf32>) -> tensor<16x2x16xf32>
    return %3, %7 : tensor<64x16xf32>, tensor<16x2x16xf32>
  }
}
