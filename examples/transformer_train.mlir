module @jit_transformer_train attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]>
  func.func public @main(%arg0: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg1: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg2: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg3: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg4: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg5: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg6: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg7: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg8: tensor<64x4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg9: tensor<4x16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg10: tensor<64x4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg11: tensor<64x4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg12: tensor<8x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, %arg13: tensor<8x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) -> (tensor<256x64xf32> {jax.result_info = "result[0][0]['down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, tensor<64xf32> {jax.result_info = "result[0][0]['down_bias']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64xf32> {jax.result_info = "result[0][0]['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64xf32> {jax.result_info = "result[0][0]['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64xf32> {jax.result_info = "result[0][0]['shift1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64xf32> {jax.result_info = "result[0][0]['shift2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64x256xf32> {jax.result_info = "result[0][0]['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<256xf32> {jax.result_info = "result[0][0]['up_bias']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, tensor<64x4x16xf32> {jax.result_info = "result[0][0]['wk']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, tensor<4x16x64xf32> {jax.result_info = "result[0][0]['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, tensor<64x4x16xf32> {jax.result_info = "result[0][0]['wq']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, tensor<64x4x16xf32> {jax.result_info = "result[0][0]['wv']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg12 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<8x32x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %5 = stablehlo.subtract %arg12, %4 : tensor<8x32x64xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<8x32x64xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_2 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<8x32x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %12 = stablehlo.add %10, %11 : tensor<8x32x1xf32>
    %13 = stablehlo.rsqrt %12 : tensor<8x32x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %15 = stablehlo.multiply %5, %14 : tensor<8x32x64xf32>
    %16 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %18 = stablehlo.multiply %15, %17 : tensor<8x32x64xf32>
    %19 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %21 = stablehlo.add %18, %20 : tensor<8x32x64xf32>
    %22 = stablehlo.dot_general %21, %arg10, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x4x16xf32>) -> tensor<8x32x4x16xf32>
    %23 = stablehlo.dot_general %21, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x4x16xf32>) -> tensor<8x32x4x16xf32>
    %24 = stablehlo.dot_general %21, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x4x16xf32>) -> tensor<8x32x4x16xf32>
    %25 = stablehlo.iota dim = 0 : tensor<32xi32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
    %27 = stablehlo.iota dim = 0 : tensor<8xi32>
    %28 = stablehlo.negate %27 : tensor<8xi32>
    %29 = stablehlo.convert %28 : (tensor<8xi32>) -> tensor<8xf32>
    %cst_4 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %31 = stablehlo.divide %29, %30 : tensor<8xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %33 = stablehlo.power %32, %31 : tensor<8xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %35 = stablehlo.convert %26 : (tensor<32x1xi32>) -> tensor<32x1xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x8xf32>
    %37 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<32x8xf32>
    %38 = stablehlo.multiply %36, %37 : tensor<32x8xf32>
    %39 = stablehlo.cosine %38 : tensor<32x8xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [1, 3] : (tensor<32x8xf32>) -> tensor<1x32x1x8xf32>
    %41 = stablehlo.sine %38 : tensor<32x8xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [1, 3] : (tensor<32x8xf32>) -> tensor<1x32x1x8xf32>
    %43 = stablehlo.slice %22 [0:8, 0:32, 0:4, 0:8] : (tensor<8x32x4x16xf32>) -> tensor<8x32x4x8xf32>
    %44 = stablehlo.slice %22 [0:8, 0:32, 0:4, 8:16] : (tensor<8x32x4x16xf32>) -> tensor<8x32x4x8xf32>
    %45 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %46 = stablehlo.multiply %43, %45 : tensor<8x32x4x8xf32>
    %47 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %48 = stablehlo.multiply %44, %47 : tensor<8x32x4x8xf32>
    %49 = stablehlo.subtract %46, %48 : tensor<8x32x4x8xf32>
    %50 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %51 = stablehlo.multiply %44, %50 : tensor<8x32x4x8xf32>
    %52 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %53 = stablehlo.multiply %43, %52 : tensor<8x32x4x8xf32>
    %54 = stablehlo.add %51, %53 : tensor<8x32x4x8xf32>
    %55 = stablehlo.concatenate %49, %54, dim = 3 : (tensor<8x32x4x8xf32>, tensor<8x32x4x8xf32>) -> tensor<8x32x4x16xf32>
    %56 = stablehlo.iota dim = 0 : tensor<32xi32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
    %58 = stablehlo.iota dim = 0 : tensor<8xi32>
    %59 = stablehlo.negate %58 : tensor<8xi32>
    %60 = stablehlo.convert %59 : (tensor<8xi32>) -> tensor<8xf32>
    %cst_6 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %62 = stablehlo.divide %60, %61 : tensor<8xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %64 = stablehlo.power %63, %62 : tensor<8xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %66 = stablehlo.convert %57 : (tensor<32x1xi32>) -> tensor<32x1xf32>
    %67 = stablehlo.broadcast_in_dim %66, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x8xf32>
    %68 = stablehlo.broadcast_in_dim %65, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<32x8xf32>
    %69 = stablehlo.multiply %67, %68 : tensor<32x8xf32>
    %70 = stablehlo.cosine %69 : tensor<32x8xf32>
    %71 = stablehlo.broadcast_in_dim %70, dims = [1, 3] : (tensor<32x8xf32>) -> tensor<1x32x1x8xf32>
    %72 = stablehlo.sine %69 : tensor<32x8xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [1, 3] : (tensor<32x8xf32>) -> tensor<1x32x1x8xf32>
    %74 = stablehlo.slice %23 [0:8, 0:32, 0:4, 0:8] : (tensor<8x32x4x16xf32>) -> tensor<8x32x4x8xf32>
    %75 = stablehlo.slice %23 [0:8, 0:32, 0:4, 8:16] : (tensor<8x32x4x16xf32>) -> tensor<8x32x4x8xf32>
    %76 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %77 = stablehlo.multiply %74, %76 : tensor<8x32x4x8xf32>
    %78 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %79 = stablehlo.multiply %75, %78 : tensor<8x32x4x8xf32>
    %80 = stablehlo.subtract %77, %79 : tensor<8x32x4x8xf32>
    %81 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %82 = stablehlo.multiply %75, %81 : tensor<8x32x4x8xf32>
    %83 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %84 = stablehlo.multiply %74, %83 : tensor<8x32x4x8xf32>
    %85 = stablehlo.add %82, %84 : tensor<8x32x4x8xf32>
    %86 = stablehlo.concatenate %80, %85, dim = 3 : (tensor<8x32x4x8xf32>, tensor<8x32x4x8xf32>) -> tensor<8x32x4x16xf32>
    %87 = stablehlo.reshape %55 : (tensor<8x32x4x16xf32>) -> tensor<8x32x4x1x16xf32>
    %88 = stablehlo.dot_general %86, %87, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<8x32x4x1x16xf32>) -> tensor<8x4x32x32x1xf32>
    %89 = stablehlo.transpose %88, dims = [0, 1, 4, 3, 2] : (tensor<8x4x32x32x1xf32>) -> tensor<8x4x1x32x32xf32>
    %cst_8 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x4x1x32x32xf32>
    %91 = stablehlo.multiply %89, %90 : tensor<8x4x1x32x32xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %92 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %93 = call @tril(%92) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %94:2 = call @_where(%93, %91, %cst_9) : (tensor<32x32xi1>, tensor<8x4x1x32x32xf32>, tensor<f32>) -> (tensor<8x4x1x32x32xf32>, tensor<8x4x1x32x32xi1>)
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %95 = stablehlo.reduce(%94#0 init: %cst_10) applies stablehlo.maximum across dimensions = [4] : (tensor<8x4x1x32x32xf32>, tensor<f32>) -> tensor<8x4x1x32xf32>
    %cst_11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x4x1x32xf32>
    %97 = stablehlo.maximum %96, %95 : tensor<8x4x1x32xf32>
    %98 = stablehlo.broadcast_in_dim %97, dims = [0, 1, 2, 3] : (tensor<8x4x1x32xf32>) -> tensor<8x4x1x32x1xf32>
    %99 = stablehlo.broadcast_in_dim %98, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x32x1xf32>) -> tensor<8x4x1x32x32xf32>
    %100 = stablehlo.subtract %94#0, %99 : tensor<8x4x1x32x32xf32>
    %101 = stablehlo.exponential %100 : tensor<8x4x1x32x32xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %102 = stablehlo.reduce(%101 init: %cst_12) applies stablehlo.add across dimensions = [4] : (tensor<8x4x1x32x32xf32>, tensor<f32>) -> tensor<8x4x1x32xf32>
    %103 = stablehlo.broadcast_in_dim %102, dims = [0, 1, 2, 3] : (tensor<8x4x1x32xf32>) -> tensor<8x4x1x32x1xf32>
    %104 = stablehlo.broadcast_in_dim %103, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x32x1xf32>) -> tensor<8x4x1x32x32xf32>
    %105 = stablehlo.divide %101, %104 : tensor<8x4x1x32x32xf32>
    %106 = stablehlo.multiply %103, %103 : tensor<8x4x1x32x1xf32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x4x1x32x1xf32>
    %108 = stablehlo.divide %107, %106 : tensor<8x4x1x32x1xf32>
    %109 = stablehlo.dot_general %24, %105, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<8x4x1x32x32xf32>) -> tensor<8x4x16x1x32xf32>
    %110 = stablehlo.transpose %109, dims = [0, 4, 1, 3, 2] : (tensor<8x4x16x1x32xf32>) -> tensor<8x32x4x1x16xf32>
    %111 = stablehlo.reshape %110 : (tensor<8x32x4x1x16xf32>) -> tensor<8x32x4x16xf32>
    %112 = stablehlo.dot_general %111, %arg9, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<4x16x64xf32>) -> tensor<8x32x64xf32>
    %113 = stablehlo.add %arg12, %112 : tensor<8x32x64xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %114 = stablehlo.reduce(%113 init: %cst_14) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %115 = stablehlo.broadcast_in_dim %114, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_15 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %116 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %117 = stablehlo.divide %115, %116 : tensor<8x32x1xf32>
    %118 = stablehlo.broadcast_in_dim %117, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %119 = stablehlo.subtract %113, %118 : tensor<8x32x64xf32>
    %120 = stablehlo.multiply %119, %119 : tensor<8x32x64xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %121 = stablehlo.reduce(%120 init: %cst_16) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %122 = stablehlo.broadcast_in_dim %121, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_17 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %124 = stablehlo.divide %122, %123 : tensor<8x32x1xf32>
    %cst_18 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %126 = stablehlo.add %124, %125 : tensor<8x32x1xf32>
    %127 = stablehlo.rsqrt %126 : tensor<8x32x1xf32>
    %128 = stablehlo.divide %127, %126 : tensor<8x32x1xf32>
    %cst_19 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %130 = stablehlo.multiply %129, %128 : tensor<8x32x1xf32>
    %131 = stablehlo.broadcast_in_dim %127, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %132 = stablehlo.multiply %119, %131 : tensor<8x32x64xf32>
    %133 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %134 = stablehlo.broadcast_in_dim %133, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %135 = stablehlo.multiply %132, %134 : tensor<8x32x64xf32>
    %136 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %137 = stablehlo.broadcast_in_dim %136, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %138 = stablehlo.add %135, %137 : tensor<8x32x64xf32>
    %139 = stablehlo.dot_general %138, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %140 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %141 = stablehlo.broadcast_in_dim %140, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %142 = stablehlo.add %139, %141 : tensor<8x32x256xf32>
    %143 = stablehlo.multiply %142, %142 : tensor<8x32x256xf32>
    %144 = stablehlo.multiply %143, %142 : tensor<8x32x256xf32>
    %145 = stablehlo.multiply %142, %142 : tensor<8x32x256xf32>
    %cst_20 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %147 = stablehlo.multiply %146, %145 : tensor<8x32x256xf32>
    %cst_21 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %149 = stablehlo.multiply %148, %144 : tensor<8x32x256xf32>
    %150 = stablehlo.add %142, %149 : tensor<8x32x256xf32>
    %cst_22 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %151 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %152 = stablehlo.multiply %151, %150 : tensor<8x32x256xf32>
    %153 = stablehlo.tanh %152 : tensor<8x32x256xf32>
    %cst_23 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %155 = stablehlo.subtract %154, %153 : tensor<8x32x256xf32>
    %cst_24 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %157 = stablehlo.add %156, %153 : tensor<8x32x256xf32>
    %cst_25 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %158 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %159 = stablehlo.multiply %158, %157 : tensor<8x32x256xf32>
    %160 = stablehlo.multiply %142, %159 : tensor<8x32x256xf32>
    %161 = stablehlo.dot_general %160, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %162 = stablehlo.add %113, %161 : tensor<8x32x64xf32>
    %163 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %164 = stablehlo.broadcast_in_dim %163, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %165 = stablehlo.add %162, %164 : tensor<8x32x64xf32>
    %166 = stablehlo.subtract %165, %arg13 : tensor<8x32x64xf32>
    %167 = stablehlo.multiply %166, %166 : tensor<8x32x64xf32>
    %cst_26 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %168 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %169 = stablehlo.multiply %168, %166 : tensor<8x32x64xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %170 = stablehlo.reduce(%167 init: %cst_27) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<f32>
    %cst_28 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %171 = stablehlo.divide %170, %cst_28 : tensor<f32>
    %cst_29 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_30 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %172 = stablehlo.divide %cst_29, %cst_30 : tensor<f32>
    %173 = stablehlo.broadcast_in_dim %172, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %174 = stablehlo.multiply %173, %169 : tensor<8x32x64xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %175 = stablehlo.reduce(%174 init: %cst_31) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %176 = stablehlo.reshape %175 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %177 = stablehlo.reduce(%176 init: %cst_32) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %178 = stablehlo.dot_general %174, %160, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %179 = stablehlo.transpose %178, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %180 = stablehlo.dot_general %174, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %181 = stablehlo.multiply %142, %180 : tensor<8x32x256xf32>
    %182 = stablehlo.multiply %180, %159 : tensor<8x32x256xf32>
    %cst_33 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %184 = stablehlo.multiply %183, %181 : tensor<8x32x256xf32>
    %185 = stablehlo.multiply %184, %155 : tensor<8x32x256xf32>
    %186 = stablehlo.multiply %185, %153 : tensor<8x32x256xf32>
    %187 = stablehlo.add %185, %186 : tensor<8x32x256xf32>
    %cst_34 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %188 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %189 = stablehlo.multiply %188, %187 : tensor<8x32x256xf32>
    %190 = stablehlo.add %182, %189 : tensor<8x32x256xf32>
    %cst_35 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %191 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %192 = stablehlo.multiply %191, %189 : tensor<8x32x256xf32>
    %193 = stablehlo.multiply %192, %147 : tensor<8x32x256xf32>
    %194 = stablehlo.add %190, %193 : tensor<8x32x256xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %195 = stablehlo.reduce(%194 init: %cst_36) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %196 = stablehlo.reshape %195 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %197 = stablehlo.reduce(%196 init: %cst_37) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %198 = stablehlo.dot_general %194, %138, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %199 = stablehlo.transpose %198, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %200 = stablehlo.dot_general %194, %arg6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %201 = stablehlo.reduce(%200 init: %cst_38) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %202 = stablehlo.reshape %201 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %203 = stablehlo.reduce(%202 init: %cst_39) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %204 = stablehlo.multiply %132, %200 : tensor<8x32x64xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %205 = stablehlo.reduce(%204 init: %cst_40) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %206 = stablehlo.reshape %205 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %207 = stablehlo.broadcast_in_dim %133, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %208 = stablehlo.multiply %200, %207 : tensor<8x32x64xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %209 = stablehlo.reduce(%206 init: %cst_41) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %210 = stablehlo.multiply %119, %208 : tensor<8x32x64xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %211 = stablehlo.reduce(%210 init: %cst_42) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %212 = stablehlo.reshape %211 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %213 = stablehlo.broadcast_in_dim %127, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %214 = stablehlo.multiply %208, %213 : tensor<8x32x64xf32>
    %215 = stablehlo.multiply %212, %130 : tensor<8x32x1xf32>
    %cst_43 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %216 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %217 = stablehlo.divide %215, %216 : tensor<8x32x1xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %218 = stablehlo.reduce(%217 init: %cst_44) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %219 = stablehlo.broadcast_in_dim %218, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %220 = stablehlo.multiply %119, %219 : tensor<8x32x64xf32>
    %221 = stablehlo.add %214, %220 : tensor<8x32x64xf32>
    %222 = stablehlo.multiply %219, %119 : tensor<8x32x64xf32>
    %223 = stablehlo.add %221, %222 : tensor<8x32x64xf32>
    %224 = stablehlo.negate %223 : tensor<8x32x64xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %225 = stablehlo.reduce(%224 init: %cst_45) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %226 = stablehlo.reshape %225 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %227 = stablehlo.add %174, %223 : tensor<8x32x64xf32>
    %cst_46 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %228 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %229 = stablehlo.divide %226, %228 : tensor<8x32x1xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %230 = stablehlo.reduce(%229 init: %cst_47) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %231 = stablehlo.broadcast_in_dim %230, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %232 = stablehlo.add %227, %231 : tensor<8x32x64xf32>
    %233 = stablehlo.dot_general %232, %111, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x4x16xf32>) -> tensor<64x4x16xf32>
    %234 = stablehlo.transpose %233, dims = [1, 2, 0] : (tensor<64x4x16xf32>) -> tensor<4x16x64xf32>
    %235 = stablehlo.dot_general %232, %arg9, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<4x16x64xf32>) -> tensor<8x32x4x16xf32>
    %236 = stablehlo.reshape %235 : (tensor<8x32x4x16xf32>) -> tensor<8x32x4x1x16xf32>
    %237 = stablehlo.transpose %236, dims = [0, 2, 4, 3, 1] : (tensor<8x32x4x1x16xf32>) -> tensor<8x4x16x1x32xf32>
    %238 = stablehlo.dot_general %237, %24, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x1x32xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x1x32x32xf32>
    %239 = stablehlo.dot_general %237, %105, batching_dims = [0, 1] x [0, 1], contracting_dims = [3, 4] x [2, 3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16x1x32xf32>, tensor<8x4x1x32x32xf32>) -> tensor<8x4x16x32xf32>
    %240 = stablehlo.transpose %239, dims = [0, 3, 1, 2] : (tensor<8x4x16x32xf32>) -> tensor<8x32x4x16xf32>
    %241 = stablehlo.broadcast_in_dim %108, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x32x1xf32>) -> tensor<8x4x1x32x32xf32>
    %242 = stablehlo.multiply %238, %241 : tensor<8x4x1x32x32xf32>
    %243 = stablehlo.multiply %242, %101 : tensor<8x4x1x32x32xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %244 = stablehlo.reduce(%243 init: %cst_48) applies stablehlo.add across dimensions = [4] : (tensor<8x4x1x32x32xf32>, tensor<f32>) -> tensor<8x4x1x32xf32>
    %245 = stablehlo.reshape %244 : (tensor<8x4x1x32xf32>) -> tensor<8x4x1x32x1xf32>
    %246 = stablehlo.negate %245 : tensor<8x4x1x32x1xf32>
    %247 = stablehlo.broadcast_in_dim %103, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x32x1xf32>) -> tensor<8x4x1x32x32xf32>
    %248 = stablehlo.divide %238, %247 : tensor<8x4x1x32x32xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %249 = stablehlo.reduce(%246 init: %cst_49) applies stablehlo.add across dimensions = [2, 4] : (tensor<8x4x1x32x1xf32>, tensor<f32>) -> tensor<8x4x32xf32>
    %250 = stablehlo.broadcast_in_dim %249, dims = [0, 1, 3] : (tensor<8x4x32xf32>) -> tensor<8x4x1x32xf32>
    %251 = stablehlo.broadcast_in_dim %250, dims = [0, 1, 2, 3] : (tensor<8x4x1x32xf32>) -> tensor<8x4x1x32x32xf32>
    %252 = stablehlo.add %248, %251 : tensor<8x4x1x32x32xf32>
    %253 = stablehlo.multiply %252, %101 : tensor<8x4x1x32x32xf32>
    %254 = call @_where_0(%94#1, %253) : (tensor<8x4x1x32x32xi1>, tensor<8x4x1x32x32xf32>) -> tensor<8x4x1x32x32xf32>
    %cst_50 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %255 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<8x4x1x32x32xf32>
    %256 = stablehlo.multiply %254, %255 : tensor<8x4x1x32x32xf32>
    %257 = stablehlo.transpose %256, dims = [0, 1, 4, 3, 2] : (tensor<8x4x1x32x32xf32>) -> tensor<8x4x32x32x1xf32>
    %258 = stablehlo.dot_general %257, %86, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x32x32x1xf32>, tensor<8x32x4x16xf32>) -> tensor<8x4x32x1x16xf32>
    %259 = stablehlo.transpose %258, dims = [0, 2, 1, 3, 4] : (tensor<8x4x32x1x16xf32>) -> tensor<8x32x4x1x16xf32>
    %260 = stablehlo.dot_general %257, %87, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x32x32x1xf32>, tensor<8x32x4x1x16xf32>) -> tensor<8x4x32x16xf32>
    %261 = stablehlo.transpose %260, dims = [0, 2, 1, 3] : (tensor<8x4x32x16xf32>) -> tensor<8x32x4x16xf32>
    %262 = stablehlo.reshape %259 : (tensor<8x32x4x1x16xf32>) -> tensor<8x32x4x16xf32>
    %263 = stablehlo.slice %261 [0:8, 0:32, 0:4, 0:8] : (tensor<8x32x4x16xf32>) -> tensor<8x32x4x8xf32>
    %264 = stablehlo.slice %261 [0:8, 0:32, 0:4, 8:16] : (tensor<8x32x4x16xf32>) -> tensor<8x32x4x8xf32>
    %265 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %266 = stablehlo.multiply %264, %265 : tensor<8x32x4x8xf32>
    %267 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %268 = stablehlo.multiply %264, %267 : tensor<8x32x4x8xf32>
    %269 = stablehlo.negate %263 : tensor<8x32x4x8xf32>
    %270 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %271 = stablehlo.multiply %269, %270 : tensor<8x32x4x8xf32>
    %272 = stablehlo.add %268, %271 : tensor<8x32x4x8xf32>
    %273 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %274 = stablehlo.multiply %263, %273 : tensor<8x32x4x8xf32>
    %275 = stablehlo.add %266, %274 : tensor<8x32x4x8xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %276 = stablehlo.pad %272, %cst_51, low = [0, 0, 0, 8], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<8x32x4x8xf32>, tensor<f32>) -> tensor<8x32x4x16xf32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %277 = stablehlo.pad %275, %cst_52, low = [0, 0, 0, 0], high = [0, 0, 0, 8], interior = [0, 0, 0, 0] : (tensor<8x32x4x8xf32>, tensor<f32>) -> tensor<8x32x4x16xf32>
    %278 = stablehlo.add %276, %277 : tensor<8x32x4x16xf32>
    %279 = stablehlo.slice %262 [0:8, 0:32, 0:4, 0:8] : (tensor<8x32x4x16xf32>) -> tensor<8x32x4x8xf32>
    %280 = stablehlo.slice %262 [0:8, 0:32, 0:4, 8:16] : (tensor<8x32x4x16xf32>) -> tensor<8x32x4x8xf32>
    %281 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %282 = stablehlo.multiply %280, %281 : tensor<8x32x4x8xf32>
    %283 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %284 = stablehlo.multiply %280, %283 : tensor<8x32x4x8xf32>
    %285 = stablehlo.negate %279 : tensor<8x32x4x8xf32>
    %286 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %287 = stablehlo.multiply %285, %286 : tensor<8x32x4x8xf32>
    %288 = stablehlo.add %284, %287 : tensor<8x32x4x8xf32>
    %289 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2, 3] : (tensor<1x32x1x8xf32>) -> tensor<8x32x4x8xf32>
    %290 = stablehlo.multiply %279, %289 : tensor<8x32x4x8xf32>
    %291 = stablehlo.add %282, %290 : tensor<8x32x4x8xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %292 = stablehlo.pad %288, %cst_53, low = [0, 0, 0, 8], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<8x32x4x8xf32>, tensor<f32>) -> tensor<8x32x4x16xf32>
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %293 = stablehlo.pad %291, %cst_54, low = [0, 0, 0, 0], high = [0, 0, 0, 8], interior = [0, 0, 0, 0] : (tensor<8x32x4x8xf32>, tensor<f32>) -> tensor<8x32x4x16xf32>
    %294 = stablehlo.add %292, %293 : tensor<8x32x4x16xf32>
    %295 = stablehlo.dot_general %240, %21, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<8x32x64xf32>) -> tensor<4x16x64xf32>
    %296 = stablehlo.transpose %295, dims = [2, 0, 1] : (tensor<4x16x64xf32>) -> tensor<64x4x16xf32>
    %297 = stablehlo.dot_general %240, %arg11, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<64x4x16xf32>) -> tensor<8x32x64xf32>
    %298 = stablehlo.dot_general %278, %21, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<8x32x64xf32>) -> tensor<4x16x64xf32>
    %299 = stablehlo.transpose %298, dims = [2, 0, 1] : (tensor<4x16x64xf32>) -> tensor<64x4x16xf32>
    %300 = stablehlo.dot_general %278, %arg8, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<64x4x16xf32>) -> tensor<8x32x64xf32>
    %301 = stablehlo.add %297, %300 : tensor<8x32x64xf32>
    %302 = stablehlo.dot_general %294, %21, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<8x32x64xf32>) -> tensor<4x16x64xf32>
    %303 = stablehlo.transpose %302, dims = [2, 0, 1] : (tensor<4x16x64xf32>) -> tensor<64x4x16xf32>
    %304 = stablehlo.dot_general %294, %arg10, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x16xf32>, tensor<64x4x16xf32>) -> tensor<8x32x64xf32>
    %305 = stablehlo.add %301, %304 : tensor<8x32x64xf32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %306 = stablehlo.reduce(%305 init: %cst_55) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %307 = stablehlo.reshape %306 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %308 = stablehlo.reduce(%307 init: %cst_56) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %309 = stablehlo.multiply %15, %305 : tensor<8x32x64xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %310 = stablehlo.reduce(%309 init: %cst_57) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %311 = stablehlo.reshape %310 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %312 = stablehlo.reduce(%311 init: %cst_58) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_59 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %313 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %314 = stablehlo.multiply %313, %179 : tensor<256x64xf32>
    %315 = stablehlo.subtract %arg0, %314 : tensor<256x64xf32>
    %cst_60 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %316 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %317 = stablehlo.multiply %316, %177 : tensor<64xf32>
    %318 = stablehlo.subtract %arg1, %317 : tensor<64xf32>
    %cst_61 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %319 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %320 = stablehlo.multiply %319, %312 : tensor<64xf32>
    %321 = stablehlo.subtract %arg2, %320 : tensor<64xf32>
    %cst_62 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %322 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %323 = stablehlo.multiply %322, %209 : tensor<64xf32>
    %324 = stablehlo.subtract %arg3, %323 : tensor<64xf32>
    %cst_63 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %325 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %326 = stablehlo.multiply %325, %308 : tensor<64xf32>
    %327 = stablehlo.subtract %arg4, %326 : tensor<64xf32>
    %cst_64 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %328 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %329 = stablehlo.multiply %328, %203 : tensor<64xf32>
    %330 = stablehlo.subtract %arg5, %329 : tensor<64xf32>
    %cst_65 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %331 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %332 = stablehlo.multiply %331, %199 : tensor<64x256xf32>
    %333 = stablehlo.subtract %arg6, %332 : tensor<64x256xf32>
    %cst_66 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %334 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %335 = stablehlo.multiply %334, %197 : tensor<256xf32>
    %336 = stablehlo.subtract %arg7, %335 : tensor<256xf32>
    %cst_67 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %337 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<64x4x16xf32>
    %338 = stablehlo.multiply %337, %299 : tensor<64x4x16xf32>
    %339 = stablehlo.subtract %arg8, %338 : tensor<64x4x16xf32>
    %cst_68 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %340 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<4x16x64xf32>
    %341 = stablehlo.multiply %340, %234 : tensor<4x16x64xf32>
    %342 = stablehlo.subtract %arg9, %341 : tensor<4x16x64xf32>
    %cst_69 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %343 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<64x4x16xf32>
    %344 = stablehlo.multiply %343, %303 : tensor<64x4x16xf32>
    %345 = stablehlo.subtract %arg10, %344 : tensor<64x4x16xf32>
    %cst_70 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %346 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<64x4x16xf32>
    %347 = stablehlo.multiply %346, %296 : tensor<64x4x16xf32>
    %348 = stablehlo.subtract %arg11, %347 : tensor<64x4x16xf32>
    return %315, %318, %321, %324, %327, %330, %333, %336, %339, %342, %345, %348, %171 : tensor<256x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256xf32>, tensor<64x4x16xf32>, tensor<4x16x64xf32>, tensor<64x4x16xf32>, tensor<64x4x16xf32>, tensor<f32>
  }
  func.func private @tril(%arg0: tensor<32x32xi1>) -> tensor<32x32xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<32x32xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32x32xi32>
    %2 = stablehlo.add %0, %1 : tensor<32x32xi32>
    %3 = stablehlo.iota dim = 1 : tensor<32x32xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<32x32xi1>, tensor<32x32xi1>
    return %6 : tensor<32x32xi1>
  }
  func.func private @_where(%arg0: tensor<32x32xi1>, %arg1: tensor<8x4x1x32x32xf32>, %arg2: tensor<f32>) -> (tensor<8x4x1x32x32xf32>, tensor<8x4x1x32x32xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3, 4] : (tensor<32x32xi1>) -> tensor<8x4x1x32x32xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4x1x32x32xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x4x1x32x32xi1>, tensor<8x4x1x32x32xf32>
    return %3, %1 : tensor<8x4x1x32x32xf32>, tensor<8x4x1x32x32xi1>
  }
  func.func private @_where_0(%arg0: tensor<8x4x1x32x32xi1>, %arg1: tensor<8x4x1x32x32xf32>) -> tensor<8x4x1x32x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x1x32x32xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<8x4x1x32x32xi1>, tensor<8x4x1x32x32xf32>
    return %1 : tensor<8x4x1x32x32xf32>
  }
}
