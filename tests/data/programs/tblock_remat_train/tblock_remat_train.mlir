module @jit_tblock_remat_train attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg1: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg2: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg3: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg4: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg5: tensor<32x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg6: tensor<4x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg7: tensor<32x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg8: tensor<32x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg9: tensor<8x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, %arg10: tensor<8x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) -> (tensor<32x32xf32> {jax.result_info = "result[0]['down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, tensor<32x32xf32> {jax.result_info = "result[0]['gate']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<32xf32> {jax.result_info = "result[0]['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<32xf32> {jax.result_info = "result[0]['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<32x32xf32> {jax.result_info = "result[0]['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<32x4x8xf32> {jax.result_info = "result[0]['wk']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, tensor<4x8x32xf32> {jax.result_info = "result[0]['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, tensor<32x4x8xf32> {jax.result_info = "result[0]['wq']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, tensor<32x4x8xf32> {jax.result_info = "result[0]['wv']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.multiply %arg9, %arg9 : tensor<8x8x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x1xf32>
    %cst_0 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<8x8x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %6 = stablehlo.add %4, %5 : tensor<8x8x1xf32>
    %7 = stablehlo.rsqrt %6 : tensor<8x8x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<8x8x1xf32>) -> tensor<8x8x32xf32>
    %9 = stablehlo.multiply %arg9, %8 : tensor<8x8x32xf32>
    %10 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x8x32xf32>
    %12 = stablehlo.multiply %9, %11 : tensor<8x8x32xf32>
    %13 = stablehlo.dot_general %12, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x4x8xf32>) -> tensor<8x8x4x8xf32>
    %14 = stablehlo.dot_general %12, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x4x8xf32>) -> tensor<8x8x4x8xf32>
    %15 = stablehlo.dot_general %12, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x4x8xf32>) -> tensor<8x8x4x8xf32>
    %16 = stablehlo.iota dim = 0 : tensor<8xi32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %18 = stablehlo.iota dim = 0 : tensor<4xi32>
    %19 = stablehlo.negate %18 : tensor<4xi32>
    %20 = stablehlo.convert %19 : (tensor<4xi32>) -> tensor<4xf32>
    %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %22 = stablehlo.divide %20, %21 : tensor<4xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %24 = stablehlo.power %23, %22 : tensor<4xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %26 = stablehlo.convert %17 : (tensor<8x1xi32>) -> tensor<8x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %28 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %29 = stablehlo.multiply %27, %28 : tensor<8x4xf32>
    %30 = stablehlo.cosine %29 : tensor<8x4xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %32 = stablehlo.sine %29 : tensor<8x4xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %34 = stablehlo.slice %13 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %35 = stablehlo.slice %13 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %36 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %37 = stablehlo.multiply %34, %36 : tensor<8x8x4x4xf32>
    %38 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %39 = stablehlo.multiply %35, %38 : tensor<8x8x4x4xf32>
    %40 = stablehlo.subtract %37, %39 : tensor<8x8x4x4xf32>
    %41 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %42 = stablehlo.multiply %35, %41 : tensor<8x8x4x4xf32>
    %43 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %44 = stablehlo.multiply %34, %43 : tensor<8x8x4x4xf32>
    %45 = stablehlo.add %42, %44 : tensor<8x8x4x4xf32>
    %46 = stablehlo.concatenate %40, %45, dim = 3 : (tensor<8x8x4x4xf32>, tensor<8x8x4x4xf32>) -> tensor<8x8x4x8xf32>
    %47 = stablehlo.iota dim = 0 : tensor<8xi32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %49 = stablehlo.iota dim = 0 : tensor<4xi32>
    %50 = stablehlo.negate %49 : tensor<4xi32>
    %51 = stablehlo.convert %50 : (tensor<4xi32>) -> tensor<4xf32>
    %cst_4 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %53 = stablehlo.divide %51, %52 : tensor<4xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %55 = stablehlo.power %54, %53 : tensor<4xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %57 = stablehlo.convert %48 : (tensor<8x1xi32>) -> tensor<8x1xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %59 = stablehlo.broadcast_in_dim %56, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %60 = stablehlo.multiply %58, %59 : tensor<8x4xf32>
    %61 = stablehlo.cosine %60 : tensor<8x4xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %63 = stablehlo.sine %60 : tensor<8x4xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %65 = stablehlo.slice %14 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %66 = stablehlo.slice %14 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %67 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %68 = stablehlo.multiply %65, %67 : tensor<8x8x4x4xf32>
    %69 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %70 = stablehlo.multiply %66, %69 : tensor<8x8x4x4xf32>
    %71 = stablehlo.subtract %68, %70 : tensor<8x8x4x4xf32>
    %72 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %73 = stablehlo.multiply %66, %72 : tensor<8x8x4x4xf32>
    %74 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %75 = stablehlo.multiply %65, %74 : tensor<8x8x4x4xf32>
    %76 = stablehlo.add %73, %75 : tensor<8x8x4x4xf32>
    %77 = stablehlo.concatenate %71, %76, dim = 3 : (tensor<8x8x4x4xf32>, tensor<8x8x4x4xf32>) -> tensor<8x8x4x8xf32>
    %78 = stablehlo.reshape %46 : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x1x8xf32>
    %79 = stablehlo.dot_general %77, %78, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x8x4x1x8xf32>) -> tensor<8x4x8x8x1xf32>
    %80 = stablehlo.transpose %79, dims = [0, 1, 4, 3, 2] : (tensor<8x4x8x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %cst_6 = stablehlo.constant dense<0.353553385> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x8xf32>
    %82 = stablehlo.multiply %80, %81 : tensor<8x4x1x8x8xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %83 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %84 = call @tril(%83) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %85 = call @_where(%84, %82, %cst_7) : (tensor<8x8xi1>, tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8x8xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %86 = stablehlo.reduce(%85 init: %cst_8) applies stablehlo.maximum across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %88 = stablehlo.maximum %87, %86 : tensor<8x4x1x8xf32>
    %89 = stablehlo.broadcast_in_dim %88, dims = [0, 1, 2, 3] : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %90 = stablehlo.broadcast_in_dim %89, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %91 = stablehlo.subtract %85, %90 : tensor<8x4x1x8x8xf32>
    %92 = stablehlo.exponential %91 : tensor<8x4x1x8x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %93 = stablehlo.reduce(%92 init: %cst_10) applies stablehlo.add across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %94 = stablehlo.broadcast_in_dim %93, dims = [0, 1, 2, 3] : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %95 = stablehlo.broadcast_in_dim %94, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %96 = stablehlo.divide %92, %95 : tensor<8x4x1x8x8xf32>
    %97 = stablehlo.dot_general %15, %96, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x4x1x8x8xf32>) -> tensor<8x4x8x1x8xf32>
    %98 = stablehlo.transpose %97, dims = [0, 4, 1, 3, 2] : (tensor<8x4x8x1x8xf32>) -> tensor<8x8x4x1x8xf32>
    %99 = stablehlo.reshape %98 : (tensor<8x8x4x1x8xf32>) -> tensor<8x8x4x8xf32>
    %100 = stablehlo.dot_general %99, %arg6, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<4x8x32xf32>) -> tensor<8x8x32xf32>
    %101 = stablehlo.add %arg9, %100 : tensor<8x8x32xf32>
    %102 = stablehlo.multiply %101, %101 : tensor<8x8x32xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %103 = stablehlo.reduce(%102 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %104 = stablehlo.broadcast_in_dim %103, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x1xf32>
    %cst_12 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %106 = stablehlo.divide %104, %105 : tensor<8x8x1xf32>
    %cst_13 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %108 = stablehlo.add %106, %107 : tensor<8x8x1xf32>
    %109 = stablehlo.rsqrt %108 : tensor<8x8x1xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2] : (tensor<8x8x1xf32>) -> tensor<8x8x32xf32>
    %111 = stablehlo.multiply %101, %110 : tensor<8x8x32xf32>
    %112 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %113 = stablehlo.broadcast_in_dim %112, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x8x32xf32>
    %114 = stablehlo.multiply %111, %113 : tensor<8x8x32xf32>
    %115 = stablehlo.dot_general %114, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %116 = call @silu(%115) : (tensor<8x8x32xf32>) -> tensor<8x8x32xf32>
    %117 = stablehlo.dot_general %114, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %118 = stablehlo.multiply %116, %117 : tensor<8x8x32xf32>
    %119 = stablehlo.dot_general %118, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %120 = stablehlo.add %101, %119 : tensor<8x8x32xf32>
    %121 = stablehlo.subtract %120, %arg10 : tensor<8x8x32xf32>
    %122 = stablehlo.multiply %121, %121 : tensor<8x8x32xf32>
    %cst_14 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %124 = stablehlo.multiply %123, %121 : tensor<8x8x32xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %125 = stablehlo.reduce(%122 init: %cst_15) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %126 = stablehlo.reduce(%125 init: %cst_16) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_17 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %127 = stablehlo.divide %126, %cst_17 : tensor<f32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_19 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %128 = stablehlo.divide %cst_18, %cst_19 : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %128, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %130 = stablehlo.broadcast_in_dim %129, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x32xf32>
    %131 = stablehlo.multiply %130, %124 : tensor<8x8x32xf32>
    %132:11 = stablehlo.optimization_barrier %arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8, %arg9, %131 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x4x8xf32>, tensor<4x8x32xf32>, tensor<32x4x8xf32>, tensor<32x4x8xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>
    %133 = stablehlo.multiply %132#9, %132#9 : tensor<8x8x32xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %134 = stablehlo.reduce(%133 init: %cst_20) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %135 = stablehlo.broadcast_in_dim %134, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x1xf32>
    %cst_21 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %136 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %137 = stablehlo.divide %135, %136 : tensor<8x8x1xf32>
    %cst_22 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %139 = stablehlo.add %137, %138 : tensor<8x8x1xf32>
    %140 = stablehlo.rsqrt %139 : tensor<8x8x1xf32>
    %141 = stablehlo.broadcast_in_dim %140, dims = [0, 1, 2] : (tensor<8x8x1xf32>) -> tensor<8x8x32xf32>
    %142 = stablehlo.multiply %132#9, %141 : tensor<8x8x32xf32>
    %143 = stablehlo.broadcast_in_dim %132#2, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %144 = stablehlo.broadcast_in_dim %143, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x8x32xf32>
    %145 = stablehlo.multiply %142, %144 : tensor<8x8x32xf32>
    %146 = stablehlo.dot_general %145, %132#7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x4x8xf32>) -> tensor<8x8x4x8xf32>
    %147 = stablehlo.dot_general %145, %132#5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x4x8xf32>) -> tensor<8x8x4x8xf32>
    %148 = stablehlo.dot_general %145, %132#8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x4x8xf32>) -> tensor<8x8x4x8xf32>
    %149 = stablehlo.iota dim = 0 : tensor<8xi32>
    %150 = stablehlo.broadcast_in_dim %149, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %151 = stablehlo.iota dim = 0 : tensor<4xi32>
    %152 = stablehlo.negate %151 : tensor<4xi32>
    %153 = stablehlo.convert %152 : (tensor<4xi32>) -> tensor<4xf32>
    %cst_23 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %155 = stablehlo.divide %153, %154 : tensor<4xf32>
    %cst_24 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %157 = stablehlo.power %156, %155 : tensor<4xf32>
    %158 = stablehlo.broadcast_in_dim %157, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %159 = stablehlo.convert %150 : (tensor<8x1xi32>) -> tensor<8x1xf32>
    %160 = stablehlo.broadcast_in_dim %159, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %161 = stablehlo.broadcast_in_dim %158, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %162 = stablehlo.multiply %160, %161 : tensor<8x4xf32>
    %163 = stablehlo.cosine %162 : tensor<8x4xf32>
    %164 = stablehlo.broadcast_in_dim %163, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %165 = stablehlo.sine %162 : tensor<8x4xf32>
    %166 = stablehlo.broadcast_in_dim %165, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %167 = stablehlo.slice %146 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %168 = stablehlo.slice %146 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %169 = stablehlo.broadcast_in_dim %164, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %170 = stablehlo.multiply %167, %169 : tensor<8x8x4x4xf32>
    %171 = stablehlo.broadcast_in_dim %166, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %172 = stablehlo.multiply %168, %171 : tensor<8x8x4x4xf32>
    %173 = stablehlo.subtract %170, %172 : tensor<8x8x4x4xf32>
    %174 = stablehlo.broadcast_in_dim %164, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %175 = stablehlo.multiply %168, %174 : tensor<8x8x4x4xf32>
    %176 = stablehlo.broadcast_in_dim %166, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %177 = stablehlo.multiply %167, %176 : tensor<8x8x4x4xf32>
    %178 = stablehlo.add %175, %177 : tensor<8x8x4x4xf32>
    %179 = stablehlo.concatenate %173, %178, dim = 3 : (tensor<8x8x4x4xf32>, tensor<8x8x4x4xf32>) -> tensor<8x8x4x8xf32>
    %180 = stablehlo.iota dim = 0 : tensor<8xi32>
    %181 = stablehlo.broadcast_in_dim %180, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %182 = stablehlo.iota dim = 0 : tensor<4xi32>
    %183 = stablehlo.negate %182 : tensor<4xi32>
    %184 = stablehlo.convert %183 : (tensor<4xi32>) -> tensor<4xf32>
    %cst_25 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %185 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %186 = stablehlo.divide %184, %185 : tensor<4xf32>
    %cst_26 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %187 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %188 = stablehlo.power %187, %186 : tensor<4xf32>
    %189 = stablehlo.broadcast_in_dim %188, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %190 = stablehlo.convert %181 : (tensor<8x1xi32>) -> tensor<8x1xf32>
    %191 = stablehlo.broadcast_in_dim %190, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %192 = stablehlo.broadcast_in_dim %189, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %193 = stablehlo.multiply %191, %192 : tensor<8x4xf32>
    %194 = stablehlo.cosine %193 : tensor<8x4xf32>
    %195 = stablehlo.broadcast_in_dim %194, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %196 = stablehlo.sine %193 : tensor<8x4xf32>
    %197 = stablehlo.broadcast_in_dim %196, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %198 = stablehlo.slice %147 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %199 = stablehlo.slice %147 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %200 = stablehlo.broadcast_in_dim %195, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %201 = stablehlo.multiply %198, %200 : tensor<8x8x4x4xf32>
    %202 = stablehlo.broadcast_in_dim %197, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %203 = stablehlo.multiply %199, %202 : tensor<8x8x4x4xf32>
    %204 = stablehlo.subtract %201, %203 : tensor<8x8x4x4xf32>
    %205 = stablehlo.broadcast_in_dim %195, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %206 = stablehlo.multiply %199, %205 : tensor<8x8x4x4xf32>
    %207 = stablehlo.broadcast_in_dim %197, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %208 = stablehlo.multiply %198, %207 : tensor<8x8x4x4xf32>
    %209 = stablehlo.add %206, %208 : tensor<8x8x4x4xf32>
    %210 = stablehlo.concatenate %204, %209, dim = 3 : (tensor<8x8x4x4xf32>, tensor<8x8x4x4xf32>) -> tensor<8x8x4x8xf32>
    %211 = stablehlo.reshape %179 : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x1x8xf32>
    %212 = stablehlo.dot_general %210, %211, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x8x4x1x8xf32>) -> tensor<8x4x8x8x1xf32>
    %213 = stablehlo.transpose %212, dims = [0, 1, 4, 3, 2] : (tensor<8x4x8x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %cst_27 = stablehlo.constant dense<0.353553385> : tensor<f32>
    %214 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x8xf32>
    %215 = stablehlo.multiply %213, %214 : tensor<8x4x1x8x8xf32>
    %c_28 = stablehlo.constant dense<true> : tensor<i1>
    %216 = stablehlo.broadcast_in_dim %c_28, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %217 = call @tril_0(%216) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %cst_29 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %218:3 = call @_where_1(%217, %215, %cst_29) : (tensor<8x8xi1>, tensor<8x4x1x8x8xf32>, tensor<f32>) -> (tensor<8x4x1x8x8xf32>, tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>)
    %cst_30 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %219 = stablehlo.reduce(%218#0 init: %cst_30) applies stablehlo.maximum across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %cst_31 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %220 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %221 = stablehlo.maximum %220, %219 : tensor<8x4x1x8xf32>
    %222 = stablehlo.broadcast_in_dim %221, dims = [0, 1, 2, 3] : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %223 = stablehlo.broadcast_in_dim %222, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %224 = stablehlo.subtract %218#0, %223 : tensor<8x4x1x8x8xf32>
    %225 = stablehlo.exponential %224 : tensor<8x4x1x8x8xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %226 = stablehlo.reduce(%225 init: %cst_32) applies stablehlo.add across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %227 = stablehlo.broadcast_in_dim %226, dims = [0, 1, 2, 3] : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %228 = stablehlo.broadcast_in_dim %227, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %229 = stablehlo.divide %225, %228 : tensor<8x4x1x8x8xf32>
    %230 = stablehlo.multiply %227, %227 : tensor<8x4x1x8x1xf32>
    %cst_33 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %231 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x1xf32>
    %232 = stablehlo.divide %231, %230 : tensor<8x4x1x8x1xf32>
    %233 = stablehlo.dot_general %148, %229, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x4x1x8x8xf32>) -> tensor<8x4x8x1x8xf32>
    %234 = stablehlo.transpose %233, dims = [0, 4, 1, 3, 2] : (tensor<8x4x8x1x8xf32>) -> tensor<8x8x4x1x8xf32>
    %235 = stablehlo.reshape %234 : (tensor<8x8x4x1x8xf32>) -> tensor<8x8x4x8xf32>
    %236 = stablehlo.dot_general %235, %132#6, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<4x8x32xf32>) -> tensor<8x8x32xf32>
    %237 = stablehlo.add %132#9, %236 : tensor<8x8x32xf32>
    %238 = stablehlo.multiply %237, %237 : tensor<8x8x32xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %239 = stablehlo.reduce(%238 init: %cst_34) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %240 = stablehlo.broadcast_in_dim %239, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x1xf32>
    %cst_35 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %241 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %242 = stablehlo.divide %240, %241 : tensor<8x8x1xf32>
    %cst_36 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %243 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %244 = stablehlo.add %242, %243 : tensor<8x8x1xf32>
    %245 = stablehlo.rsqrt %244 : tensor<8x8x1xf32>
    %246 = stablehlo.divide %245, %244 : tensor<8x8x1xf32>
    %cst_37 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %247 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %248 = stablehlo.multiply %247, %246 : tensor<8x8x1xf32>
    %249 = stablehlo.broadcast_in_dim %245, dims = [0, 1, 2] : (tensor<8x8x1xf32>) -> tensor<8x8x32xf32>
    %250 = stablehlo.multiply %237, %249 : tensor<8x8x32xf32>
    %251 = stablehlo.broadcast_in_dim %132#3, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %252 = stablehlo.broadcast_in_dim %251, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x8x32xf32>
    %253 = stablehlo.multiply %250, %252 : tensor<8x8x32xf32>
    %254 = stablehlo.dot_general %253, %132#1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %255:3 = call @silu_2(%254) : (tensor<8x8x32xf32>) -> (tensor<8x8x32xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>)
    %256 = stablehlo.dot_general %253, %132#4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %257 = stablehlo.multiply %255#0, %256 : tensor<8x8x32xf32>
    %258 = stablehlo.dot_general %132#10, %257, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<8x8x32xf32>) -> tensor<32x32xf32>
    %259 = stablehlo.transpose %258, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %260 = stablehlo.dot_general %132#10, %132#0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %261 = stablehlo.multiply %255#0, %260 : tensor<8x8x32xf32>
    %262 = stablehlo.multiply %260, %256 : tensor<8x8x32xf32>
    %263 = stablehlo.dot_general %261, %253, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<8x8x32xf32>) -> tensor<32x32xf32>
    %264 = stablehlo.transpose %263, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %265 = stablehlo.dot_general %261, %132#4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %266 = call @silu_3(%255#1, %254, %255#2, %262) : (tensor<8x8x32xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>) -> tensor<8x8x32xf32>
    %267 = stablehlo.dot_general %266, %253, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<8x8x32xf32>) -> tensor<32x32xf32>
    %268 = stablehlo.transpose %267, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %269 = stablehlo.dot_general %266, %132#1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %270 = stablehlo.add %265, %269 : tensor<8x8x32xf32>
    %271 = stablehlo.multiply %250, %270 : tensor<8x8x32xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %272 = stablehlo.reduce(%271 init: %cst_38) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<32xf32>
    %273 = stablehlo.reshape %272 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %274 = stablehlo.broadcast_in_dim %251, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x8x32xf32>
    %275 = stablehlo.multiply %270, %274 : tensor<8x8x32xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %276 = stablehlo.reduce(%273 init: %cst_39) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %277 = stablehlo.multiply %237, %275 : tensor<8x8x32xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %278 = stablehlo.reduce(%277 init: %cst_40) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %279 = stablehlo.reshape %278 : (tensor<8x8xf32>) -> tensor<8x8x1xf32>
    %280 = stablehlo.broadcast_in_dim %245, dims = [0, 1, 2] : (tensor<8x8x1xf32>) -> tensor<8x8x32xf32>
    %281 = stablehlo.multiply %275, %280 : tensor<8x8x32xf32>
    %282 = stablehlo.add %132#10, %281 : tensor<8x8x32xf32>
    %283 = stablehlo.multiply %279, %248 : tensor<8x8x1xf32>
    %cst_41 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %284 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %285 = stablehlo.divide %283, %284 : tensor<8x8x1xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %286 = stablehlo.reduce(%285 init: %cst_42) applies stablehlo.add across dimensions = [2] : (tensor<8x8x1xf32>, tensor<f32>) -> tensor<8x8xf32>
    %287 = stablehlo.broadcast_in_dim %286, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x32xf32>
    %288 = stablehlo.multiply %237, %287 : tensor<8x8x32xf32>
    %289 = stablehlo.add %282, %288 : tensor<8x8x32xf32>
    %290 = stablehlo.multiply %287, %237 : tensor<8x8x32xf32>
    %291 = stablehlo.add %289, %290 : tensor<8x8x32xf32>
    %292 = stablehlo.dot_general %291, %235, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<8x8x4x8xf32>) -> tensor<32x4x8xf32>
    %293 = stablehlo.transpose %292, dims = [1, 2, 0] : (tensor<32x4x8xf32>) -> tensor<4x8x32xf32>
    %294 = stablehlo.dot_general %291, %132#6, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<4x8x32xf32>) -> tensor<8x8x4x8xf32>
    %295 = stablehlo.reshape %294 : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x1x8xf32>
    %296 = stablehlo.transpose %295, dims = [0, 2, 4, 3, 1] : (tensor<8x8x4x1x8xf32>) -> tensor<8x4x8x1x8xf32>
    %297 = stablehlo.dot_general %296, %148, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x8x1x8xf32>, tensor<8x8x4x8xf32>) -> tensor<8x4x1x8x8xf32>
    %298 = stablehlo.dot_general %296, %229, batching_dims = [0, 1] x [0, 1], contracting_dims = [3, 4] x [2, 3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x8x1x8xf32>, tensor<8x4x1x8x8xf32>) -> tensor<8x4x8x8xf32>
    %299 = stablehlo.transpose %298, dims = [0, 3, 1, 2] : (tensor<8x4x8x8xf32>) -> tensor<8x8x4x8xf32>
    %300 = stablehlo.broadcast_in_dim %232, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %301 = stablehlo.multiply %297, %300 : tensor<8x4x1x8x8xf32>
    %302 = stablehlo.multiply %301, %225 : tensor<8x4x1x8x8xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %303 = stablehlo.reduce(%302 init: %cst_43) applies stablehlo.add across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %304 = stablehlo.reshape %303 : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %305 = stablehlo.negate %304 : tensor<8x4x1x8x1xf32>
    %306 = stablehlo.broadcast_in_dim %227, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %307 = stablehlo.divide %297, %306 : tensor<8x4x1x8x8xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %308 = stablehlo.reduce(%305 init: %cst_44) applies stablehlo.add across dimensions = [2, 4] : (tensor<8x4x1x8x1xf32>, tensor<f32>) -> tensor<8x4x8xf32>
    %309 = stablehlo.broadcast_in_dim %308, dims = [0, 1, 3] : (tensor<8x4x8xf32>) -> tensor<8x4x1x8xf32>
    %310 = stablehlo.broadcast_in_dim %309, dims = [0, 1, 2, 3] : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x8xf32>
    %311 = stablehlo.add %307, %310 : tensor<8x4x1x8x8xf32>
    %312 = stablehlo.multiply %311, %225 : tensor<8x4x1x8x8xf32>
    %313 = call @_where_4(%218#1, %218#2, %312) : (tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>, tensor<8x4x1x8x8xf32>) -> tensor<8x4x1x8x8xf32>
    %cst_45 = stablehlo.constant dense<0.353553385> : tensor<f32>
    %314 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x8xf32>
    %315 = stablehlo.multiply %313, %314 : tensor<8x4x1x8x8xf32>
    %316 = stablehlo.transpose %315, dims = [0, 1, 4, 3, 2] : (tensor<8x4x1x8x8xf32>) -> tensor<8x4x8x8x1xf32>
    %317 = stablehlo.dot_general %316, %210, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x8x8x1xf32>, tensor<8x8x4x8xf32>) -> tensor<8x4x8x1x8xf32>
    %318 = stablehlo.transpose %317, dims = [0, 2, 1, 3, 4] : (tensor<8x4x8x1x8xf32>) -> tensor<8x8x4x1x8xf32>
    %319 = stablehlo.dot_general %316, %211, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x8x8x1xf32>, tensor<8x8x4x1x8xf32>) -> tensor<8x4x8x8xf32>
    %320 = stablehlo.transpose %319, dims = [0, 2, 1, 3] : (tensor<8x4x8x8xf32>) -> tensor<8x8x4x8xf32>
    %321 = stablehlo.reshape %318 : (tensor<8x8x4x1x8xf32>) -> tensor<8x8x4x8xf32>
    %322 = stablehlo.slice %320 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %323 = stablehlo.slice %320 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %324 = stablehlo.broadcast_in_dim %197, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %325 = stablehlo.multiply %323, %324 : tensor<8x8x4x4xf32>
    %326 = stablehlo.broadcast_in_dim %195, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %327 = stablehlo.multiply %323, %326 : tensor<8x8x4x4xf32>
    %328 = stablehlo.negate %322 : tensor<8x8x4x4xf32>
    %329 = stablehlo.broadcast_in_dim %197, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %330 = stablehlo.multiply %328, %329 : tensor<8x8x4x4xf32>
    %331 = stablehlo.add %327, %330 : tensor<8x8x4x4xf32>
    %332 = stablehlo.broadcast_in_dim %195, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %333 = stablehlo.multiply %322, %332 : tensor<8x8x4x4xf32>
    %334 = stablehlo.add %325, %333 : tensor<8x8x4x4xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %335 = stablehlo.pad %331, %cst_46, low = [0, 0, 0, 4], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<8x8x4x4xf32>, tensor<f32>) -> tensor<8x8x4x8xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %336 = stablehlo.pad %334, %cst_47, low = [0, 0, 0, 0], high = [0, 0, 0, 4], interior = [0, 0, 0, 0] : (tensor<8x8x4x4xf32>, tensor<f32>) -> tensor<8x8x4x8xf32>
    %337 = stablehlo.add %335, %336 : tensor<8x8x4x8xf32>
    %338 = stablehlo.slice %321 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %339 = stablehlo.slice %321 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %340 = stablehlo.broadcast_in_dim %166, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %341 = stablehlo.multiply %339, %340 : tensor<8x8x4x4xf32>
    %342 = stablehlo.broadcast_in_dim %164, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %343 = stablehlo.multiply %339, %342 : tensor<8x8x4x4xf32>
    %344 = stablehlo.negate %338 : tensor<8x8x4x4xf32>
    %345 = stablehlo.broadcast_in_dim %166, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %346 = stablehlo.multiply %344, %345 : tensor<8x8x4x4xf32>
    %347 = stablehlo.add %343, %346 : tensor<8x8x4x4xf32>
    %348 = stablehlo.broadcast_in_dim %164, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %349 = stablehlo.multiply %338, %348 : tensor<8x8x4x4xf32>
    %350 = stablehlo.add %341, %349 : tensor<8x8x4x4xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %351 = stablehlo.pad %347, %cst_48, low = [0, 0, 0, 4], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<8x8x4x4xf32>, tensor<f32>) -> tensor<8x8x4x8xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %352 = stablehlo.pad %350, %cst_49, low = [0, 0, 0, 0], high = [0, 0, 0, 4], interior = [0, 0, 0, 0] : (tensor<8x8x4x4xf32>, tensor<f32>) -> tensor<8x8x4x8xf32>
    %353 = stablehlo.add %351, %352 : tensor<8x8x4x8xf32>
    %354 = stablehlo.dot_general %299, %145, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x8x32xf32>) -> tensor<4x8x32xf32>
    %355 = stablehlo.transpose %354, dims = [2, 0, 1] : (tensor<4x8x32xf32>) -> tensor<32x4x8xf32>
    %356 = stablehlo.dot_general %299, %132#8, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<32x4x8xf32>) -> tensor<8x8x32xf32>
    %357 = stablehlo.dot_general %337, %145, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x8x32xf32>) -> tensor<4x8x32xf32>
    %358 = stablehlo.transpose %357, dims = [2, 0, 1] : (tensor<4x8x32xf32>) -> tensor<32x4x8xf32>
    %359 = stablehlo.dot_general %337, %132#5, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<32x4x8xf32>) -> tensor<8x8x32xf32>
    %360 = stablehlo.add %356, %359 : tensor<8x8x32xf32>
    %361 = stablehlo.dot_general %353, %145, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x8x32xf32>) -> tensor<4x8x32xf32>
    %362 = stablehlo.transpose %361, dims = [2, 0, 1] : (tensor<4x8x32xf32>) -> tensor<32x4x8xf32>
    %363 = stablehlo.dot_general %353, %132#7, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<32x4x8xf32>) -> tensor<8x8x32xf32>
    %364 = stablehlo.add %360, %363 : tensor<8x8x32xf32>
    %365 = stablehlo.multiply %142, %364 : tensor<8x8x32xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %366 = stablehlo.reduce(%365 init: %cst_50) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<32xf32>
    %367 = stablehlo.reshape %366 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %368 = stablehlo.reduce(%367 init: %cst_51) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %cst_52 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %369 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %370 = stablehlo.multiply %369, %259 : tensor<32x32xf32>
    %371 = stablehlo.subtract %arg0, %370 : tensor<32x32xf32>
    %cst_53 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %372 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %373 = stablehlo.multiply %372, %268 : tensor<32x32xf32>
    %374 = stablehlo.subtract %arg1, %373 : tensor<32x32xf32>
    %cst_54 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %375 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %376 = stablehlo.multiply %375, %368 : tensor<32xf32>
    %377 = stablehlo.subtract %arg2, %376 : tensor<32xf32>
    %cst_55 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %378 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %379 = stablehlo.multiply %378, %276 : tensor<32xf32>
    %380 = stablehlo.subtract %arg3, %379 : tensor<32xf32>
    %cst_56 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %381 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %382 = stablehlo.multiply %381, %264 : tensor<32x32xf32>
    %383 = stablehlo.subtract %arg4, %382 : tensor<32x32xf32>
    %cst_57 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %384 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<32x4x8xf32>
    %385 = stablehlo.multiply %384, %358 : tensor<32x4x8xf32>
    %386 = stablehlo.subtract %arg5, %385 : tensor<32x4x8xf32>
    %cst_58 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %387 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<4x8x32xf32>
    %388 = stablehlo.multiply %387, %293 : tensor<4x8x32xf32>
    %389 = stablehlo.subtract %arg6, %388 : tensor<4x8x32xf32>
    %cst_59 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %390 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<32x4x8xf32>
    %391 = stablehlo.multiply %390, %362 : tensor<32x4x8xf32>
    %392 = stablehlo.subtract %arg7, %391 : tensor<32x4x8xf32>
    %cst_60 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %393 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<32x4x8xf32>
    %394 = stablehlo.multiply %393, %355 : tensor<32x4x8xf32>
    %395 = stablehlo.subtract %arg8, %394 : tensor<32x4x8xf32>
    return %371, %374, %377, %380, %383, %386, %389, %392, %395, %127 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x4x8xf32>, tensor<4x8x32xf32>, tensor<32x4x8xf32>, tensor<32x4x8xf32>, tensor<f32>
  }
  func.func private @tril(%arg0: tensor<8x8xi1>) -> tensor<8x8xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %2 = stablehlo.add %0, %1 : tensor<8x8xi32>
    %3 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<8x8xi1>, tensor<8x8xi1>
    return %6 : tensor<8x8xi1>
  }
  func.func private @_where(%arg0: tensor<8x8xi1>, %arg1: tensor<8x4x1x8x8xf32>, %arg2: tensor<f32>) -> tensor<8x4x1x8x8xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3, 4] : (tensor<8x8xi1>) -> tensor<8x4x1x8x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x8xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>
    return %3 : tensor<8x4x1x8x8xf32>
  }
  func.func private @silu(%arg0: tensor<8x8x32xf32>) -> tensor<8x8x32xf32> {
    %0 = stablehlo.negate %arg0 : tensor<8x8x32xf32>
    %1 = stablehlo.exponential %0 : tensor<8x8x32xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %3 = stablehlo.add %2, %1 : tensor<8x8x32xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %5 = stablehlo.divide %4, %3 : tensor<8x8x32xf32>
    %6 = stablehlo.multiply %arg0, %5 : tensor<8x8x32xf32>
    return %6 : tensor<8x8x32xf32>
  }
  func.func private @tril_0(%arg0: tensor<8x8xi1>) -> tensor<8x8xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %2 = stablehlo.add %0, %1 : tensor<8x8xi32>
    %3 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<8x8xi1>, tensor<8x8xi1>
    return %6 : tensor<8x8xi1>
  }
  func.func private @_where_1(%arg0: tensor<8x8xi1>, %arg1: tensor<8x4x1x8x8xf32>, %arg2: tensor<f32>) -> (tensor<8x4x1x8x8xf32>, tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3, 4] : (tensor<8x8xi1>) -> tensor<8x4x1x8x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x8xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x8xf32>
    return %3, %1, %4 : tensor<8x4x1x8x8xf32>, tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>
  }
  func.func private @silu_2(%arg0: tensor<8x8x32xf32>) -> (tensor<8x8x32xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<8x8x32xf32>
    %1 = stablehlo.exponential %0 : tensor<8x8x32xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %3 = stablehlo.add %2, %1 : tensor<8x8x32xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %5 = stablehlo.divide %4, %3 : tensor<8x8x32xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %7 = stablehlo.subtract %6, %5 : tensor<8x8x32xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<8x8x32xf32>
    %9 = stablehlo.multiply %arg0, %5 : tensor<8x8x32xf32>
    return %9, %5, %8 : tensor<8x8x32xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>
  }
  func.func private @silu_3(%arg0: tensor<8x8x32xf32>, %arg1: tensor<8x8x32xf32>, %arg2: tensor<8x8x32xf32>, %arg3: tensor<8x8x32xf32>) -> tensor<8x8x32xf32> {
    %0 = stablehlo.multiply %arg1, %arg3 : tensor<8x8x32xf32>
    %1 = stablehlo.multiply %arg3, %arg0 : tensor<8x8x32xf32>
    %2 = stablehlo.multiply %0, %arg2 : tensor<8x8x32xf32>
    %3 = stablehlo.add %1, %2 : tensor<8x8x32xf32>
    return %3 : tensor<8x8x32xf32>
  }
  func.func private @_where_4(%arg0: tensor<8x4x1x8x8xi1>, %arg1: tensor<8x4x1x8x8xf32>, %arg2: tensor<8x4x1x8x8xf32>) -> tensor<8x4x1x8x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x8xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>
    return %1 : tensor<8x4x1x8x8xf32>
  }
}
