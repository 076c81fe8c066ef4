module @jit_sparse_product attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}, %arg1: tensor<256xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}, %arg2: tensor<256xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}, %arg3: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> (tensor<64x16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x16xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<256xf32>) -> tensor<256x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<256xi32>
    %3 = stablehlo.compare LT, %arg2, %2, SIGNED : (tensor<256xi32>, tensor<256xi32>) -> tensor<256xi1>
    %c_0 = stablehlo.constant dense<32> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<256xi32>
    %5 = stablehlo.add %arg2, %4 : tensor<256xi32>
    %6 = stablehlo.select %3, %5, %arg2 : tensor<256xi1>, tensor<256xi32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<256xi32>) -> tensor<256x1xi32>
    %8 = "stablehlo.gather"(%arg3, %7) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<32x16xf32>, tensor<256x1xi32>) -> tensor<256x16xf32>
    %9 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<256x1xf32>) -> tensor<256x16xf32>
    %10 = stablehlo.multiply %9, %8 : tensor<256x16xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<256xi32>
    %12 = stablehlo.compare LT, %arg1, %11, SIGNED : (tensor<256xi32>, tensor<256xi32>) -> tensor<256xi1>
    %c_2 = stablehlo.constant dense<64> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<256xi32>
    %14 = stablehlo.add %arg1, %13 : tensor<256xi32>
    %15 = stablehlo.select %12, %14, %arg1 : tensor<256xi1>, tensor<256xi32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<256xi32>) -> tensor<256x1xi32>
    %17 = "stablehlo.scatter"(%0, %16, %10) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %18 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %18 : tensor<f32>
    }) : (tensor<64x16xf32>, tensor<256x1xi32>, tensor<256x16xf32>) -> tensor<64x16xf32>
    return %17 : tensor<64x16xf32>
  }
}
