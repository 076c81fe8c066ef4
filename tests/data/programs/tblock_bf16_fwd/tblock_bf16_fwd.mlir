module @jit_tblock_bf16_fwd attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg1: tensor<32x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg2: tensor<32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg3: tensor<32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg4: tensor<32x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg5: tensor<32x4x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg6: tensor<4x8x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg7: tensor<32x4x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg8: tensor<32x4x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg9: tensor<8x8x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) -> (tensor<8x8x32xbf16> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) {
    %0 = stablehlo.multiply %arg9, %arg9 : tensor<8x8x32xbf16>
    %1 = stablehlo.convert %0 : (tensor<8x8x32xbf16>) -> tensor<8x8x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x1xf32>
    %cst_0 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %5 = stablehlo.divide %3, %4 : tensor<8x8x1xf32>
    %6 = stablehlo.convert %5 : (tensor<8x8x1xf32>) -> tensor<8x8x1xbf16>
    %cst_1 = stablehlo.constant dense<9.983770e-07> : tensor<bf16>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<8x8x1xbf16>
    %8 = stablehlo.add %6, %7 : tensor<8x8x1xbf16>
    %9 = stablehlo.rsqrt %8 : tensor<8x8x1xbf16>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<8x8x1xbf16>) -> tensor<8x8x32xbf16>
    %11 = stablehlo.multiply %arg9, %10 : tensor<8x8x32xbf16>
    %12 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<32xbf16>) -> tensor<1x1x32xbf16>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x1x32xbf16>) -> tensor<8x8x32xbf16>
    %14 = stablehlo.multiply %11, %13 : tensor<8x8x32xbf16>
    %15 = stablehlo.dot_general %14, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xbf16>, tensor<32x4x8xbf16>) -> tensor<8x8x4x8xbf16>
    %16 = stablehlo.dot_general %14, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xbf16>, tensor<32x4x8xbf16>) -> tensor<8x8x4x8xbf16>
    %17 = stablehlo.dot_general %14, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xbf16>, tensor<32x4x8xbf16>) -> tensor<8x8x4x8xbf16>
    %18 = stablehlo.iota dim = 0 : tensor<8xi32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %20 = stablehlo.iota dim = 0 : tensor<4xi32>
    %21 = stablehlo.negate %20 : tensor<4xi32>
    %22 = stablehlo.convert %21 : (tensor<4xi32>) -> tensor<4xf32>
    %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %24 = stablehlo.divide %22, %23 : tensor<4xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %26 = stablehlo.power %25, %24 : tensor<4xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %28 = stablehlo.convert %19 : (tensor<8x1xi32>) -> tensor<8x1xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %30 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %31 = stablehlo.multiply %29, %30 : tensor<8x4xf32>
    %32 = stablehlo.cosine %31 : tensor<8x4xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %34 = stablehlo.convert %33 : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x4xbf16>
    %35 = stablehlo.sine %31 : tensor<8x4xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %37 = stablehlo.convert %36 : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x4xbf16>
    %38 = stablehlo.slice %15 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xbf16>) -> tensor<8x8x4x4xbf16>
    %39 = stablehlo.slice %15 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xbf16>) -> tensor<8x8x4x4xbf16>
    %40 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xbf16>) -> tensor<8x8x4x4xbf16>
    %41 = stablehlo.multiply %38, %40 : tensor<8x8x4x4xbf16>
    %42 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xbf16>) -> tensor<8x8x4x4xbf16>
    %43 = stablehlo.multiply %39, %42 : tensor<8x8x4x4xbf16>
    %44 = stablehlo.subtract %41, %43 : tensor<8x8x4x4xbf16>
    %45 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xbf16>) -> tensor<8x8x4x4xbf16>
    %46 = stablehlo.multiply %39, %45 : tensor<8x8x4x4xbf16>
    %47 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xbf16>) -> tensor<8x8x4x4xbf16>
    %48 = stablehlo.multiply %38, %47 : tensor<8x8x4x4xbf16>
    %49 = stablehlo.add %46, %48 : tensor<8x8x4x4xbf16>
    %50 = stablehlo.concatenate %44, %49, dim = 3 : (tensor<8x8x4x4xbf16>, tensor<8x8x4x4xbf16>) -> tensor<8x8x4x8xbf16>
    %51 = stablehlo.iota dim = 0 : tensor<8xi32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %53 = stablehlo.iota dim = 0 : tensor<4xi32>
    %54 = stablehlo.negate %53 : tensor<4xi32>
    %55 = stablehlo.convert %54 : (tensor<4xi32>) -> tensor<4xf32>
    %cst_4 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %57 = stablehlo.divide %55, %56 : tensor<4xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %59 = stablehlo.power %58, %57 : tensor<4xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %61 = stablehlo.convert %52 : (tensor<8x1xi32>) -> tensor<8x1xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
    %63 = stablehlo.broadcast_in_dim %60, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %64 = stablehlo.multiply %62, %63 : tensor<8x4xf32>
    %65 = stablehlo.cosine %64 : tensor<8x4xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %67 = stablehlo.convert %66 : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x4xbf16>
    %68 = stablehlo.sine %64 : tensor<8x4xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [1, 3] : (tensor<8x4xf32>) -> tensor<1x8x1x4xf32>
    %70 = stablehlo.convert %69 : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x4xbf16>
    %71 = stablehlo.slice %16 [0:8, 0:8, 0:4, 0:4] : (tensor<8x8x4x8xbf16>) -> tensor<8x8x4x4xbf16>
    %72 = stablehlo.slice %16 [0:8, 0:8, 0:4, 4:8] : (tensor<8x8x4x8xbf16>) -> tensor<8x8x4x4xbf16>
    %73 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xbf16>) -> tensor<8x8x4x4xbf16>
    %74 = stablehlo.multiply %71, %73 : tensor<8x8x4x4xbf16>
    %75 = stablehlo.broadcast_in_dim %70, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xbf16>) -> tensor<8x8x4x4xbf16>
    %76 = stablehlo.multiply %72, %75 : tensor<8x8x4x4xbf16>
    %77 = stablehlo.subtract %74, %76 : tensor<8x8x4x4xbf16>
    %78 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xbf16>) -> tensor<8x8x4x4xbf16>
    %79 = stablehlo.multiply %72, %78 : tensor<8x8x4x4xbf16>
    %80 = stablehlo.broadcast_in_dim %70, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xbf16>) -> tensor<8x8x4x4xbf16>
    %81 = stablehlo.multiply %71, %80 : tensor<8x8x4x4xbf16>
    %82 = stablehlo.add %79, %81 : tensor<8x8x4x4xbf16>
    %83 = stablehlo.concatenate %77, %82, dim = 3 : (tensor<8x8x4x4xbf16>, tensor<8x8x4x4xbf16>) -> tensor<8x8x4x8xbf16>
    %84 = stablehlo.reshape %50 : (tensor<8x8x4x8xbf16>) -> tensor<8x8x4x1x8xbf16>
    %85 = stablehlo.dot_general %83, %84, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xbf16>, tensor<8x8x4x1x8xbf16>) -> tensor<8x4x8x8x1xbf16>
    %86 = stablehlo.transpose %85, dims = [0, 1, 4, 3, 2] : (tensor<8x4x8x8x1xbf16>) -> tensor<8x4x1x8x8xbf16>
    %cst_6 = stablehlo.constant dense<3.535160e-01> : tensor<bf16>
    %87 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<bf16>) -> tensor<8x4x1x8x8xbf16>
    %88 = stablehlo.multiply %86, %87 : tensor<8x4x1x8x8xbf16>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %89 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %90 = call @tril(%89) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %91 = call @_where(%90, %88, %cst_7) : (tensor<8x8xi1>, tensor<8x4x1x8x8xbf16>, tensor<f32>) -> tensor<8x4x1x8x8xbf16>
    %cst_8 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %92 = stablehlo.reduce(%91 init: %cst_8) applies stablehlo.maximum across dimensions = [4] : (tensor<8x4x1x8x8xbf16>, tensor<bf16>) -> tensor<8x4x1x8xbf16>
    %cst_9 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %93 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<bf16>) -> tensor<8x4x1x8xbf16>
    %94 = stablehlo.maximum %93, %92 : tensor<8x4x1x8xbf16>
    %95 = stablehlo.broadcast_in_dim %94, dims = [0, 1, 2, 3] : (tensor<8x4x1x8xbf16>) -> tensor<8x4x1x8x1xbf16>
    %96 = stablehlo.broadcast_in_dim %95, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xbf16>) -> tensor<8x4x1x8x8xbf16>
    %97 = stablehlo.subtract %91, %96 : tensor<8x4x1x8x8xbf16>
    %98 = stablehlo.exponential %97 : tensor<8x4x1x8x8xbf16>
    %99 = stablehlo.convert %98 : (tensor<8x4x1x8x8xbf16>) -> tensor<8x4x1x8x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %100 = stablehlo.reduce(%99 init: %cst_10) applies stablehlo.add across dimensions = [4] : (tensor<8x4x1x8x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %101 = stablehlo.broadcast_in_dim %100, dims = [0, 1, 2, 3] : (tensor<8x4x1x8xf32>) -> tensor<8x4x1x8x1xf32>
    %102 = stablehlo.convert %101 : (tensor<8x4x1x8x1xf32>) -> tensor<8x4x1x8x1xbf16>
    %103 = stablehlo.broadcast_in_dim %102, dims = [0, 1, 2, 3, 4] : (tensor<8x4x1x8x1xbf16>) -> tensor<8x4x1x8x8xbf16>
    %104 = stablehlo.divide %98, %103 : tensor<8x4x1x8x8xbf16>
    %105 = stablehlo.dot_general %17, %104, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xbf16>, tensor<8x4x1x8x8xbf16>) -> tensor<8x4x8x1x8xbf16>
    %106 = stablehlo.transpose %105, dims = [0, 4, 1, 3, 2] : (tensor<8x4x8x1x8xbf16>) -> tensor<8x8x4x1x8xbf16>
    %107 = stablehlo.reshape %106 : (tensor<8x8x4x1x8xbf16>) -> tensor<8x8x4x8xbf16>
    %108 = stablehlo.dot_general %107, %arg6, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4x8xbf16>, tensor<4x8x32xbf16>) -> tensor<8x8x32xbf16>
    %109 = stablehlo.add %arg9, %108 : tensor<8x8x32xbf16>
    %110 = stablehlo.multiply %109, %109 : tensor<8x8x32xbf16>
    %111 = stablehlo.convert %110 : (tensor<8x8x32xbf16>) -> tensor<8x8x32xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %112 = stablehlo.reduce(%111 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<8x8x32xf32>, tensor<f32>) -> tensor<8x8xf32>
    %113 = stablehlo.broadcast_in_dim %112, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x1xf32>
    %cst_12 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x8x1xf32>
    %115 = stablehlo.divide %113, %114 : tensor<8x8x1xf32>
    %116 = stablehlo.convert %115 : (tensor<8x8x1xf32>) -> tensor<8x8x1xbf16>
    %cst_13 = stablehlo.constant dense<9.983770e-07> : tensor<bf16>
    %117 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<bf16>) -> tensor<8x8x1xbf16>
    %118 = stablehlo.add %116, %117 : tensor<8x8x1xbf16>
    %119 = stablehlo.rsqrt %118 : tensor<8x8x1xbf16>
    %120 = stablehlo.broadcast_in_dim %119, dims = [0, 1, 2] : (tensor<8x8x1xbf16>) -> tensor<8x8x32xbf16>
    %121 = stablehlo.multiply %109, %120 : tensor<8x8x32xbf16>
    %122 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<32xbf16>) -> tensor<1x1x32xbf16>
    %123 = stablehlo.broadcast_in_dim %122, dims = [0, 1, 2] : (tensor<1x1x32xbf16>) -> tensor<8x8x32xbf16>
    %124 = stablehlo.multiply %121, %123 : tensor<8x8x32xbf16>
    %125 = stablehlo.dot_general %124, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xbf16>, tensor<32x32xbf16>) -> tensor<8x8x32xbf16>
    %126 = call @silu(%125) : (tensor<8x8x32xbf16>) -> tensor<8x8x32xbf16>
    %127 = stablehlo.dot_general %124, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xbf16>, tensor<32x32xbf16>) -> tensor<8x8x32xbf16>
    %128 = stablehlo.multiply %126, %127 : tensor<8x8x32xbf16>
    %129 = stablehlo.dot_general %128, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xbf16>, tensor<32x32xbf16>) -> tensor<8x8x32xbf16>
    %130 = stablehlo.add %109, %129 : tensor<8x8x32xbf16>
    return %130 : tensor<8x8x32xbf16>
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
  func.func private @_where(%arg0: tensor<8x8xi1>, %arg1: tensor<8x4x1x8x8xbf16>, %arg2: tensor<f32>) -> tensor<8x4x1x8x8xbf16> {
    %0 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3, 4] : (tensor<8x8xi1>) -> tensor<8x4x1x8x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<8x4x1x8x8xbf16>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x4x1x8x8xi1>, tensor<8x4x1x8x8xbf16>
    return %3 : tensor<8x4x1x8x8xbf16>
  }
  func.func private @silu(%arg0: tensor<8x8x32xbf16>) -> tensor<8x8x32xbf16> {
    %0 = stablehlo.negate %arg0 : tensor<8x8x32xbf16>
    %1 = stablehlo.exponential %0 : tensor<8x8x32xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<8x8x32xbf16>
    %3 = stablehlo.add %2, %1 : tensor<8x8x32xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<8x8x32xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<8x8x32xbf16>
    %6 = stablehlo.multiply %arg0, %5 : tensor<8x8x32xbf16>
    return %6 : tensor<8x8x32xbf16>
  }
}
