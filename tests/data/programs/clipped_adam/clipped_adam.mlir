module @jit_clipped_adam attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>, tf.aliasing_output = 0 : i32}, %arg1: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>, tf.aliasing_output = 1 : i32}, %arg2: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>, tf.aliasing_output = 2 : i32}, %arg3: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>, tf.aliasing_output = 3 : i32}, %arg4: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, %arg5: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) -> (tensor<32x64xf32> {jax.result_info = "result[0]['a']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64x32xf32> {jax.result_info = "result[0]['b']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, tensor<32x64xf32> {jax.result_info = "result[1]['a']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<64x32xf32> {jax.result_info = "result[1]['b']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, tensor<f32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.dot_general %arg4, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.tanh %0 : tensor<64x64xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %3 = stablehlo.subtract %2, %1 : tensor<64x64xf32>
    %4 = stablehlo.dot_general %1, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %5 = stablehlo.subtract %4, %arg5 : tensor<64x32xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<64x32xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<64x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<2.048000e+03> : tensor<f32>
    %10 = stablehlo.divide %9, %cst_2 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<2.048000e+03> : tensor<f32>
    %11 = stablehlo.divide %cst_3, %cst_4 : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %13 = stablehlo.multiply %12, %8 : tensor<64x32xf32>
    %14 = stablehlo.dot_general %13, %1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x32xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %15 = stablehlo.transpose %14, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %16 = stablehlo.dot_general %13, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
    %17 = stablehlo.multiply %16, %3 : tensor<64x64xf32>
    %18 = stablehlo.multiply %17, %1 : tensor<64x64xf32>
    %19 = stablehlo.add %17, %18 : tensor<64x64xf32>
    %20 = stablehlo.dot_general %19, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %21 = stablehlo.transpose %20, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %22 = stablehlo.multiply %21, %21 : tensor<32x64xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.add %cst_6, %23 : tensor<f32>
    %25 = stablehlo.multiply %15, %15 : tensor<64x32xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x32xf32>, tensor<f32>) -> tensor<f32>
    %27 = stablehlo.add %24, %26 : tensor<f32>
    %28 = stablehlo.sqrt %27 : tensor<f32>
    %cst_8 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %29 = stablehlo.compare GT, %28, %cst_8, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %30 = stablehlo.convert %29 : (tensor<i1>) -> tensor<i32>
    %31:2 = "stablehlo.case"(%30) ({
      stablehlo.return %21, %15 : tensor<32x64xf32>, tensor<64x32xf32>
    }, {
      %cst_17 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %58 = stablehlo.divide %cst_17, %28 : tensor<f32>
      %59 = stablehlo.broadcast_in_dim %58, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
      %60 = stablehlo.multiply %21, %59 : tensor<32x64xf32>
      %cst_18 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %61 = stablehlo.divide %cst_18, %28 : tensor<f32>
      %62 = stablehlo.broadcast_in_dim %61, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
      %63 = stablehlo.multiply %15, %62 : tensor<64x32xf32>
      stablehlo.return %60, %63 : tensor<32x64xf32>, tensor<64x32xf32>
    }) : (tensor<i32>) -> (tensor<32x64xf32>, tensor<64x32xf32>)
    %cst_9 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %33 = stablehlo.multiply %32, %arg2 : tensor<32x64xf32>
    %cst_10 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %35 = stablehlo.multiply %34, %31#0 : tensor<32x64xf32>
    %36 = stablehlo.multiply %35, %31#0 : tensor<32x64xf32>
    %37 = stablehlo.add %33, %36 : tensor<32x64xf32>
    %cst_11 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %39 = stablehlo.multiply %38, %arg3 : tensor<64x32xf32>
    %cst_12 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %41 = stablehlo.multiply %40, %31#1 : tensor<64x32xf32>
    %42 = stablehlo.multiply %41, %31#1 : tensor<64x32xf32>
    %43 = stablehlo.add %39, %42 : tensor<64x32xf32>
    %cst_13 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %45 = stablehlo.multiply %44, %31#0 : tensor<32x64xf32>
    %46 = stablehlo.sqrt %37 : tensor<32x64xf32>
    %cst_14 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %48 = stablehlo.add %46, %47 : tensor<32x64xf32>
    %49 = stablehlo.divide %45, %48 : tensor<32x64xf32>
    %50 = stablehlo.subtract %arg0, %49 : tensor<32x64xf32>
    %cst_15 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %52 = stablehlo.multiply %51, %31#1 : tensor<64x32xf32>
    %53 = stablehlo.sqrt %43 : tensor<64x32xf32>
    %cst_16 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %55 = stablehlo.add %53, %54 : tensor<64x32xf32>
    %56 = stablehlo.divide %52, %55 : tensor<64x32xf32>
    %57 = stablehlo.subtract %arg1, %56 : tensor<64x32xf32>
    return %50, %57, %37, %43, %10 : tensor<32x64xf32>, tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x32xf32>, tensor<f32>
  }
}
