module @jit_mlp_momentum_clip_dp attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg2: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg3: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg4: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg5: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg6: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg7: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg8: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg9: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<32xf32> {jax.result_info = "result[0]['b1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<16xf32> {jax.result_info = "result[0]['b2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<16x32xf32> {jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<32x16xf32> {jax.result_info = "result[0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<32xf32> {jax.result_info = "result[1]['b1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<16xf32> {jax.result_info = "result[1]['b2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<16x32xf32> {jax.result_info = "result[1]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<32x16xf32> {jax.result_info = "result[1]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<f32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<f32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.dot_general %arg8, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<16x32xf32>
    %3 = stablehlo.add %0, %2 : tensor<16x32xf32>
    %4:3 = call @silu(%3) : (tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>)
    %5 = stablehlo.dot_general %4#0, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %6 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<16x16xf32>
    %8 = stablehlo.add %5, %7 : tensor<16x16xf32>
    %9 = stablehlo.subtract %8, %arg9 : tensor<16x16xf32>
    %10 = stablehlo.multiply %9, %9 : tensor<16x16xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %12 = stablehlo.multiply %11, %9 : tensor<16x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %15 = stablehlo.divide %14, %cst_2 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %16 = stablehlo.divide %cst_3, %cst_4 : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0] : (tensor<16xf32>) -> tensor<16x16xf32>
    %19 = stablehlo.multiply %18, %12 : tensor<16x16xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
    %21 = stablehlo.reshape %20 : (tensor<16xf32>) -> tensor<1x16xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %23 = stablehlo.dot_general %19, %4#0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %24 = stablehlo.transpose %23, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %25 = stablehlo.dot_general %19, %arg3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x16xf32>, tensor<32x16xf32>) -> tensor<16x32xf32>
    %26 = call @silu_0(%4#1, %4#2, %3, %25) : (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %28 = stablehlo.reshape %27 : (tensor<32xf32>) -> tensor<1x32xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %30 = stablehlo.dot_general %26, %arg8, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %31 = stablehlo.transpose %30, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %32 = stablehlo.multiply %29, %29 : tensor<32xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.add %cst_10, %33 : tensor<f32>
    %35 = stablehlo.multiply %22, %22 : tensor<16xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    %37 = stablehlo.add %34, %36 : tensor<f32>
    %38 = stablehlo.multiply %31, %31 : tensor<16x32xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%38 init: %cst_12) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<f32>
    %40 = stablehlo.add %37, %39 : tensor<f32>
    %41 = stablehlo.multiply %24, %24 : tensor<32x16xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_13) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
    %43 = stablehlo.add %40, %42 : tensor<f32>
    %44 = stablehlo.sqrt %43 : tensor<f32>
    %cst_14 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %45 = stablehlo.add %44, %cst_14 : tensor<f32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %46 = stablehlo.divide %cst_15, %45 : tensor<f32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %47 = stablehlo.minimum %cst_16, %46 : tensor<f32>
    %cst_17 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %49 = stablehlo.multiply %48, %arg4 : tensor<32xf32>
    %50 = stablehlo.broadcast_in_dim %47, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %51 = stablehlo.multiply %29, %50 : tensor<32xf32>
    %52 = stablehlo.add %49, %51 : tensor<32xf32>
    %cst_18 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %54 = stablehlo.multiply %53, %arg5 : tensor<16xf32>
    %55 = stablehlo.broadcast_in_dim %47, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %56 = stablehlo.multiply %22, %55 : tensor<16xf32>
    %57 = stablehlo.add %54, %56 : tensor<16xf32>
    %cst_19 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %59 = stablehlo.multiply %58, %arg6 : tensor<16x32xf32>
    %60 = stablehlo.broadcast_in_dim %47, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %61 = stablehlo.multiply %31, %60 : tensor<16x32xf32>
    %62 = stablehlo.add %59, %61 : tensor<16x32xf32>
    %cst_20 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %64 = stablehlo.multiply %63, %arg7 : tensor<32x16xf32>
    %65 = stablehlo.broadcast_in_dim %47, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %66 = stablehlo.multiply %24, %65 : tensor<32x16xf32>
    %67 = stablehlo.add %64, %66 : tensor<32x16xf32>
    %cst_21 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %69 = stablehlo.multiply %68, %52 : tensor<32xf32>
    %70 = stablehlo.subtract %arg0, %69 : tensor<32xf32>
    %cst_22 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %72 = stablehlo.multiply %71, %57 : tensor<16xf32>
    %73 = stablehlo.subtract %arg1, %72 : tensor<16xf32>
    %cst_23 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %75 = stablehlo.multiply %74, %62 : tensor<16x32xf32>
    %76 = stablehlo.subtract %arg2, %75 : tensor<16x32xf32>
    %cst_24 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %78 = stablehlo.multiply %77, %67 : tensor<32x16xf32>
    %79 = stablehlo.subtract %arg3, %78 : tensor<32x16xf32>
    return %70, %73, %76, %79, %52, %57, %62, %67, %15, %44 : tensor<32xf32>, tensor<16xf32>, tensor<16x32xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<16xf32>, tensor<16x32xf32>, tensor<32x16xf32>, tensor<f32>, tensor<f32>
  }
  func.func private @silu(%arg0: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<16x32xf32>
    %1 = stablehlo.exponential %0 : tensor<16x32xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %3 = stablehlo.add %2, %1 : tensor<16x32xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %5 = stablehlo.divide %4, %3 : tensor<16x32xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %7 = stablehlo.subtract %6, %5 : tensor<16x32xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<16x32xf32>
    %9 = stablehlo.multiply %arg0, %5 : tensor<16x32xf32>
    return %9, %8, %5 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
  }
  func.func private @silu_0(%arg0: tensor<16x32xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<16x32xf32>, %arg3: tensor<16x32xf32>) -> tensor<16x32xf32> {
    %0 = stablehlo.multiply %arg2, %arg3 : tensor<16x32xf32>
    %1 = stablehlo.multiply %arg3, %arg1 : tensor<16x32xf32>
    %2 = stablehlo.multiply %0, %arg0 : tensor<16x32xf32>
    %3 = stablehlo.add %1, %2 : tensor<16x32xf32>
    return %3 : tensor<16x32xf32>
  }
}
