module @jit_mlp_bf16_fwd attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg1: tensor<16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg2: tensor<16x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg3: tensor<32x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg4: tensor<16x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<16x16xbf16> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %0 = stablehlo.dot_general %arg4, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<32xbf16>) -> tensor<1x32xbf16>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x32xbf16>) -> tensor<16x32xbf16>
    %3 = stablehlo.add %0, %2 : tensor<16x32xbf16>
    %4 = call @relu(%3) : (tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
    %6 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<16xbf16>) -> tensor<1x16xbf16>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x16xbf16>) -> tensor<16x16xbf16>
    %8 = stablehlo.add %5, %7 : tensor<16x16xbf16>
    return %8 : tensor<16x16xbf16>
  }
  func.func private @relu(%arg0: tensor<16x32xbf16>) -> tensor<16x32xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<16x32xbf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<16x32xbf16>
    return %1 : tensor<16x32xbf16>
  }
}
