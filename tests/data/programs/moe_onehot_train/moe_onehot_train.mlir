module @jit_moe_onehot_train attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<8x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg2: tensor<8x32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg3: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x8xf32> {jax.result_info = "result[0][0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<8x16x32xf32> {jax.result_info = "result[0][1]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, tensor<8x32x16xf32> {jax.result_info = "result[0][2]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<16x8xf32>) -> tensor<64x8xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %2 = stablehlo.reshape %1 : (tensor<64xf32>) -> tensor<64x1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %4 = stablehlo.compare EQ, %0, %3, FLOAT : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xi1>
    %5 = stablehlo.convert %4 : (tensor<64x8xi1>) -> tensor<64x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %8 = stablehlo.maximum %7, %1 : tensor<64xf32>
    %9 = stablehlo.compare EQ, %1, %8, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %12 = stablehlo.select %9, %10, %11 : tensor<64xi1>, tensor<64xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %14 = stablehlo.compare EQ, %13, %8, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %17 = stablehlo.select %14, %15, %16 : tensor<64xi1>, tensor<64xf32>
    %18 = stablehlo.divide %12, %17 : tensor<64xf32>
    %19 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %21 = stablehlo.subtract %0, %20 : tensor<64x8xf32>
    %22 = stablehlo.exponential %21 : tensor<64x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_7) applies stablehlo.add across dimensions = [1] : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %26 = stablehlo.divide %22, %25 : tensor<64x8xf32>
    %27 = stablehlo.multiply %24, %24 : tensor<64x1xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<64x1xf32>
    %29 = stablehlo.divide %28, %27 : tensor<64x1xf32>
    %values, %indices = chlo.top_k(%26, k = 2) : tensor<64x8xf32> -> (tensor<64x2xf32>, tensor<64x2xi32>)
    %30 = stablehlo.reshape %indices : (tensor<64x2xi32>) -> tensor<64x2x1xi32>
    %31 = call @_one_hot(%indices) : (tensor<64x2xi32>) -> tensor<64x2x8xf32>
    %32 = stablehlo.broadcast_in_dim %values, dims = [0, 1] : (tensor<64x2xf32>) -> tensor<64x2x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<64x2x1xf32>) -> tensor<64x2x8xf32>
    %34 = stablehlo.multiply %31, %33 : tensor<64x2x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<64x2x8xf32>, tensor<f32>) -> tensor<64x8xf32>
    %36 = stablehlo.dot_general %arg1, %arg3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xf32>, tensor<64x16xf32>) -> tensor<8x32x64xf32>
    %37 = stablehlo.transpose %36, dims = [0, 2, 1] : (tensor<8x32x64xf32>) -> tensor<8x64x32xf32>
    %38 = call @relu(%37) : (tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x64x32xf32>
    %40 = stablehlo.compare GT, %37, %39, FLOAT : (tensor<8x64x32xf32>, tensor<8x64x32xf32>) -> tensor<8x64x32xi1>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x64x32xf32>
    %42 = stablehlo.dot_general %arg2, %38, batching_dims = [0] x [0], contracting_dims = [1] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x16xf32>, tensor<8x64x32xf32>) -> tensor<8x16x64xf32>
    %43 = stablehlo.dot_general %35, %42, batching_dims = [0] x [2], contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x8xf32>, tensor<8x16x64xf32>) -> tensor<64x16xf32>
    %44 = stablehlo.subtract %43, %arg3 : tensor<64x16xf32>
    %45 = stablehlo.multiply %44, %44 : tensor<64x16xf32>
    %cst_12 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<64x16xf32>
    %47 = stablehlo.multiply %46, %44 : tensor<64x16xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%45 init: %cst_13) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_14 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %49 = stablehlo.divide %48, %cst_14 : tensor<f32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%26 init: %cst_15) applies stablehlo.add across dimensions = [0] : (tensor<64x8xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_16 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %52 = stablehlo.divide %50, %51 : tensor<8xf32>
    %53 = stablehlo.multiply %52, %52 : tensor<8xf32>
    %cst_17 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %55 = stablehlo.multiply %54, %52 : tensor<8xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.reduce(%53 init: %cst_18) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %57 = stablehlo.add %49, %56 : tensor<f32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %59 = stablehlo.multiply %58, %55 : tensor<8xf32>
    %cst_20 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %61 = stablehlo.divide %59, %60 : tensor<8xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [1] : (tensor<8xf32>) -> tensor<64x8xf32>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_22 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %63 = stablehlo.divide %cst_21, %cst_22 : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [] : (tensor<f32>) -> tensor<64x16xf32>
    %65 = stablehlo.multiply %64, %47 : tensor<64x16xf32>
    %66 = stablehlo.dot_general %65, %35, batching_dims = [0] x [0], contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<64x8xf32>) -> tensor<64x16x8xf32>
    %67 = stablehlo.transpose %66, dims = [2, 1, 0] : (tensor<64x16x8xf32>) -> tensor<8x16x64xf32>
    %68 = stablehlo.dot_general %65, %42, batching_dims = [0] x [2], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<8x16x64xf32>) -> tensor<64x8xf32>
    %69 = stablehlo.dot_general %67, %arg2, batching_dims = [0] x [0], contracting_dims = [1] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x32x16xf32>) -> tensor<8x64x32xf32>
    %70 = stablehlo.dot_general %67, %38, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xf32>, tensor<8x64x32xf32>) -> tensor<8x16x32xf32>
    %71 = stablehlo.transpose %70, dims = [0, 2, 1] : (tensor<8x16x32xf32>) -> tensor<8x32x16xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x64x32xf32>
    %73 = stablehlo.select %40, %69, %72 : tensor<8x64x32xi1>, tensor<8x64x32xf32>
    %74 = stablehlo.transpose %73, dims = [0, 2, 1] : (tensor<8x64x32xf32>) -> tensor<8x32x64xf32>
    %75 = stablehlo.dot_general %74, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x16xf32>) -> tensor<8x32x16xf32>
    %76 = stablehlo.transpose %75, dims = [0, 2, 1] : (tensor<8x32x16xf32>) -> tensor<8x16x32xf32>
    %77 = stablehlo.broadcast_in_dim %68, dims = [0, 2] : (tensor<64x8xf32>) -> tensor<64x2x8xf32>
    %78 = stablehlo.multiply %31, %77 : tensor<64x2x8xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %79 = stablehlo.reduce(%78 init: %cst_24) applies stablehlo.add across dimensions = [2] : (tensor<64x2x8xf32>, tensor<f32>) -> tensor<64x2xf32>
    %80 = stablehlo.reshape %79 : (tensor<64x2xf32>) -> tensor<64x2x1xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %81 = stablehlo.reduce(%80 init: %cst_25) applies stablehlo.add across dimensions = [2] : (tensor<64x2x1xf32>, tensor<f32>) -> tensor<64x2xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<64x8xf32>
    %83 = "stablehlo.scatter"(%82, %30, %81) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %108 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %108 : tensor<f32>
    }) : (tensor<64x8xf32>, tensor<64x2x1xi32>, tensor<64x2xf32>) -> tensor<64x8xf32>
    %84 = stablehlo.add %62, %83 : tensor<64x8xf32>
    %85 = stablehlo.broadcast_in_dim %29, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %86 = stablehlo.multiply %84, %85 : tensor<64x8xf32>
    %87 = stablehlo.multiply %86, %22 : tensor<64x8xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %88 = stablehlo.reduce(%87 init: %cst_27) applies stablehlo.add across dimensions = [1] : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %89 = stablehlo.reshape %88 : (tensor<64xf32>) -> tensor<64x1xf32>
    %90 = stablehlo.negate %89 : tensor<64x1xf32>
    %91 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %92 = stablehlo.divide %84, %91 : tensor<64x8xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %93 = stablehlo.reduce(%90 init: %cst_28) applies stablehlo.add across dimensions = [1] : (tensor<64x1xf32>, tensor<f32>) -> tensor<64xf32>
    %94 = stablehlo.broadcast_in_dim %93, dims = [0] : (tensor<64xf32>) -> tensor<64x8xf32>
    %95 = stablehlo.add %92, %94 : tensor<64x8xf32>
    %96 = stablehlo.multiply %95, %22 : tensor<64x8xf32>
    %97 = stablehlo.dot_general %96, %arg3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x8xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
    %98 = stablehlo.transpose %97, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %cst_29 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %100 = stablehlo.multiply %99, %98 : tensor<16x8xf32>
    %101 = stablehlo.subtract %arg0, %100 : tensor<16x8xf32>
    %cst_30 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<8x16x32xf32>
    %103 = stablehlo.multiply %102, %76 : tensor<8x16x32xf32>
    %104 = stablehlo.subtract %arg1, %103 : tensor<8x16x32xf32>
    %cst_31 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<8x32x16xf32>
    %106 = stablehlo.multiply %105, %71 : tensor<8x32x16xf32>
    %107 = stablehlo.subtract %arg2, %106 : tensor<8x32x16xf32>
    return %101, %104, %107, %57 : tensor<16x8xf32>, tensor<8x16x32xf32>, tensor<8x32x16xf32>, tensor<f32>
  }
  func.func private @_one_hot(%arg0: tensor<64x2xi32>) -> tensor<64x2x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<64x2xi32>) -> tensor<64x2x1xi32>
    %1 = stablehlo.iota dim = 2 : tensor<1x1x8xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<64x2x1xi32>) -> tensor<64x2x8xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x8xi32>) -> tensor<64x2x8xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<64x2x8xi32>, tensor<64x2x8xi32>) -> tensor<64x2x8xi1>
    %5 = stablehlo.convert %4 : (tensor<64x2x8xi1>) -> tensor<64x2x8xf32>
    return %5 : tensor<64x2x8xf32>
  }
  func.func private @relu(%arg0: tensor<8x64x32xf32>) -> tensor<8x64x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x64x32xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<8x64x32xf32>
    return %1 : tensor<8x64x32xf32>
  }
}
