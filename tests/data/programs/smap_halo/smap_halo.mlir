module @jit_smap_halo attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<8x16xf32>) {
      %1 = stablehlo.slice %arg1 [7:8, 0:16] : (tensor<8x16xf32>) -> tensor<1x16xf32>
      %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7]]> : tensor<7x2xi64>}> : (tensor<1x16xf32>) -> tensor<1x16xf32>
      %3 = stablehlo.slice %arg1 [0:1, 0:16] : (tensor<8x16xf32>) -> tensor<1x16xf32>
      %4 = "stablehlo.collective_permute"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2], [4, 3], [5, 4], [6, 5], [7, 6]]> : tensor<7x2xi64>}> : (tensor<1x16xf32>) -> tensor<1x16xf32>
      %5 = stablehlo.concatenate %2, %arg1, %4, dim = 0 : (tensor<1x16xf32>, tensor<8x16xf32>, tensor<1x16xf32>) -> tensor<10x16xf32>
      %6 = stablehlo.slice %5 [0:8, 0:16] : (tensor<10x16xf32>) -> tensor<8x16xf32>
      %7 = stablehlo.slice %5 [1:9, 0:16] : (tensor<10x16xf32>) -> tensor<8x16xf32>
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %9 = stablehlo.multiply %8, %7 : tensor<8x16xf32>
      %10 = stablehlo.subtract %6, %9 : tensor<8x16xf32>
      %11 = stablehlo.slice %5 [2:10, 0:16] : (tensor<10x16xf32>) -> tensor<8x16xf32>
      %12 = stablehlo.add %10, %11 : tensor<8x16xf32>
      sdy.return %12 : tensor<8x16xf32>
    } : (tensor<64x16xf32>) -> tensor<64x16xf32>
    return %0 : tensor<64x16xf32>
  }
}
