module @jit_complex_arithmetic attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, %arg1: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"batch"}]>}) -> (tensor<16x16xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, tensor<16x16xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, tensor<16x16xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, tensor<16x16xf32> {jax.result_info = "result[3]"}, tensor<16x16xcomplex<f32>> {jax.result_info = "result[4]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<16x16xcomplex<f32>>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xcomplex<f32>>
    %2 = stablehlo.dot_general %1, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xcomplex<f32>>, tensor<16x16xcomplex<f32>>) -> tensor<16x16xcomplex<f32>>
    %3 = stablehlo.real %2 : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xf32>
    %4 = stablehlo.imag %2 : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xf32>
    %5 = stablehlo.negate %4 : tensor<16x16xf32>
    %6 = stablehlo.complex %3, %5 : tensor<16x16xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x16xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<complex<f32>>) -> tensor<16x16xcomplex<f32>>
    %9 = stablehlo.multiply %0, %8 : tensor<16x16xcomplex<f32>>
    %10 = stablehlo.convert %arg0 : (tensor<16x16xf32>) -> tensor<16x16xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<16x16xcomplex<f32>>
    %12 = stablehlo.multiply %11, %10 : tensor<16x16xcomplex<f32>>
    %13 = stablehlo.exponential %12 : tensor<16x16xcomplex<f32>>
    %cst_1 = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<complex<f32>>) -> tensor<16x16xcomplex<f32>>
    %15 = stablehlo.add %0, %14 : tensor<16x16xcomplex<f32>>
    %16 = stablehlo.divide %13, %15 : tensor<16x16xcomplex<f32>>
    %17 = stablehlo.add %9, %16 : tensor<16x16xcomplex<f32>>
    %18 = stablehlo.abs %17 : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xf32>
    %19 = call @angle(%0) : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xf32>
    %20 = stablehlo.transpose %0, dims = [1, 0] : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xcomplex<f32>>
    %21 = stablehlo.dot_general %0, %20, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xcomplex<f32>>, tensor<16x16xcomplex<f32>>) -> tensor<16x16xcomplex<f32>>
    %22 = stablehlo.real %21 : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xf32>
    %23 = stablehlo.sqrt %0 : tensor<16x16xcomplex<f32>>
    %24 = stablehlo.imag %23 : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xf32>
    %25 = call @cumsum(%0) : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xcomplex<f32>>
    return %18, %19, %22, %24, %25 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xcomplex<f32>>
  }
  func.func private @angle(%arg0: tensor<16x16xcomplex<f32>>) -> tensor<16x16xf32> {
    %0 = stablehlo.real %arg0 : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xf32>
    %1 = stablehlo.imag %arg0 : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xf32>
    %2 = stablehlo.atan2 %1, %0 : tensor<16x16xf32>
    return %2 : tensor<16x16xf32>
  }
  func.func private @cumsum(%arg0: tensor<16x16xcomplex<f32>>) -> tensor<16x16xcomplex<f32>> {
    %0 = call @cumsum_0(%arg0) : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xcomplex<f32>>
    return %0 : tensor<16x16xcomplex<f32>>
  }
  func.func private @cumsum_0(%arg0: tensor<16x16xcomplex<f32>>) -> tensor<16x16xcomplex<f32>> {
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<complex<f32>>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [15, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 16>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<complex<f32>>, %arg2: tensor<complex<f32>>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<complex<f32>>
      stablehlo.return %2 : tensor<complex<f32>>
    }) : (tensor<16x16xcomplex<f32>>, tensor<complex<f32>>) -> tensor<16x16xcomplex<f32>>
    return %1 : tensor<16x16xcomplex<f32>>
  }
}
