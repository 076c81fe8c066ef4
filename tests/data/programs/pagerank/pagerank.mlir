module @jit_pagerank attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<512xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<512xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<i32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<64xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %2 = stablehlo.compare LT, %arg0, %1, SIGNED : (tensor<512xi32>, tensor<512xi32>) -> tensor<512xi1>
    %c_0 = stablehlo.constant dense<64> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %4 = stablehlo.add %arg0, %3 : tensor<512xi32>
    %5 = stablehlo.select %2, %4, %arg0 : tensor<512xi1>, tensor<512xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<512xi32>) -> tensor<512x1xi32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %8 = "stablehlo.scatter"(%0, %6, %7) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %11 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %11 : tensor<f32>
    }) : (tensor<64xf32>, tensor<512x1xi32>, tensor<512xf32>) -> tensor<64xf32>
    %cst_2 = stablehlo.constant dense<1.562500e-02> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10:6 = stablehlo.while(%iterArg = %8, %iterArg_5 = %arg0, %iterArg_6 = %arg1, %iterArg_7 = %c_3, %iterArg_8 = %9, %iterArg_9 = %cst_4) : tensor<64xf32>, tensor<512xi32>, tensor<512xi32>, tensor<i32>, tensor<64xf32>, tensor<f32>
    cond {
      %c_10 = stablehlo.constant dense<10> : tensor<i32>
      %11 = stablehlo.compare LT, %iterArg_7, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %cst_11 = stablehlo.constant dense<9.99999971E-10> : tensor<f32>
      %12 = stablehlo.compare GT, %iterArg_9, %cst_11, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c_12 = stablehlo.constant dense<false> : tensor<i1>
      %13 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i1>) -> tensor<i1>
      %14 = stablehlo.compare NE, %11, %13, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %15 = stablehlo.convert %14 : tensor<i1>
      %16 = stablehlo.and %15, %12 : tensor<i1>
      stablehlo.return %16 : tensor<i1>
    } do {
      %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %11 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<64xf32>
      %12 = stablehlo.maximum %iterArg, %11 : tensor<64xf32>
      %13 = stablehlo.convert %iterArg_8 : tensor<64xf32>
      %14 = stablehlo.divide %13, %12 : tensor<64xf32>
      %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %15 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<64xf32>
      %c_12 = stablehlo.constant dense<0> : tensor<i32>
      %16 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<512xi32>
      %17 = stablehlo.compare LT, %iterArg_5, %16, SIGNED : (tensor<512xi32>, tensor<512xi32>) -> tensor<512xi1>
      %c_13 = stablehlo.constant dense<64> : tensor<i32>
      %18 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<512xi32>
      %19 = stablehlo.add %iterArg_5, %18 : tensor<512xi32>
      %20 = stablehlo.select %17, %19, %iterArg_5 : tensor<512xi1>, tensor<512xi32>
      %21 = stablehlo.broadcast_in_dim %20, dims = [0] : (tensor<512xi32>) -> tensor<512x1xi32>
      %22 = "stablehlo.gather"(%14, %21) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<64xf32>, tensor<512x1xi32>) -> tensor<512xf32>
      %c_14 = stablehlo.constant dense<0> : tensor<i32>
      %23 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<512xi32>
      %24 = stablehlo.compare LT, %iterArg_6, %23, SIGNED : (tensor<512xi32>, tensor<512xi32>) -> tensor<512xi1>
      %c_15 = stablehlo.constant dense<64> : tensor<i32>
      %25 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<512xi32>
      %26 = stablehlo.add %iterArg_6, %25 : tensor<512xi32>
      %27 = stablehlo.select %24, %26, %iterArg_6 : tensor<512xi1>, tensor<512xi32>
      %28 = stablehlo.broadcast_in_dim %27, dims = [0] : (tensor<512xi32>) -> tensor<512x1xi32>
      %29 = "stablehlo.scatter"(%15, %28, %22) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %39 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %39 : tensor<f32>
      }) : (tensor<64xf32>, tensor<512x1xi32>, tensor<512xf32>) -> tensor<64xf32>
      %cst_16 = stablehlo.constant dense<8.500000e-01> : tensor<f32>
      %30 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<64xf32>
      %31 = stablehlo.multiply %30, %29 : tensor<64xf32>
      %cst_17 = stablehlo.constant dense<2.343750e-03> : tensor<f32>
      %32 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<64xf32>
      %33 = stablehlo.add %32, %31 : tensor<64xf32>
      %c_18 = stablehlo.constant dense<1> : tensor<i32>
      %34 = stablehlo.add %iterArg_7, %c_18 : tensor<i32>
      %35 = stablehlo.convert %iterArg_8 : tensor<64xf32>
      %36 = stablehlo.subtract %33, %35 : tensor<64xf32>
      %37 = stablehlo.abs %36 : tensor<64xf32>
      %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %38 = stablehlo.reduce(%37 init: %cst_19) applies stablehlo.add across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %iterArg, %iterArg_5, %iterArg_6, %34, %33, %38 : tensor<64xf32>, tensor<512xi32>, tensor<512xi32>, tensor<i32>, tensor<64xf32>, tensor<f32>
    }
    return %10#3, %10#4 : tensor<i32>, tensor<64xf32>
  }
}
