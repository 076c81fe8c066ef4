module @jit_scatter_drop attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<24xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg2: tensor<24x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x8xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<64x8xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %c = stablehlo.constant dense<3> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %1 = stablehlo.multiply %arg1, %0 : tensor<24xi32>
    %c_0 = stablehlo.constant dense<16> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %3 = stablehlo.subtract %1, %2 : tensor<24xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %5 = stablehlo.compare LT, %3, %4, SIGNED : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi1>
    %c_2 = stablehlo.constant dense<64> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %7 = stablehlo.add %3, %6 : tensor<24xi32>
    %8 = stablehlo.select %5, %7, %3 : tensor<24xi1>, tensor<24xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<24xi32>) -> tensor<24x1xi32>
    %10 = "stablehlo.scatter"(%arg0, %9, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<64x8xf32>, tensor<24x1xi32>, tensor<24x8xf32>) -> tensor<64x8xf32>
    %c_3 = stablehlo.constant dense<3> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %12 = stablehlo.multiply %arg1, %11 : tensor<24xi32>
    %c_4 = stablehlo.constant dense<16> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %14 = stablehlo.subtract %12, %13 : tensor<24xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %16 = stablehlo.compare LT, %14, %15, SIGNED : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi1>
    %c_6 = stablehlo.constant dense<64> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<24xi32>
    %18 = stablehlo.add %14, %17 : tensor<24xi32>
    %19 = stablehlo.select %16, %18, %14 : tensor<24xi1>, tensor<24xi32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<24xi32>) -> tensor<24x1xi32>
    %c_7 = stablehlo.constant dense<63> : tensor<1xi32>
    %c_8 = stablehlo.constant dense<2147483647> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.minimum %c_7, %21 : tensor<1xi32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [1] : (tensor<1xi32>) -> tensor<24x1xi32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<24x1xi32>
    %25 = stablehlo.clamp %24, %20, %23 : tensor<24x1xi32>
    %26 = "stablehlo.scatter"(%arg0, %25, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %27 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %27 : tensor<f32>
    }) : (tensor<64x8xf32>, tensor<24x1xi32>, tensor<24x8xf32>) -> tensor<64x8xf32>
    return %10, %26 : tensor<64x8xf32>, tensor<64x8xf32>
  }
}
