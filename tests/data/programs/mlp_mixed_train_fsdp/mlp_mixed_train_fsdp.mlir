module @jit_mlp_mixed_train_fsdp attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg2: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg3: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg4: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg5: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<32xf32> {jax.result_info = "result[0]['b1']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<16xf32> {jax.result_info = "result[0]['b2']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<16x32xf32> {jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<32x16xf32> {jax.result_info = "result[0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.convert %arg0 : (tensor<32xf32>) -> tensor<32xbf16>
    %1 = stablehlo.convert %arg1 : (tensor<16xf32>) -> tensor<16xbf16>
    %2 = stablehlo.convert %arg2 : (tensor<16x32xf32>) -> tensor<16x32xbf16>
    %3 = stablehlo.convert %arg3 : (tensor<32x16xf32>) -> tensor<32x16xbf16>
    %4 = stablehlo.convert %arg4 : (tensor<16x16xf32>) -> tensor<16x16xbf16>
    %5 = stablehlo.dot_general %4, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %6 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<32xbf16>) -> tensor<1x32xbf16>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x32xbf16>) -> tensor<16x32xbf16>
    %8 = stablehlo.add %5, %7 : tensor<16x32xbf16>
    %9 = call @relu(%8) : (tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<16x32xbf16>
    %11 = stablehlo.compare GT, %8, %10, FLOAT : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<16x32xbf16>
    %13 = stablehlo.dot_general %9, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xbf16>
    %14 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<16xbf16>) -> tensor<1x16xbf16>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<1x16xbf16>) -> tensor<16x16xbf16>
    %16 = stablehlo.add %13, %15 : tensor<16x16xbf16>
    %17 = stablehlo.convert %16 : (tensor<16x16xbf16>) -> tensor<16x16xf32>
    %18 = stablehlo.subtract %17, %arg5 : tensor<16x16xf32>
    %19 = stablehlo.multiply %18, %18 : tensor<16x16xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %21 = stablehlo.multiply %20, %18 : tensor<16x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%19 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %24 = stablehlo.divide %23, %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %25 = stablehlo.divide %cst_5, %cst_6 : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<16xf32>) -> tensor<16x16xf32>
    %28 = stablehlo.multiply %27, %21 : tensor<16x16xf32>
    %29 = stablehlo.convert %28 : (tensor<16x16xf32>) -> tensor<16x16xbf16>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %30 = stablehlo.reduce(%29 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<16x16xbf16>, tensor<bf16>) -> tensor<16xbf16>
    %31 = stablehlo.reshape %30 : (tensor<16xbf16>) -> tensor<1x16xbf16>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %32 = stablehlo.reduce(%31 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<1x16xbf16>, tensor<bf16>) -> tensor<16xbf16>
    %33 = stablehlo.dot_general %29, %9, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %34 = stablehlo.transpose %33, dims = [1, 0] : (tensor<16x32xbf16>) -> tensor<32x16xbf16>
    %35 = stablehlo.dot_general %29, %3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x16xbf16>, tensor<32x16xbf16>) -> tensor<16x32xbf16>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %36 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<bf16>) -> tensor<16x32xbf16>
    %37 = stablehlo.select %11, %35, %36 : tensor<16x32xi1>, tensor<16x32xbf16>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %38 = stablehlo.reduce(%37 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<16x32xbf16>, tensor<bf16>) -> tensor<32xbf16>
    %39 = stablehlo.reshape %38 : (tensor<32xbf16>) -> tensor<1x32xbf16>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %40 = stablehlo.reduce(%39 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<1x32xbf16>, tensor<bf16>) -> tensor<32xbf16>
    %41 = stablehlo.dot_general %37, %4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xbf16>, tensor<16x16xbf16>) -> tensor<32x16xbf16>
    %42 = stablehlo.transpose %41, dims = [1, 0] : (tensor<32x16xbf16>) -> tensor<16x32xbf16>
    %43 = stablehlo.convert %34 : (tensor<32x16xbf16>) -> tensor<32x16xf32>
    %44 = stablehlo.convert %42 : (tensor<16x32xbf16>) -> tensor<16x32xf32>
    %45 = stablehlo.convert %32 : (tensor<16xbf16>) -> tensor<16xf32>
    %46 = stablehlo.convert %40 : (tensor<32xbf16>) -> tensor<32xf32>
    %cst_12 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %48 = stablehlo.multiply %47, %46 : tensor<32xf32>
    %49 = stablehlo.subtract %arg0, %48 : tensor<32xf32>
    %cst_13 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %51 = stablehlo.multiply %50, %45 : tensor<16xf32>
    %52 = stablehlo.subtract %arg1, %51 : tensor<16xf32>
    %cst_14 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %54 = stablehlo.multiply %53, %44 : tensor<16x32xf32>
    %55 = stablehlo.subtract %arg2, %54 : tensor<16x32xf32>
    %cst_15 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %57 = stablehlo.multiply %56, %43 : tensor<32x16xf32>
    %58 = stablehlo.subtract %arg3, %57 : tensor<32x16xf32>
    return %49, %52, %55, %58, %24 : tensor<32xf32>, tensor<16xf32>, tensor<16x32xf32>, tensor<32x16xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<16x32xbf16>) -> tensor<16x32xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<16x32xbf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<16x32xbf16>
    return %1 : tensor<16x32xbf16>
  }
}
