module @jit_tblock_sp_train attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg1: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg2: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg3: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg4: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg5: tensor<32x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg6: tensor<4x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg7: tensor<32x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg8: tensor<32x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg9: tensor<8x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}, {}]>}, %arg10: tensor<8x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}, {}]>}) -> (tensor<32x32xf32> {jax.result_info = "result[0]['down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, tensor<32x32xf32> {jax.result_info = "result[0]['gate']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<32xf32> {jax.result_info = "result[0]['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<32xf32> {jax.result_info = "result[0]['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<32x32xf32> {jax.result_info = "result[0]['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<32x4x8xf32> {jax.result_info = "result[0]['wk']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, tensor<4x8x32xf32> {jax.result_info = "result[0]['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, tensor<32x4x8xf32> {jax.result_info = "result[0]['wq']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, tensor<32x4x8xf32> {jax.result_info = "result[0]['wv']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
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
    %13 = sdy.sharding_constraint %12 <@mesh, [{"batch"}, {}, {}]> : tensor<8x8x32xf32>
    %14 = stablehlo.dot_general %13, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x4x8xf32>) -> tensor<8x8x4x8xf32>
    %15 = stablehlo.dot_general %13, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x4x8xf32>) -> tensor<8x8x4x8xf32>
    %16 = stablehlo.dot_general %13, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x4x8xf32>) -> tensor<8x8x4x8xf32>
    %17 = stablehlo.iota dim = 0 : tensor<8xi32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %19 = stablehlo.iota dim = 0 : tensor<4xi32>
    %20 = stablehlo.negate %19 : tensor<4xi32>
    %21 = stablehlo.convert %20 : (tensor<4xi32>) -> tensor<4xf32>
    %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %23 = stablehlo.divide %21, %22 : tensor<4xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %25 = stablehlo.power %24, %23 : tensor<4xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %27 = stablehlo.convert %18 : (tensor<8x1xi32>) -> tensor<8x1xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %29 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %30 = stablehlo.multiply %28, %29 : tensor<8x4xf32>
    %31 = stablehlo.cosine %30 : tensor<8x4xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %33 = stablehlo.sine %30 : tensor<8x4xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %35 = stablehlo.slice %14 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %36 = stablehlo.slice %14 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %37 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %38 = stablehlo.multiply %35, %37 : tensor<8x8x4x4xf32>
    %39 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %40 = stablehlo.multiply %36, %39 : tensor<8x8x4x4xf32>
    %41 = stablehlo.subtract %38, %40 : tensor<8x8x4x4xf32>
    %42 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %43 = stablehlo.multiply %36, %42 : tensor<8x8x4x4xf32>
    %44 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %45 = stablehlo.multiply %35, %44 : tensor<8x8x4x4xf32>
    %46 = stablehlo.add %43, %45 : tensor<8x8x4x4xf32>
    %47 = stablehlo.concatenate %41, %46, dim = 3 : (tensor<8x8x4x4xf32>, tensor<8x8x4x4xf32>) -> tensor<8x8x4x8xf32>
    %48 = stablehlo.iota dim = 0 : tensor<8xi32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %50 = stablehlo.iota dim = 0 : tensor<4xi32>
    %51 = stablehlo.negate %50 : tensor<4xi32>
    %52 = stablehlo.convert %51 : (tensor<4xi32>) -> tensor<4xf32>
    %cst_4 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %54 = stablehlo.divide %52, %53 : tensor<4xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %56 = stablehlo.power %55, %54 : tensor<4xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %58 = stablehlo.convert %49 : (tensor<8x1xi32>) -> tensor<8x1xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %60 = stablehlo.broadcast_in_dim %57, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %61 = stablehlo.multiply %59, %60 : tensor<8x4xf32>
    %62 = stablehlo.cosine %61 : tensor<8x4xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %64 = stablehlo.sine %61 : tensor<8x4xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %66 = stablehlo.slice %15 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %67 = stablehlo.slice %15 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %68 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %69 = stablehlo.multiply %66, %68 : tensor<8x8x4x4xf32>
    %70 = stablehlo.broadcast_in_dim %65, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %71 = stablehlo.multiply %67, %70 : tensor<8x8x4x4xf32>
    %72 = stablehlo.subtract %69, %71 : tensor<8x8x4x4xf32>
    %73 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %74 = stablehlo.multiply %67, %73 : tensor<8x8x4x4xf32>
    %75 = stablehlo.broadcast_in_dim %65, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %76 = stablehlo.multiply %66, %75 : tensor<8x8x4x4xf32>
    %77 = stablehlo.add %74, %76 : tensor<8x8x4x4xf32>
    %78 = stablehlo.concatenate %72, %77, dim = 3 : (tensor<8x8x4x4xf32>, tensor<8x8x4x4xf32>) -> tensor<8x8x4x8xf32>
    %79 = stablehlo.reshape %47 : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x1x8xf32>
    %80 = stablehlo.dot_general %78, %79, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x8x4x1x8xf32>) -> tensor<8x4x8x8x1xf32>
    %81 = stablehlo.transpose %80, dims = [0, 1, 4, 3, 2] : (tensor<8x4x8x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %cst_6 = stablehlo.constant dense<0.353553385> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x8xf32>
    %83 = stablehlo.multiply %81, %82 : tensor<8x4x1x8x8xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %84 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %85 = call @tril(%84) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %86:3 = call @_where(%85, %83, %cst_7) : (tensor<8x8xi1>, tensor<8x4x1x8x8xf32>, tensor<f32>) -> (tensor<8x4x1x8x8xf32>, tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>)
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %87 = stablehlo.reduce(%86#0 init: %cst_8) applies stablehlo.maximum across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %88 = stablehlo.reshape %87 : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %89 = stablehlo.broadcast_in_dim %88, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %90 = stablehlo.compare EQ, %86#0, %89, FLOAT : (tensor<8x4x1x8x8xf32>, tensor<8x4x1x8x8xf32>) -> tensor<8x4x1x8x8xi1>
    %91 = stablehlo.convert %90 : (tensor<8x4x1x8x8xi1>) -> tensor<8x4x1x8x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %92 = stablehlo.reduce(%91 init: %cst_9) applies stablehlo.add across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %94 = stablehlo.maximum %93, %87 : tensor<8x4x1x8xf32>
    %95 = stablehlo.compare EQ, %87, %94, FLOAT : (tensor<8x4x1x8xf32>, tensor<8x4x1x8xf32>) -> tensor<8x4x1x8xi1>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %98 = stablehlo.select %95, %96, %97 : tensor<8x4x1x8xi1>, tensor<8x4x1x8xf32>
    %cst_13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %100 = stablehlo.compare EQ, %99, %94, FLOAT : (tensor<8x4x1x8xf32>, tensor<8x4x1x8xf32>) -> tensor<8x4x1x8xi1>
    %cst_14 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %103 = stablehlo.select %100, %101, %102 : tensor<8x4x1x8xi1>, tensor<8x4x1x8xf32>
    %104 = stablehlo.divide %98, %103 : tensor<8x4x1x8xf32>
    %105 = stablehlo.broadcast_in_dim %94, dims = [0, 1, 2, 3] : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %106 = stablehlo.broadcast_in_dim %105, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %107 = stablehlo.subtract %86#0, %106 : tensor<8x4x1x8x8xf32>
    %108 = stablehlo.exponential %107 : tensor<8x4x1x8x8xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %109 = stablehlo.reduce(%108 init: %cst_16) applies stablehlo.add across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2, 3] : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %111 = stablehlo.broadcast_in_dim %110, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %112 = stablehlo.divide %108, %111 : tensor<8x4x1x8x8xf32>
    %113 = stablehlo.multiply %110, %110 : tensor<8x4x1x8x1xf32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x1xf32>
    %115 = stablehlo.divide %114, %113 : tensor<8x4x1x8x1xf32>
    %116 = stablehlo.dot_general %16, %112, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x4x1x8x8xf32>) -> tensor<8x4x8x1x8xf32>
    %117 = stablehlo.transpose %116, dims = [0, 4, 1, 3, 2] : (tensor<8x4x8x1x8xf32>) -> tensor<8x8x4x1x8xf32>
    %118 = stablehlo.reshape %117 : (tensor<8x8x4x1x8xf32>) -> tensor<8x8x4x8xf32>
    %119 = stablehlo.dot_general %118, %arg6, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<4x8x32xf32>) -> tensor<8x8x32xf32>
    %120 = sdy.sharding_constraint %119 <@mesh, [{"batch"}, {"model"}, {}]> : tensor<8x8x32xf32>
    %121 = stablehlo.add %arg9, %120 : tensor<8x8x32xf32>
    %122 = stablehlo.multiply %121, %121 : tensor<8x8x32xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %123 = stablehlo.reduce(%122 init: %cst_18) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %124 = stablehlo.broadcast_in_dim %123, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x1xf32>
    %cst_19 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %126 = stablehlo.divide %124, %125 : tensor<8x8x1xf32>
    %cst_20 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %128 = stablehlo.add %126, %127 : tensor<8x8x1xf32>
    %129 = stablehlo.rsqrt %128 : tensor<8x8x1xf32>
    %130 = stablehlo.divide %129, %128 : tensor<8x8x1xf32>
    %cst_21 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %131 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %132 = stablehlo.multiply %131, %130 : tensor<8x8x1xf32>
    %133 = stablehlo.broadcast_in_dim %129, dims = [0, 1, 2] : (tensor<8x8x1xf32>) -> tensor<8x8x32xf32>
    %134 = stablehlo.multiply %121, %133 : tensor<8x8x32xf32>
    %135 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %136 = stablehlo.broadcast_in_dim %135, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x8x32xf32>
    %137 = stablehlo.multiply %134, %136 : tensor<8x8x32xf32>
    %138 = sdy.sharding_constraint %137 <@mesh, [{"batch"}, {}, {}]> : tensor<8x8x32xf32>
    %139 = stablehlo.dot_general %138, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %140:3 = call @silu(%139) : (tensor<8x8x32xf32>) -> (tensor<8x8x32xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>)
    %141 = stablehlo.dot_general %138, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %142 = stablehlo.multiply %140#0, %141 : tensor<8x8x32xf32>
    %143 = stablehlo.dot_general %142, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %144 = sdy.sharding_constraint %143 <@mesh, [{"batch"}, {"model"}, {}]> : tensor<8x8x32xf32>
    %145 = stablehlo.add %121, %144 : tensor<8x8x32xf32>
    %146 = stablehlo.subtract %145, %arg10 : tensor<8x8x32xf32>
    %147 = stablehlo.multiply %146, %146 : tensor<8x8x32xf32>
    %cst_22 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %149 = stablehlo.multiply %148, %146 : tensor<8x8x32xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %150 = stablehlo.reduce(%147 init: %cst_23) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %151 = stablehlo.reduce(%150 init: %cst_24) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_25 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %152 = stablehlo.divide %151, %cst_25 : tensor<f32>
    %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_27 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %153 = stablehlo.divide %cst_26, %cst_27 : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %153, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %155 = stablehlo.broadcast_in_dim %154, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x32xf32>
    %156 = stablehlo.multiply %155, %149 : tensor<8x8x32xf32>
    %157 = sdy.sharding_constraint %156 <@mesh, [{"batch"}, {"model"}, {}]> : tensor<8x8x32xf32>
    %158 = stablehlo.dot_general %157, %142, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<8x8x32xf32>) -> tensor<32x32xf32>
    %159 = stablehlo.transpose %158, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %160 = stablehlo.dot_general %157, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %161 = stablehlo.multiply %140#0, %160 : tensor<8x8x32xf32>
    %162 = stablehlo.multiply %160, %141 : tensor<8x8x32xf32>
    %163 = stablehlo.dot_general %161, %138, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<8x8x32xf32>) -> tensor<32x32xf32>
    %164 = stablehlo.transpose %163, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %165 = stablehlo.dot_general %161, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %166 = call @silu_0(%140#1, %140#2, %139, %162) : (tensor<8x8x32xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>) -> tensor<8x8x32xf32>
    %167 = stablehlo.dot_general %166, %138, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<8x8x32xf32>) -> tensor<32x32xf32>
    %168 = stablehlo.transpose %167, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %169 = stablehlo.dot_general %166, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %170 = stablehlo.add %165, %169 : tensor<8x8x32xf32>
    %171 = sdy.sharding_constraint %170 <@mesh, [{"batch"}, {}, {}]> : tensor<8x8x32xf32>
    %172 = stablehlo.multiply %134, %171 : tensor<8x8x32xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %173 = stablehlo.reduce(%172 init: %cst_28) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<32xf32>
    %174 = stablehlo.reshape %173 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %175 = stablehlo.broadcast_in_dim %135, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x8x32xf32>
    %176 = stablehlo.multiply %171, %175 : tensor<8x8x32xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %177 = stablehlo.reduce(%174 init: %cst_29) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %178 = stablehlo.multiply %121, %176 : tensor<8x8x32xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %179 = stablehlo.reduce(%178 init: %cst_30) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %180 = stablehlo.reshape %179 : (tensor<8x8xf32>) -> tensor<8x8x1xf32>
    %181 = stablehlo.broadcast_in_dim %129, dims = [0, 1, 2] : (tensor<8x8x1xf32>) -> tensor<8x8x32xf32>
    %182 = stablehlo.multiply %176, %181 : tensor<8x8x32xf32>
    %183 = stablehlo.add %156, %182 : tensor<8x8x32xf32>
    %184 = stablehlo.multiply %180, %132 : tensor<8x8x1xf32>
    %cst_31 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %185 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %186 = stablehlo.divide %184, %185 : tensor<8x8x1xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %187 = stablehlo.reduce(%186 init: %cst_32) applies stablehlo.add across dimensions = [2] : (tensor<8x8x1xf32>, tensor<f32>) -> tensor<8x8xf32>
    %188 = stablehlo.broadcast_in_dim %187, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x32xf32>
    %189 = stablehlo.multiply %121, %188 : tensor<8x8x32xf32>
    %190 = stablehlo.add %183, %189 : tensor<8x8x32xf32>
    %191 = stablehlo.multiply %188, %121 : tensor<8x8x32xf32>
    %192 = stablehlo.add %190, %191 : tensor<8x8x32xf32>
    %193 = sdy.sharding_constraint %192 <@mesh, [{"batch"}, {"model"}, {}]> : tensor<8x8x32xf32>
    %194 = stablehlo.dot_general %193, %118, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<8x8x4x8xf32>) -> tensor<32x4x8xf32>
    %195 = stablehlo.transpose %194, dims = [1, 2, 0] : (tensor<32x4x8xf32>) -> tensor<4x8x32xf32>
    %196 = stablehlo.dot_general %193, %arg6, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<4x8x32xf32>) -> tensor<8x8x4x8xf32>
    %197 = stablehlo.reshape %196 : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x1x8xf32>
    %198 = stablehlo.transpose %197, dims = [0, 2, 4, 3, 1] : (tensor<8x8x4x1x8xf32>) -> tensor<8x4x8x1x8xf32>
    %199 = stablehlo.dot_general %198, %16, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x8x1x8xf32>, tensor<8x8x4x8xf32>) -> tensor<8x4x1x8x8xf32>
    %200 = stablehlo.dot_general %198, %112, batching_dims = [0, 1] x [0, 1], contracting_dims = [3, 4] x [2, 3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x8x1x8xf32>, tensor<8x4x1x8x8xf32>) -> tensor<8x4x8x8xf32>
    %201 = stablehlo.transpose %200, dims = [0, 3, 1, 2] : (tensor<8x4x8x8xf32>) -> tensor<8x8x4x8xf32>
    %202 = stablehlo.broadcast_in_dim %115, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %203 = stablehlo.multiply %199, %202 : tensor<8x4x1x8x8xf32>
    %204 = stablehlo.multiply %203, %108 : tensor<8x4x1x8x8xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %205 = stablehlo.reduce(%204 init: %cst_33) applies stablehlo.add across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %206 = stablehlo.reshape %205 : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %207 = stablehlo.negate %206 : tensor<8x4x1x8x1xf32>
    %208 = stablehlo.broadcast_in_dim %110, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %209 = stablehlo.divide %199, %208 : tensor<8x4x1x8x8xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %210 = stablehlo.reduce(%207 init: %cst_34) applies stablehlo.add across dimensions = [2, 4] : (tensor<8x4x1x8x1xf32>, tensor<f32>) -> tensor<8x4x8xf32>
    %211 = stablehlo.broadcast_in_dim %210, dims = [0, 1, 3] : (tensor<8x4x8xf32>) -> tensor<8x4x1x8xf32>
    %212 = stablehlo.broadcast_in_dim %211, dims = [0, 1, 2, 3] : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x8xf32>
    %213 = stablehlo.add %209, %212 : tensor<8x4x1x8x8xf32>
    %214 = stablehlo.multiply %213, %108 : tensor<8x4x1x8x8xf32>
    %215 = call @_where_1(%86#1, %86#2, %214) : (tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>, tensor<8x4x1x8x8xf32>) -> tensor<8x4x1x8x8xf32>
    %cst_35 = stablehlo.constant dense<0.353553385> : tensor<f32>
    %216 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x8xf32>
    %217 = stablehlo.multiply %215, %216 : tensor<8x4x1x8x8xf32>
    %218 = stablehlo.transpose %217, dims = [0, 1, 4, 3, 2] : (tensor<8x4x1x8x8xf32>) -> tensor<8x4x8x8x1xf32>
    %219 = stablehlo.dot_general %218, %78, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x8x8x1xf32>, tensor<8x8x4x8xf32>) -> tensor<8x4x8x1x8xf32>
    %220 = stablehlo.transpose %219, dims = [0, 2, 1, 3, 4] : (tensor<8x4x8x1x8xf32>) -> tensor<8x8x4x1x8xf32>
    %221 = stablehlo.dot_general %218, %79, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x8x8x1xf32>, tensor<8x8x4x1x8xf32>) -> tensor<8x4x8x8xf32>
    %222 = stablehlo.transpose %221, dims = [0, 2, 1, 3] : (tensor<8x4x8x8xf32>) -> tensor<8x8x4x8xf32>
    %223 = stablehlo.reshape %220 : (tensor<8x8x4x1x8xf32>) -> tensor<8x8x4x8xf32>
    %224 = stablehlo.slice %222 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %225 = stablehlo.slice %222 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %226 = stablehlo.broadcast_in_dim %65, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %227 = stablehlo.multiply %225, %226 : tensor<8x8x4x4xf32>
    %228 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %229 = stablehlo.multiply %225, %228 : tensor<8x8x4x4xf32>
    %230 = stablehlo.negate %224 : tensor<8x8x4x4xf32>
    %231 = stablehlo.broadcast_in_dim %65, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %232 = stablehlo.multiply %230, %231 : tensor<8x8x4x4xf32>
    %233 = stablehlo.add %229, %232 : tensor<8x8x4x4xf32>
    %234 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %235 = stablehlo.multiply %224, %234 : tensor<8x8x4x4xf32>
    %236 = stablehlo.add %227, %235 : tensor<8x8x4x4xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %237 = stablehlo.pad %233, %cst_36, low = [0, 0, 0, 4], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<8x8x4x4xf32>, tensor<f32>) -> tensor<8x8x4x8xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %238 = stablehlo.pad %236, %cst_37, low = [0, 0, 0, 0], high = [0, 0, 0, 4], interior = [0, 0, 0, 0] : (tensor<8x8x4x4xf32>, tensor<f32>) -> tensor<8x8x4x8xf32>
    %239 = stablehlo.add %237, %238 : tensor<8x8x4x8xf32>
    %240 = stablehlo.slice %223 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %241 = stablehlo.slice %223 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %242 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %243 = stablehlo.multiply %241, %242 : tensor<8x8x4x4xf32>
    %244 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %245 = stablehlo.multiply %241, %244 : tensor<8x8x4x4xf32>
    %246 = stablehlo.negate %240 : tensor<8x8x4x4xf32>
    %247 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %248 = stablehlo.multiply %246, %247 : tensor<8x8x4x4xf32>
    %249 = stablehlo.add %245, %248 : tensor<8x8x4x4xf32>
    %250 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %251 = stablehlo.multiply %240, %250 : tensor<8x8x4x4xf32>
    %252 = stablehlo.add %243, %251 : tensor<8x8x4x4xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %253 = stablehlo.pad %249, %cst_38, low = [0, 0, 0, 4], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<8x8x4x4xf32>, tensor<f32>) -> tensor<8x8x4x8xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %254 = stablehlo.pad %252, %cst_39, low = [0, 0, 0, 0], high = [0, 0, 0, 4], interior = [0, 0, 0, 0] : (tensor<8x8x4x4xf32>, tensor<f32>) -> tensor<8x8x4x8xf32>
    %255 = stablehlo.add %253, %254 : tensor<8x8x4x8xf32>
    %256 = stablehlo.dot_general %201, %13, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x8x32xf32>) -> tensor<4x8x32xf32>
    %257 = stablehlo.transpose %256, dims = [2, 0, 1] : (tensor<4x8x32xf32>) -> tensor<32x4x8xf32>
    %258 = stablehlo.dot_general %201, %arg8, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<32x4x8xf32>) -> tensor<8x8x32xf32>
    %259 = stablehlo.dot_general %239, %13, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x8x32xf32>) -> tensor<4x8x32xf32>
    %260 = stablehlo.transpose %259, dims = [2, 0, 1] : (tensor<4x8x32xf32>) -> tensor<32x4x8xf32>
    %261 = stablehlo.dot_general %239, %arg5, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<32x4x8xf32>) -> tensor<8x8x32xf32>
    %262 = stablehlo.add %258, %261 : tensor<8x8x32xf32>
    %263 = stablehlo.dot_general %255, %13, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x8x32xf32>) -> tensor<4x8x32xf32>
    %264 = stablehlo.transpose %263, dims = [2, 0, 1] : (tensor<4x8x32xf32>) -> tensor<32x4x8xf32>
    %265 = stablehlo.dot_general %255, %arg7, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<32x4x8xf32>) -> tensor<8x8x32xf32>
    %266 = stablehlo.add %262, %265 : tensor<8x8x32xf32>
    %267 = sdy.sharding_constraint %266 <@mesh, [{"batch"}, {}, {}]> : tensor<8x8x32xf32>
    %268 = stablehlo.multiply %9, %267 : tensor<8x8x32xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %269 = stablehlo.reduce(%268 init: %cst_40) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<32xf32>
    %270 = stablehlo.reshape %269 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %271 = stablehlo.reduce(%270 init: %cst_41) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %cst_42 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %272 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %273 = stablehlo.multiply %272, %159 : tensor<32x32xf32>
    %274 = stablehlo.subtract %arg0, %273 : tensor<32x32xf32>
    %cst_43 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %275 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %276 = stablehlo.multiply %275, %168 : tensor<32x32xf32>
    %277 = stablehlo.subtract %arg1, %276 : tensor<32x32xf32>
    %cst_44 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %278 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %279 = stablehlo.multiply %278, %271 : tensor<32xf32>
    %280 = stablehlo.subtract %arg2, %279 : tensor<32xf32>
    %cst_45 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %281 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %282 = stablehlo.multiply %281, %177 : tensor<32xf32>
    %283 = stablehlo.subtract %arg3, %282 : tensor<32xf32>
    %cst_46 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %284 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %285 = stablehlo.multiply %284, %164 : tensor<32x32xf32>
    %286 = stablehlo.subtract %arg4, %285 : tensor<32x32xf32>
    %cst_47 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %287 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<32x4x8xf32>
    %288 = stablehlo.multiply %287, %260 : tensor<32x4x8xf32>
    %289 = stablehlo.subtract %arg5, %288 : tensor<32x4x8xf32>
    %cst_48 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %290 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<4x8x32xf32>
    %291 = stablehlo.multiply %290, %195 : tensor<4x8x32xf32>
    %292 = stablehlo.subtract %arg6, %291 : tensor<4x8x32xf32>
    %cst_49 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %293 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<32x4x8xf32>
    %294 = stablehlo.multiply %293, %264 : tensor<32x4x8xf32>
    %295 = stablehlo.subtract %arg7, %294 : tensor<32x4x8xf32>
    %cst_50 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %296 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<32x4x8xf32>
    %297 = stablehlo.multiply %296, %257 : tensor<32x4x8xf32>
    %298 = stablehlo.subtract %arg8, %297 : tensor<32x4x8xf32>
    return %274, %277, %280, %283, %286, %289, %292, %295, %298, %152 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x4x8xf32>, tensor<4x8x32xf32>, tensor<32x4x8xf32>, tensor<32x4x8xf32>, tensor<f32>
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
  func.func private @_where(%arg0: tensor<8x8xi1>, %arg1: tensor<8x4x1x8x8xf32>, %arg2: tensor<f32>) -> (tensor<8x4x1x8x8xf32>, tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3, 4] : (tensor<8x8xi1>) -> tensor<8x4x1x8x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x8xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x8xf32>
    return %3, %1, %4 : tensor<8x4x1x8x8xf32>, tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>
  }
  func.func private @silu(%arg0: tensor<8x8x32xf32>) -> (tensor<8x8x32xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>) {
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
    return %9, %8, %5 : tensor<8x8x32xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>
  }
  func.func private @silu_0(%arg0: tensor<8x8x32xf32>, %arg1: tensor<8x8x32xf32>, %arg2: tensor<8x8x32xf32>, %arg3: tensor<8x8x32xf32>) -> tensor<8x8x32xf32> {
    %0 = stablehlo.multiply %arg2, %arg3 : tensor<8x8x32xf32>
    %1 = stablehlo.multiply %arg3, %arg1 : tensor<8x8x32xf32>
    %2 = stablehlo.multiply %0, %arg0 : tensor<8x8x32xf32>
    %3 = stablehlo.add %1, %2 : tensor<8x8x32xf32>
    return %3 : tensor<8x8x32xf32>
  }
  func.func private @_where_1(%arg0: tensor<8x4x1x8x8xi1>, %arg1: tensor<8x4x1x8x8xf32>, %arg2: tensor<8x4x1x8x8xf32>) -> tensor<8x4x1x8x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x8xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>
    return %1 : tensor<8x4x1x8x8xf32>
  }
}
