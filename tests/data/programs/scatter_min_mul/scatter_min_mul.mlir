module @jit_scatter_min_mul attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<64x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, %arg1: tensor<24xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg2: tensor<24x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> (tensor<64x16xi32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, tensor<64x16xi32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, tensor<64x16xi32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi1>
    %c_0 = stablehlo.constant dense<64> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<24xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<24xi1>, tensor<24xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<24xi32>) -> tensor<24x1xi32>
    %6 = "stablehlo.scatter"(%arg0, %5, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      %27 = stablehlo.minimum %arg3, %arg4 : tensor<i32>
      stablehlo.return %27 : tensor<i32>
    }) : (tensor<64x16xi32>, tensor<24x1xi32>, tensor<24x16xi32>) -> tensor<64x16xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %8 = stablehlo.compare LT, %arg1, %7, SIGNED : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi1>
    %c_2 = stablehlo.constant dense<64> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %10 = stablehlo.add %arg1, %9 : tensor<24xi32>
    %11 = stablehlo.select %8, %10, %arg1 : tensor<24xi1>, tensor<24xi32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<24xi32>) -> tensor<24x1xi32>
    %13 = "stablehlo.scatter"(%arg0, %12, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      %27 = stablehlo.multiply %arg3, %arg4 : tensor<i32>
      stablehlo.return %27 : tensor<i32>
    }) : (tensor<64x16xi32>, tensor<24x1xi32>, tensor<24x16xi32>) -> tensor<64x16xi32>
    %14 = stablehlo.slice %arg2 [0:24, 0:1] : (tensor<24x16xi32>) -> tensor<24x1xi32>
    %15 = stablehlo.reshape %14 : (tensor<24x1xi32>) -> tensor<24xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %16 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %17 = stablehlo.compare LT, %arg1, %16, SIGNED : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi1>
    %c_4 = stablehlo.constant dense<64> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %19 = stablehlo.add %arg1, %18 : tensor<24xi32>
    %20 = stablehlo.select %17, %19, %arg1 : tensor<24xi1>, tensor<24xi32>
    %c_5 = stablehlo.constant dense<3> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %22 = stablehlo.convert %21 : tensor<24xi32>
    %23 = stablehlo.broadcast_in_dim %20, dims = [0] : (tensor<24xi32>) -> tensor<24x1xi32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [0] : (tensor<24xi32>) -> tensor<24x1xi32>
    %25 = stablehlo.concatenate %23, %24, dim = 1 : (tensor<24x1xi32>, tensor<24x1xi32>) -> tensor<24x2xi32>
    %26 = "stablehlo.scatter"(%arg0, %25, %15) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      %27 = stablehlo.maximum %arg3, %arg4 : tensor<i32>
      stablehlo.return %27 : tensor<i32>
    }) : (tensor<64x16xi32>, tensor<24x2xi32>, tensor<24xi32>) -> tensor<64x16xi32>
    return %6, %13, %26 : tensor<64x16xi32>, tensor<64x16xi32>, tensor<64x16xi32>
  }
}
