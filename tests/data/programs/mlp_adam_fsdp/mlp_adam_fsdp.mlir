module @jit_mlp_adam_fsdp attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg2: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg3: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg4: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg5: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg6: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg7: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg8: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg9: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg10: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg11: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg12: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg13: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg14: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<32xf32> {jax.result_info = "result[0][0]['b1']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<16xf32> {jax.result_info = "result[0][0]['b2']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<16x32xf32> {jax.result_info = "result[0][0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<32x16xf32> {jax.result_info = "result[0][0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<32xf32> {jax.result_info = "result[0][1]['b1']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<16xf32> {jax.result_info = "result[0][1]['b2']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<16x32xf32> {jax.result_info = "result[0][1]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<32x16xf32> {jax.result_info = "result[0][1]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<32xf32> {jax.result_info = "result[0][2]['b1']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<16xf32> {jax.result_info = "result[0][2]['b2']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<16x32xf32> {jax.result_info = "result[0][2]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<32x16xf32> {jax.result_info = "result[0][2]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.dot_general %arg13, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<16x32xf32>
    %3 = stablehlo.add %0, %2 : tensor<16x32xf32>
    %4 = call @relu(%3) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %6 = stablehlo.compare GT, %3, %5, FLOAT : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %8 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %9 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<16x16xf32>
    %11 = stablehlo.add %8, %10 : tensor<16x16xf32>
    %12 = stablehlo.subtract %11, %arg14 : tensor<16x16xf32>
    %13 = stablehlo.multiply %12, %12 : tensor<16x16xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %15 = stablehlo.multiply %14, %12 : tensor<16x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%13 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %18 = stablehlo.divide %17, %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %19 = stablehlo.divide %cst_5, %cst_6 : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0] : (tensor<16xf32>) -> tensor<16x16xf32>
    %22 = stablehlo.multiply %21, %15 : tensor<16x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
    %24 = stablehlo.reshape %23 : (tensor<16xf32>) -> tensor<1x16xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %26 = stablehlo.dot_general %22, %4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %27 = stablehlo.transpose %26, dims = [1, 0] : (tensor<16x32xf32>) -> tensor<32x16xf32>
    %28 = stablehlo.dot_general %22, %arg3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x16xf32>, tensor<32x16xf32>) -> tensor<16x32xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %30 = stablehlo.select %6, %28, %29 : tensor<16x32xi1>, tensor<16x32xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%30 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %32 = stablehlo.reshape %31 : (tensor<32xf32>) -> tensor<1x32xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %34 = stablehlo.dot_general %30, %arg13, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %35 = stablehlo.transpose %34, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %cst_12 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %37 = stablehlo.multiply %36, %arg4 : tensor<32xf32>
    %cst_13 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %39 = stablehlo.multiply %38, %33 : tensor<32xf32>
    %40 = stablehlo.add %37, %39 : tensor<32xf32>
    %cst_14 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %42 = stablehlo.multiply %41, %arg5 : tensor<16xf32>
    %cst_15 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %44 = stablehlo.multiply %43, %25 : tensor<16xf32>
    %45 = stablehlo.add %42, %44 : tensor<16xf32>
    %cst_16 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %47 = stablehlo.multiply %46, %arg6 : tensor<16x32xf32>
    %cst_17 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %49 = stablehlo.multiply %48, %35 : tensor<16x32xf32>
    %50 = stablehlo.add %47, %49 : tensor<16x32xf32>
    %cst_18 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %52 = stablehlo.multiply %51, %arg7 : tensor<32x16xf32>
    %cst_19 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %54 = stablehlo.multiply %53, %27 : tensor<32x16xf32>
    %55 = stablehlo.add %52, %54 : tensor<32x16xf32>
    %cst_20 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %57 = stablehlo.multiply %56, %arg8 : tensor<32xf32>
    %cst_21 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %59 = stablehlo.multiply %58, %33 : tensor<32xf32>
    %60 = stablehlo.multiply %59, %33 : tensor<32xf32>
    %61 = stablehlo.add %57, %60 : tensor<32xf32>
    %cst_22 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %63 = stablehlo.multiply %62, %arg9 : tensor<16xf32>
    %cst_23 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %65 = stablehlo.multiply %64, %25 : tensor<16xf32>
    %66 = stablehlo.multiply %65, %25 : tensor<16xf32>
    %67 = stablehlo.add %63, %66 : tensor<16xf32>
    %cst_24 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %69 = stablehlo.multiply %68, %arg10 : tensor<16x32xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %71 = stablehlo.multiply %70, %35 : tensor<16x32xf32>
    %72 = stablehlo.multiply %71, %35 : tensor<16x32xf32>
    %73 = stablehlo.add %69, %72 : tensor<16x32xf32>
    %cst_26 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %75 = stablehlo.multiply %74, %arg11 : tensor<32x16xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %77 = stablehlo.multiply %76, %27 : tensor<32x16xf32>
    %78 = stablehlo.multiply %77, %27 : tensor<32x16xf32>
    %79 = stablehlo.add %75, %78 : tensor<32x16xf32>
    %cst_28 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %80 = stablehlo.power %cst_28, %arg12 : tensor<f32>
    %cst_29 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %81 = stablehlo.subtract %cst_29, %80 : tensor<f32>
    %cst_30 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %82 = stablehlo.divide %cst_30, %81 : tensor<f32>
    %cst_31 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %83 = stablehlo.power %cst_31, %arg12 : tensor<f32>
    %cst_32 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %84 = stablehlo.subtract %cst_32, %83 : tensor<f32>
    %cst_33 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %85 = stablehlo.divide %cst_33, %84 : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %82, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %87 = stablehlo.multiply %40, %86 : tensor<32xf32>
    %cst_34 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %89 = stablehlo.multiply %88, %87 : tensor<32xf32>
    %90 = stablehlo.broadcast_in_dim %85, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %91 = stablehlo.multiply %61, %90 : tensor<32xf32>
    %92 = stablehlo.sqrt %91 : tensor<32xf32>
    %cst_35 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %94 = stablehlo.add %92, %93 : tensor<32xf32>
    %95 = stablehlo.divide %89, %94 : tensor<32xf32>
    %96 = stablehlo.subtract %arg0, %95 : tensor<32xf32>
    %97 = stablehlo.broadcast_in_dim %82, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %98 = stablehlo.multiply %45, %97 : tensor<16xf32>
    %cst_36 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %100 = stablehlo.multiply %99, %98 : tensor<16xf32>
    %101 = stablehlo.broadcast_in_dim %85, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %102 = stablehlo.multiply %67, %101 : tensor<16xf32>
    %103 = stablehlo.sqrt %102 : tensor<16xf32>
    %cst_37 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %104 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %105 = stablehlo.add %103, %104 : tensor<16xf32>
    %106 = stablehlo.divide %100, %105 : tensor<16xf32>
    %107 = stablehlo.subtract %arg1, %106 : tensor<16xf32>
    %108 = stablehlo.broadcast_in_dim %82, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %109 = stablehlo.multiply %50, %108 : tensor<16x32xf32>
    %cst_38 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %110 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %111 = stablehlo.multiply %110, %109 : tensor<16x32xf32>
    %112 = stablehlo.broadcast_in_dim %85, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %113 = stablehlo.multiply %73, %112 : tensor<16x32xf32>
    %114 = stablehlo.sqrt %113 : tensor<16x32xf32>
    %cst_39 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %116 = stablehlo.add %114, %115 : tensor<16x32xf32>
    %117 = stablehlo.divide %111, %116 : tensor<16x32xf32>
    %118 = stablehlo.subtract %arg2, %117 : tensor<16x32xf32>
    %119 = stablehlo.broadcast_in_dim %82, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %120 = stablehlo.multiply %55, %119 : tensor<32x16xf32>
    %cst_40 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %122 = stablehlo.multiply %121, %120 : tensor<32x16xf32>
    %123 = stablehlo.broadcast_in_dim %85, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %124 = stablehlo.multiply %79, %123 : tensor<32x16xf32>
    %125 = stablehlo.sqrt %124 : tensor<32x16xf32>
    %cst_41 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %127 = stablehlo.add %125, %126 : tensor<32x16xf32>
    %128 = stablehlo.divide %122, %127 : tensor<32x16xf32>
    %129 = stablehlo.subtract %arg3, %128 : tensor<32x16xf32>
    return %96, %107, %118, %129, %40, %45, %50, %55, %61, %67, %73, %79, %18 : tensor<32xf32>, tensor<16xf32>, tensor<16x32xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<16xf32>, tensor<16x32xf32>, tensor<32x16xf32>, tensor<32xf32>, tensor<16xf32>, tensor<16x32xf32>, tensor<32x16xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<16x32xf32>
    return %1 : tensor<16x32xf32>
  }
}
