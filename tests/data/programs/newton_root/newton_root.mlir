module @jit_newton_root attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) -> (tensor<i32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<64x32xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<64x32xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %3 = stablehlo.add %2, %1 : tensor<64x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4:4 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %arg0, %iterArg_2 = %c, %iterArg_3 = %3) : tensor<64x32xf32>, tensor<64x32xf32>, tensor<i32>, tensor<64x32xf32>
    cond {
      %c_4 = stablehlo.constant dense<30> : tensor<i32>
      %5 = stablehlo.compare LT, %iterArg_2, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %6 = stablehlo.multiply %iterArg_3, %iterArg_3 : tensor<64x32xf32>
      %7 = stablehlo.subtract %6, %iterArg : tensor<64x32xf32>
      %8 = stablehlo.abs %7 : tensor<64x32xf32>
      %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %9 = stablehlo.reduce(%8 init: %cst_5) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<64x32xf32>, tensor<f32>) -> tensor<f32>
      %cst_6 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %10 = stablehlo.compare GT, %9, %cst_6, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c_7 = stablehlo.constant dense<false> : tensor<i1>
      %11 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i1>) -> tensor<i1>
      %12 = stablehlo.compare NE, %5, %11, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %13 = stablehlo.convert %12 : tensor<i1>
      %14 = stablehlo.and %13, %10 : tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %iterArg_2, %c_4 : tensor<i32>
      %6 = stablehlo.divide %iterArg_1, %iterArg_3 : tensor<64x32xf32>
      %7 = stablehlo.add %iterArg_3, %6 : tensor<64x32xf32>
      %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %8 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
      %9 = stablehlo.multiply %8, %7 : tensor<64x32xf32>
      stablehlo.return %iterArg, %iterArg_1, %5, %9 : tensor<64x32xf32>, tensor<64x32xf32>, tensor<i32>, tensor<64x32xf32>
    }
    return %4#2, %4#3 : tensor<i32>, tensor<64x32xf32>
  }
}
