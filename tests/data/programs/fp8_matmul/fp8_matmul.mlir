module @jit_fp8_matmul attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, %arg1: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> (tensor<32x32xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) {
    %0 = stablehlo.convert %arg0 : (tensor<32x64xf32>) -> tensor<32x64xf8E4M3FN>
    %1 = stablehlo.convert %0 : (tensor<32x64xf8E4M3FN>) -> tensor<32x64xbf16>
    %2 = stablehlo.convert %arg1 : (tensor<64x32xf32>) -> tensor<64x32xf8E5M2>
    %3 = stablehlo.convert %2 : (tensor<64x32xf8E5M2>) -> tensor<64x32xbf16>
    %4 = stablehlo.dot_general %1, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
    %5 = stablehlo.convert %4 : (tensor<32x32xbf16>) -> tensor<32x32xf32>
    return %5 : tensor<32x32xf32>
  }
}
