module @jit_tblock_fsdp_train attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg2: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg3: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg4: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg5: tensor<32x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg6: tensor<4x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %arg7: tensor<32x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg8: tensor<32x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg9: tensor<8x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg10: tensor<8x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<32x32xf32> {jax.result_info = "result[0]['down']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<32x32xf32> {jax.result_info = "result[0]['gate']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<32xf32> {jax.result_info = "result[0]['norm1']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<32xf32> {jax.result_info = "result[0]['norm2']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<32x32xf32> {jax.result_info = "result[0]['up']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<32x4x8xf32> {jax.result_info = "result[0]['wk']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, tensor<4x8x32xf32> {jax.result_info = "result[0]['wo']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, tensor<32x4x8xf32> {jax.result_info = "result[0]['wq']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, tensor<32x4x8xf32> {jax.result_info = "result[0]['wv']", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
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
    %85:3 = call @_where(%84, %82, %cst_7) : (tensor<8x8xi1>, tensor<8x4x1x8x8xf32>, tensor<f32>) -> (tensor<8x4x1x8x8xf32>, tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>)
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %86 = stablehlo.reduce(%85#0 init: %cst_8) applies stablehlo.maximum across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %87 = stablehlo.reshape %86 : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %88 = stablehlo.broadcast_in_dim %87, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %89 = stablehlo.compare EQ, %85#0, %88, FLOAT : (tensor<8x4x1x8x8xf32>, tensor<8x4x1x8x8xf32>) -> tensor<8x4x1x8x8xi1>
    %90 = stablehlo.convert %89 : (tensor<8x4x1x8x8xi1>) -> tensor<8x4x1x8x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %91 = stablehlo.reduce(%90 init: %cst_9) applies stablehlo.add across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %93 = stablehlo.maximum %92, %86 : tensor<8x4x1x8xf32>
    %94 = stablehlo.compare EQ, %86, %93, FLOAT : (tensor<8x4x1x8xf32>, tensor<8x4x1x8xf32>) -> tensor<8x4x1x8xi1>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %97 = stablehlo.select %94, %95, %96 : tensor<8x4x1x8xi1>, tensor<8x4x1x8xf32>
    %cst_13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %99 = stablehlo.compare EQ, %98, %93, FLOAT : (tensor<8x4x1x8xf32>, tensor<8x4x1x8xf32>) -> tensor<8x4x1x8xi1>
    %cst_14 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x4x1x8xf32>
    %102 = stablehlo.select %99, %100, %101 : tensor<8x4x1x8xi1>, tensor<8x4x1x8xf32>
    %103 = stablehlo.divide %97, %102 : tensor<8x4x1x8xf32>
    %104 = stablehlo.broadcast_in_dim %93, dims = [0, 1, 2, 3] : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %105 = stablehlo.broadcast_in_dim %104, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %106 = stablehlo.subtract %85#0, %105 : tensor<8x4x1x8x8xf32>
    %107 = stablehlo.exponential %106 : tensor<8x4x1x8x8xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %108 = stablehlo.reduce(%107 init: %cst_16) applies stablehlo.add across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %109 = stablehlo.broadcast_in_dim %108, dims = [0, 1, 2, 3] : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %111 = stablehlo.divide %107, %110 : tensor<8x4x1x8x8xf32>
    %112 = stablehlo.multiply %109, %109 : tensor<8x4x1x8x1xf32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x1xf32>
    %114 = stablehlo.divide %113, %112 : tensor<8x4x1x8x1xf32>
    %115 = stablehlo.dot_general %15, %111, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x4x1x8x8xf32>) -> tensor<8x4x8x1x8xf32>
    %116 = stablehlo.transpose %115, dims = [0, 4, 1, 3, 2] : (tensor<8x4x8x1x8xf32>) -> tensor<8x8x4x1x8xf32>
    %117 = stablehlo.reshape %116 : (tensor<8x8x4x1x8xf32>) -> tensor<8x8x4x8xf32>
    %118 = stablehlo.dot_general %117, %arg6, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<4x8x32xf32>) -> tensor<8x8x32xf32>
    %119 = stablehlo.add %arg9, %118 : tensor<8x8x32xf32>
    %120 = stablehlo.multiply %119, %119 : tensor<8x8x32xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %121 = stablehlo.reduce(%120 init: %cst_18) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %122 = stablehlo.broadcast_in_dim %121, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x1xf32>
    %cst_19 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %124 = stablehlo.divide %122, %123 : tensor<8x8x1xf32>
    %cst_20 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %126 = stablehlo.add %124, %125 : tensor<8x8x1xf32>
    %127 = stablehlo.rsqrt %126 : tensor<8x8x1xf32>
    %128 = stablehlo.divide %127, %126 : tensor<8x8x1xf32>
    %cst_21 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %130 = stablehlo.multiply %129, %128 : tensor<8x8x1xf32>
    %131 = stablehlo.broadcast_in_dim %127, dims = [0, 1, 2] : (tensor<8x8x1xf32>) -> tensor<8x8x32xf32>
    %132 = stablehlo.multiply %119, %131 : tensor<8x8x32xf32>
    %133 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %134 = stablehlo.broadcast_in_dim %133, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x8x32xf32>
    %135 = stablehlo.multiply %132, %134 : tensor<8x8x32xf32>
    %136 = stablehlo.dot_general %135, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %137:3 = call @silu(%136) : (tensor<8x8x32xf32>) -> (tensor<8x8x32xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>)
    %138 = stablehlo.dot_general %135, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %139 = stablehlo.multiply %137#0, %138 : tensor<8x8x32xf32>
    %140 = stablehlo.dot_general %139, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %141 = stablehlo.add %119, %140 : tensor<8x8x32xf32>
    %142 = stablehlo.subtract %141, %arg10 : tensor<8x8x32xf32>
    %143 = stablehlo.multiply %142, %142 : tensor<8x8x32xf32>
    %cst_22 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %145 = stablehlo.multiply %144, %142 : tensor<8x8x32xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %146 = stablehlo.reduce(%143 init: %cst_23) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %147 = stablehlo.reduce(%146 init: %cst_24) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_25 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %148 = stablehlo.divide %147, %cst_25 : tensor<f32>
    %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_27 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %149 = stablehlo.divide %cst_26, %cst_27 : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %149, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %151 = stablehlo.broadcast_in_dim %150, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x32xf32>
    %152 = stablehlo.multiply %151, %145 : tensor<8x8x32xf32>
    %153 = stablehlo.dot_general %152, %139, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<8x8x32xf32>) -> tensor<32x32xf32>
    %154 = stablehlo.transpose %153, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %155 = stablehlo.dot_general %152, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %156 = stablehlo.multiply %137#0, %155 : tensor<8x8x32xf32>
    %157 = stablehlo.multiply %155, %138 : tensor<8x8x32xf32>
    %158 = stablehlo.dot_general %156, %135, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<8x8x32xf32>) -> tensor<32x32xf32>
    %159 = stablehlo.transpose %158, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %160 = stablehlo.dot_general %156, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %161 = call @silu_0(%137#1, %137#2, %136, %157) : (tensor<8x8x32xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>, tensor<8x8x32xf32>) -> tensor<8x8x32xf32>
    %162 = stablehlo.dot_general %161, %135, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<8x8x32xf32>) -> tensor<32x32xf32>
    %163 = stablehlo.transpose %162, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %164 = stablehlo.dot_general %161, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x32xf32>) -> tensor<8x8x32xf32>
    %165 = stablehlo.add %160, %164 : tensor<8x8x32xf32>
    %166 = stablehlo.multiply %132, %165 : tensor<8x8x32xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %167 = stablehlo.reduce(%166 init: %cst_28) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<32xf32>
    %168 = stablehlo.reshape %167 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %169 = stablehlo.broadcast_in_dim %133, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x8x32xf32>
    %170 = stablehlo.multiply %165, %169 : tensor<8x8x32xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %171 = stablehlo.reduce(%168 init: %cst_29) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %172 = stablehlo.multiply %119, %170 : tensor<8x8x32xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %173 = stablehlo.reduce(%172 init: %cst_30) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %174 = stablehlo.reshape %173 : (tensor<8x8xf32>) -> tensor<8x8x1xf32>
    %175 = stablehlo.broadcast_in_dim %127, dims = [0, 1, 2] : (tensor<8x8x1xf32>) -> tensor<8x8x32xf32>
    %176 = stablehlo.multiply %170, %175 : tensor<8x8x32xf32>
    %177 = stablehlo.add %152, %176 : tensor<8x8x32xf32>
    %178 = stablehlo.multiply %174, %130 : tensor<8x8x1xf32>
    %cst_31 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %179 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %180 = stablehlo.divide %178, %179 : tensor<8x8x1xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %181 = stablehlo.reduce(%180 init: %cst_32) applies stablehlo.add across dimensions = [2] : (tensor<8x8x1xf32>, tensor<f32>) -> tensor<8x8xf32>
    %182 = stablehlo.broadcast_in_dim %181, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x32xf32>
    %183 = stablehlo.multiply %119, %182 : tensor<8x8x32xf32>
    %184 = stablehlo.add %177, %183 : tensor<8x8x32xf32>
    %185 = stablehlo.multiply %182, %119 : tensor<8x8x32xf32>
    %186 = stablehlo.add %184, %185 : tensor<8x8x32xf32>
    %187 = stablehlo.dot_general %186, %117, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<8x8x4x8xf32>) -> tensor<32x4x8xf32>
    %188 = stablehlo.transpose %187, dims = [1, 2, 0] : (tensor<32x4x8xf32>) -> tensor<4x8x32xf32>
    %189 = stablehlo.dot_general %186, %arg6, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<4x8x32xf32>) -> tensor<8x8x4x8xf32>
    %190 = stablehlo.reshape %189 : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x1x8xf32>
    %191 = stablehlo.transpose %190, dims = [0, 2, 4, 3, 1] : (tensor<8x8x4x1x8xf32>) -> tensor<8x4x8x1x8xf32>
    %192 = stablehlo.dot_general %191, %15, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x8x1x8xf32>, tensor<8x8x4x8xf32>) -> tensor<8x4x1x8x8xf32>
    %193 = stablehlo.dot_general %191, %111, batching_dims = [0, 1] x [0, 1], contracting_dims = [3, 4] x [2, 3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x8x1x8xf32>, tensor<8x4x1x8x8xf32>) -> tensor<8x4x8x8xf32>
    %194 = stablehlo.transpose %193, dims = [0, 3, 1, 2] : (tensor<8x4x8x8xf32>) -> tensor<8x8x4x8xf32>
    %195 = stablehlo.broadcast_in_dim %114, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %196 = stablehlo.multiply %192, %195 : tensor<8x4x1x8x8xf32>
    %197 = stablehlo.multiply %196, %107 : tensor<8x4x1x8x8xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %198 = stablehlo.reduce(%197 init: %cst_33) applies stablehlo.add across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %199 = stablehlo.reshape %198 : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %200 = stablehlo.negate %199 : tensor<8x4x1x8x1xf32>
    %201 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x8xf32>
    %202 = stablehlo.divide %192, %201 : tensor<8x4x1x8x8xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %203 = stablehlo.reduce(%200 init: %cst_34) applies stablehlo.add across dimensions = [2, 4] : (tensor<8x4x1x8x1xf32>, tensor<f32>) -> tensor<8x4x8xf32>
    %204 = stablehlo.broadcast_in_dim %203, dims = [0, 1, 3] : (tensor<8x4x8xf32>) -> tensor<8x4x1x8xf32>
    %205 = stablehlo.broadcast_in_dim %204, dims = [0, 1, 2, 3] : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x8xf32>
    %206 = stablehlo.add %202, %205 : tensor<8x4x1x8x8xf32>
    %207 = stablehlo.multiply %206, %107 : tensor<8x4x1x8x8xf32>
    %208 = call @_where_1(%85#1, %85#2, %207) : (tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xf32>, tensor<8x4x1x8x8xf32>) -> tensor<8x4x1x8x8xf32>
    %cst_35 = stablehlo.constant dense<0.353553385> : tensor<f32>
    %209 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x4x1x8x8xf32>
    %210 = stablehlo.multiply %208, %209 : tensor<8x4x1x8x8xf32>
    %211 = stablehlo.transpose %210, dims = [0, 1, 4, 3, 2] : (tensor<8x4x1x8x8xf32>) -> tensor<8x4x8x8x1xf32>
    %212 = stablehlo.dot_general %211, %77, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x8x8x1xf32>, tensor<8x8x4x8xf32>) -> tensor<8x4x8x1x8xf32>
    %213 = stablehlo.transpose %212, dims = [0, 2, 1, 3, 4] : (tensor<8x4x8x1x8xf32>) -> tensor<8x8x4x1x8xf32>
    %214 = stablehlo.dot_general %211, %78, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x8x8x1xf32>, tensor<8x8x4x1x8xf32>) -> tensor<8x4x8x8xf32>
    %215 = stablehlo.transpose %214, dims = [0, 2, 1, 3] : (tensor<8x4x8x8xf32>) -> tensor<8x8x4x8xf32>
    %216 = stablehlo.reshape %213 : (tensor<8x8x4x1x8xf32>) -> tensor<8x8x4x8xf32>
    %217 = stablehlo.slice %215 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %218 = stablehlo.slice %215 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %219 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %220 = stablehlo.multiply %218, %219 : tensor<8x8x4x4xf32>
    %221 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %222 = stablehlo.multiply %218, %221 : tensor<8x8x4x4xf32>
    %223 = stablehlo.negate %217 : tensor<8x8x4x4xf32>
    %224 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %225 = stablehlo.multiply %223, %224 : tensor<8x8x4x4xf32>
    %226 = stablehlo.add %222, %225 : tensor<8x8x4x4xf32>
    %227 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %228 = stablehlo.multiply %217, %227 : tensor<8x8x4x4xf32>
    %229 = stablehlo.add %220, %228 : tensor<8x8x4x4xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %230 = stablehlo.pad %226, %cst_36, low = [0, 0, 0, 4], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<8x8x4x4xf32>, tensor<f32>) -> tensor<8x8x4x8xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %231 = stablehlo.pad %229, %cst_37, low = [0, 0, 0, 0], high = [0, 0, 0, 4], interior = [0, 0, 0, 0] : (tensor<8x8x4x4xf32>, tensor<f32>) -> tensor<8x8x4x8xf32>
    %232 = stablehlo.add %230, %231 : tensor<8x8x4x8xf32>
    %233 = stablehlo.slice %216 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %234 = stablehlo.slice %216 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xf32>) -> tensor<8x8x4x4xf32>
    %235 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %236 = stablehlo.multiply %234, %235 : tensor<8x8x4x4xf32>
    %237 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %238 = stablehlo.multiply %234, %237 : tensor<8x8x4x4xf32>
    %239 = stablehlo.negate %233 : tensor<8x8x4x4xf32>
    %240 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %241 = stablehlo.multiply %239, %240 : tensor<8x8x4x4xf32>
    %242 = stablehlo.add %238, %241 : tensor<8x8x4x4xf32>
    %243 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x4x4xf32>
    %244 = stablehlo.multiply %233, %243 : tensor<8x8x4x4xf32>
    %245 = stablehlo.add %236, %244 : tensor<8x8x4x4xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %246 = stablehlo.pad %242, %cst_38, low = [0, 0, 0, 4], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<8x8x4x4xf32>, tensor<f32>) -> tensor<8x8x4x8xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %247 = stablehlo.pad %245, %cst_39, low = [0, 0, 0, 0], high = [0, 0, 0, 4], interior = [0, 0, 0, 0] : (tensor<8x8x4x4xf32>, tensor<f32>) -> tensor<8x8x4x8xf32>
    %248 = stablehlo.add %246, %247 : tensor<8x8x4x8xf32>
    %249 = stablehlo.dot_general %194, %12, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x8x32xf32>) -> tensor<4x8x32xf32>
    %250 = stablehlo.transpose %249, dims = [2, 0, 1] : (tensor<4x8x32xf32>) -> tensor<32x4x8xf32>
    %251 = stablehlo.dot_general %194, %arg8, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<32x4x8xf32>) -> tensor<8x8x32xf32>
    %252 = stablehlo.dot_general %232, %12, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x8x32xf32>) -> tensor<4x8x32xf32>
    %253 = stablehlo.transpose %252, dims = [2, 0, 1] : (tensor<4x8x32xf32>) -> tensor<32x4x8xf32>
    %254 = stablehlo.dot_general %232, %arg5, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<32x4x8xf32>) -> tensor<8x8x32xf32>
    %255 = stablehlo.add %251, %254 : tensor<8x8x32xf32>
    %256 = stablehlo.dot_general %248, %12, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<8x8x32xf32>) -> tensor<4x8x32xf32>
    %257 = stablehlo.transpose %256, dims = [2, 0, 1] : (tensor<4x8x32xf32>) -> tensor<32x4x8xf32>
    %258 = stablehlo.dot_general %248, %arg7, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xf32>, tensor<32x4x8xf32>) -> tensor<8x8x32xf32>
    %259 = stablehlo.add %255, %258 : tensor<8x8x32xf32>
    %260 = stablehlo.multiply %9, %259 : tensor<8x8x32xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %261 = stablehlo.reduce(%260 init: %cst_40) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<32xf32>
    %262 = stablehlo.reshape %261 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %263 = stablehlo.reduce(%262 init: %cst_41) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %cst_42 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %264 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %265 = stablehlo.multiply %264, %154 : tensor<32x32xf32>
    %266 = stablehlo.subtract %arg0, %265 : tensor<32x32xf32>
    %cst_43 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %267 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %268 = stablehlo.multiply %267, %163 : tensor<32x32xf32>
    %269 = stablehlo.subtract %arg1, %268 : tensor<32x32xf32>
    %cst_44 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %270 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %271 = stablehlo.multiply %270, %263 : tensor<32xf32>
    %272 = stablehlo.subtract %arg2, %271 : tensor<32xf32>
    %cst_45 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %273 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %274 = stablehlo.multiply %273, %171 : tensor<32xf32>
    %275 = stablehlo.subtract %arg3, %274 : tensor<32xf32>
    %cst_46 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %276 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %277 = stablehlo.multiply %276, %159 : tensor<32x32xf32>
    %278 = stablehlo.subtract %arg4, %277 : tensor<32x32xf32>
    %cst_47 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %279 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<32x4x8xf32>
    %280 = stablehlo.multiply %279, %253 : tensor<32x4x8xf32>
    %281 = stablehlo.subtract %arg5, %280 : tensor<32x4x8xf32>
    %cst_48 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %282 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<4x8x32xf32>
    %283 = stablehlo.multiply %282, %188 : tensor<4x8x32xf32>
    %284 = stablehlo.subtract %arg6, %283 : tensor<4x8x32xf32>
    %cst_49 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %285 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<32x4x8xf32>
    %286 = stablehlo.multiply %285, %257 : tensor<32x4x8xf32>
    %287 = stablehlo.subtract %arg7, %286 : tensor<32x4x8xf32>
    %cst_50 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %288 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<32x4x8xf32>
    %289 = stablehlo.multiply %288, %250 : tensor<32x4x8xf32>
    %290 = stablehlo.subtract %arg8, %289 : tensor<32x4x8xf32>
    return %266, %269, %272, %275, %278, %281, %284, %287, %290, %148 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x4x8xf32>, tensor<4x8x32xf32>, tensor<32x4x8xf32>, tensor<32x4x8xf32>, tensor<f32>
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
