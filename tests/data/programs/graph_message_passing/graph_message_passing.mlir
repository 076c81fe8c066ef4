module @jit_graph_message_passing attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, %arg1: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg2: tensor<256xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}, %arg3: tensor<256xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}) -> (tensor<64x32xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<256xi32>
    %1 = stablehlo.compare LT, %arg2, %0, SIGNED : (tensor<256xi32>, tensor<256xi32>) -> tensor<256xi1>
    %c_0 = stablehlo.constant dense<64> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<256xi32>
    %3 = stablehlo.add %arg2, %2 : tensor<256xi32>
    %4 = stablehlo.select %1, %3, %arg2 : tensor<256xi1>, tensor<256xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<256xi32>) -> tensor<256x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<256x1xi32>) -> tensor<256x32xf32>
    %7 = stablehlo.dot_general %6, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x32xf32>, tensor<32x32xf32>) -> tensor<256x32xf32>
    %8 = call @relu(%7) : (tensor<256x32xf32>) -> tensor<256x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %10 = stablehlo.broadcast_in_dim %arg3, dims = [0] : (tensor<256xi32>) -> tensor<256x1xi32>
    %11 = "stablehlo.scatter"(%9, %10, %8) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %18 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %18 : tensor<f32>
    }) : (tensor<64x32xf32>, tensor<256x1xi32>, tensor<256x32xf32>) -> tensor<64x32xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %13 = stablehlo.broadcast_in_dim %arg3, dims = [0] : (tensor<256xi32>) -> tensor<256x1xi32>
    %14 = "stablehlo.scatter"(%12, %13, %8) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %18 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
      stablehlo.return %18 : tensor<f32>
    }) : (tensor<64x32xf32>, tensor<256x1xi32>, tensor<256x32xf32>) -> tensor<64x32xf32>
    %15 = stablehlo.is_finite %14 : (tensor<64x32xf32>) -> tensor<64x32xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = call @_where(%15, %14, %cst_2) : (tensor<64x32xi1>, tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
    %17 = stablehlo.add %11, %16 : tensor<64x32xf32>
    return %17 : tensor<64x32xf32>
  }
  func.func private @relu(%arg0: tensor<256x32xf32>) -> tensor<256x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<256x32xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<256x32xf32>
    return %1 : tensor<256x32xf32>
  }
  func.func private @_where(%arg0: tensor<64x32xi1>, %arg1: tensor<64x32xf32>, %arg2: tensor<f32>) -> tensor<64x32xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<64x32xi1>, tensor<64x32xf32>
    return %2 : tensor<64x32xf32>
  }
}
