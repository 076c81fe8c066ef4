module @jit_loss_scaled_train attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "batch", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg1: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, %arg2: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, %arg3: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<64x32xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.convert %arg1 : (tensor<32x64xf32>) -> tensor<32x64xf16>
    %1 = stablehlo.convert %arg0 : (tensor<64x32xf32>) -> tensor<64x32xf16>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf16>, tensor<64x32xf16>) -> tensor<32x32xf16>
    %3 = stablehlo.convert %2 : (tensor<32x32xf16>) -> tensor<32x32xf32>
    %4 = stablehlo.subtract %3, %arg2 : tensor<32x32xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<32x32xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %7 = stablehlo.multiply %6, %4 : tensor<32x32xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %9 = stablehlo.divide %8, %cst_1 : tensor<f32>
    %10 = stablehlo.multiply %9, %arg3 : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.multiply %cst_2, %arg3 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %12 = stablehlo.divide %11, %cst_3 : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %14 = stablehlo.multiply %13, %7 : tensor<32x32xf32>
    %15 = stablehlo.convert %14 : (tensor<32x32xf32>) -> tensor<32x32xf16>
    %16 = stablehlo.dot_general %15, %0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x32xf16>, tensor<32x64xf16>) -> tensor<32x64xf16>
    %17 = stablehlo.transpose %16, dims = [1, 0] : (tensor<32x64xf16>) -> tensor<64x32xf16>
    %18 = stablehlo.convert %17 : (tensor<64x32xf16>) -> tensor<64x32xf32>
    %19 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %20 = stablehlo.divide %18, %19 : tensor<64x32xf32>
    %21 = stablehlo.is_finite %20 : (tensor<64x32xf32>) -> tensor<64x32xi1>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %22 = stablehlo.reduce(%21 init: %c) applies stablehlo.and across dimensions = [0, 1] : (tensor<64x32xi1>, tensor<i1>) -> tensor<i1>
    %23 = stablehlo.convert %22 : (tensor<i1>) -> tensor<i32>
    %24 = "stablehlo.case"(%23) ({
      stablehlo.return %arg0 : tensor<64x32xf32>
    }, {
      %cst_6 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %28 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
      %29 = stablehlo.multiply %28, %20 : tensor<64x32xf32>
      %30 = stablehlo.subtract %arg0, %29 : tensor<64x32xf32>
      stablehlo.return %30 : tensor<64x32xf32>
    }) : (tensor<i32>) -> tensor<64x32xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %25 = stablehlo.multiply %arg3, %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %26 = stablehlo.divide %arg3, %cst_5 : tensor<f32>
    %27 = call @_where(%22, %25, %26) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    return %24, %27 : tensor<64x32xf32>, tensor<f32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f32>
    return %0 : tensor<f32>
  }
}
