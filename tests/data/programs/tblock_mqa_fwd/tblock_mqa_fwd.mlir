module @jit_tblock_mqa_fwd attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "batch", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg1: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg2: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg3: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg4: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg5: tensor<32x1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %arg6: tensor<4x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg7: tensor<32x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg8: tensor<32x1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}, %arg9: tensor<8x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) -> (tensor<8x8x32xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) {
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
    %14 = stablehlo.dot_general %12, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x1x8xf32>) -> tensor<8x8x1x8xf32>
    %15 = stablehlo.dot_general %12, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32xf32>, tensor<32x1x8xf32>) -> tensor<8x8x1x8xf32>
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
    %65 = stablehlo.slice %14 [0:8, 0:8, 0:1, 0:4] : (tensor<8x8x1x8xf32>) -> tensor<8x8x1x4xf32>
    %66 = stablehlo.slice %14 [0:8, 0:8, 0:1, 4:8] : (tensor<8x8x1x8xf32>) -> tensor<8x8x1x4xf32>
    %67 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x1x4xf32>
    %68 = stablehlo.multiply %65, %67 : tensor<8x8x1x4xf32>
    %69 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x1x4xf32>
    %70 = stablehlo.multiply %66, %69 : tensor<8x8x1x4xf32>
    %71 = stablehlo.subtract %68, %70 : tensor<8x8x1x4xf32>
    %72 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x1x4xf32>
    %73 = stablehlo.multiply %66, %72 : tensor<8x8x1x4xf32>
    %74 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] : (tensor<1x8x1x4xf32>) -> tensor<8x8x1x4xf32>
    %75 = stablehlo.multiply %65, %74 : tensor<8x8x1x4xf32>
    %76 = stablehlo.add %73, %75 : tensor<8x8x1x4xf32>
    %77 = stablehlo.concatenate %71, %76, dim = 3 : (tensor<8x8x1x4xf32>, tensor<8x8x1x4xf32>) -> tensor<8x8x1x8xf32>
    %78 = stablehlo.reshape %46 : (tensor<8x8x4x8xf32>) -> tensor<8x8x1x4x8xf32>
    %79 = stablehlo.dot_general %77, %78, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x8x1x8xf32>, tensor<8x8x1x4x8xf32>) -> tensor<8x1x8x8x4xf32>
    %80 = stablehlo.transpose %79, dims = [0, 1, 4, 3, 2] : (tensor<8x1x8x8x4xf32>) -> tensor<8x1x4x8x8xf32>
    %cst_6 = stablehlo.constant dense<0.353553385> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x1x4x8x8xf32>
    %82 = stablehlo.multiply %80, %81 : tensor<8x1x4x8x8xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %83 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<8x8xi1>
    %84 = call @tril(%83) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %85 = call @_where(%84, %82, %cst_7) : (tensor<8x8xi1>, tensor<8x1x4x8x8xf32>, tensor<f32>) -> tensor<8x1x4x8x8xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %86 = stablehlo.reduce(%85 init: %cst_8) applies stablehlo.maximum across dimensions = [4] : (tensor<8x1x4x8x8xf32>, tensor<f32>) -> tensor<8x1x4x8xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x1x4x8xf32>
    %88 = stablehlo.maximum %87, %86 : tensor<8x1x4x8xf32>
    %89 = stablehlo.broadcast_in_dim %88, dims = [0, 1, 2, 3] : (tensor<8x1x4x8xf32>) -> tensor<8x1x4x8x1xf32>
    %90 = stablehlo.broadcast_in_dim %89, dims = [0, 1, 2, 3, 4] : (tensor<8x1x4x8x1xf32>) -> tensor<8x1x4x8x8xf32>
    %91 = stablehlo.subtract %85, %90 : tensor<8x1x4x8x8xf32>
    %92 = stablehlo.exponential %91 : tensor<8x1x4x8x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %93 = stablehlo.reduce(%92 init: %cst_10) applies stablehlo.add across dimensions = [4] : (tensor<8x1x4x8x8xf32>, tensor<f32>) -> tensor<8x1x4x8xf32>
    %94 = stablehlo.broadcast_in_dim %93, dims = [0, 1, 2, 3] : (tensor<8x1x4x8xf32>) -> tensor<8x1x4x8x1xf32>
    %95 = stablehlo.broadcast_in_dim %94, dims = [0, 1, 2, 3, 4] : (tensor<8x1x4x8x1xf32>) -> tensor<8x1x4x8x8xf32>
    %96 = stablehlo.divide %92, %95 : tensor<8x1x4x8x8xf32>
    %97 = stablehlo.dot_general %15, %96, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<8x8x1x8xf32>, tensor<8x1x4x8x8xf32>) -> tensor<8x1x8x4x8xf32>
    %98 = stablehlo.transpose %97, dims = [0, 4, 1, 3, 2] : (tensor<8x1x8x4x8xf32>) -> tensor<8x8x1x4x8xf32>
    %99 = stablehlo.reshape %98 : (tensor<8x8x1x4x8xf32>) -> tensor<8x8x4x8xf32>
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
    return %120 : tensor<8x8x32xf32>
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
  func.func private @_where(%arg0: tensor<8x8xi1>, %arg1: tensor<8x1x4x8x8xf32>, %arg2: tensor<f32>) -> tensor<8x1x4x8x8xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3, 4] : (tensor<8x8xi1>) -> tensor<8x1x4x8x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x1x4x8x8xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x1x4x8x8xi1>, tensor<8x1x4x8x8xf32>
    return %3 : tensor<8x1x4x8x8xf32>
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
}
