module @jit_histogram_counts attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<512xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<64xi32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %2 = stablehlo.compare LT, %arg0, %1, SIGNED : (tensor<512xi32>, tensor<512xi32>) -> tensor<512xi1>
    %c_1 = stablehlo.constant dense<64> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %4 = stablehlo.add %arg0, %3 : tensor<512xi32>
    %5 = stablehlo.select %2, %4, %arg0 : tensor<512xi1>, tensor<512xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<512xi32>) -> tensor<512x1xi32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %8 = "stablehlo.scatter"(%0, %6, %7) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
      %17 = stablehlo.add %arg2, %arg3 : tensor<i32>
      stablehlo.return %17 : tensor<i32>
    }) : (tensor<64xi32>, tensor<512x1xi32>, tensor<512xi32>) -> tensor<64xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %11 = stablehlo.compare LT, %arg0, %10, SIGNED : (tensor<512xi32>, tensor<512xi32>) -> tensor<512xi1>
    %c_4 = stablehlo.constant dense<64> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %13 = stablehlo.add %arg0, %12 : tensor<512xi32>
    %14 = stablehlo.select %11, %13, %arg0 : tensor<512xi1>, tensor<512xi32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<512xi32>) -> tensor<512x1xi32>
    %16 = "stablehlo.scatter"(%9, %15, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %17 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %17 : tensor<f32>
    }) : (tensor<64xf32>, tensor<512x1xi32>, tensor<512xf32>) -> tensor<64xf32>
    return %8, %16 : tensor<64xi32>, tensor<64xf32>
  }
}
