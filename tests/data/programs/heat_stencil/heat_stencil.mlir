module @jit_heat_stencil attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x32xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.slice %arg0 [1:63, 1:31] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<62x30xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<62x30xf32>
    %3 = stablehlo.slice %arg0 [0:62, 1:31] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %4 = stablehlo.slice %arg0 [2:64, 1:31] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %5 = stablehlo.add %3, %4 : tensor<62x30xf32>
    %6 = stablehlo.slice %arg0 [1:63, 0:30] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %7 = stablehlo.add %5, %6 : tensor<62x30xf32>
    %8 = stablehlo.slice %arg0 [1:63, 2:32] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %9 = stablehlo.add %7, %8 : tensor<62x30xf32>
    %cst_0 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<62x30xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<62x30xf32>
    %12 = stablehlo.add %2, %11 : tensor<62x30xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %15 = stablehlo.concatenate %13, %14, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %16 = "stablehlo.scatter"(%arg0, %15, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      stablehlo.return %arg2 : tensor<f32>
    }) : (tensor<64x32xf32>, tensor<2xi32>, tensor<62x30xf32>) -> tensor<64x32xf32>
    %17 = stablehlo.slice %16 [1:63, 1:31] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<62x30xf32>
    %19 = stablehlo.multiply %17, %18 : tensor<62x30xf32>
    %20 = stablehlo.slice %16 [0:62, 1:31] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %21 = stablehlo.slice %16 [2:64, 1:31] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %22 = stablehlo.add %20, %21 : tensor<62x30xf32>
    %23 = stablehlo.slice %16 [1:63, 0:30] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %24 = stablehlo.add %22, %23 : tensor<62x30xf32>
    %25 = stablehlo.slice %16 [1:63, 2:32] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %26 = stablehlo.add %24, %25 : tensor<62x30xf32>
    %cst_3 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<62x30xf32>
    %28 = stablehlo.multiply %27, %26 : tensor<62x30xf32>
    %29 = stablehlo.add %19, %28 : tensor<62x30xf32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %30 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c_5 = stablehlo.constant dense<1> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %32 = stablehlo.concatenate %30, %31, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %33 = "stablehlo.scatter"(%16, %32, %29) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      stablehlo.return %arg2 : tensor<f32>
    }) : (tensor<64x32xf32>, tensor<2xi32>, tensor<62x30xf32>) -> tensor<64x32xf32>
    %34 = stablehlo.slice %33 [1:63, 1:31] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %cst_6 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<62x30xf32>
    %36 = stablehlo.multiply %34, %35 : tensor<62x30xf32>
    %37 = stablehlo.slice %33 [0:62, 1:31] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %38 = stablehlo.slice %33 [2:64, 1:31] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %39 = stablehlo.add %37, %38 : tensor<62x30xf32>
    %40 = stablehlo.slice %33 [1:63, 0:30] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %41 = stablehlo.add %39, %40 : tensor<62x30xf32>
    %42 = stablehlo.slice %33 [1:63, 2:32] : (tensor<64x32xf32>) -> tensor<62x30xf32>
    %43 = stablehlo.add %41, %42 : tensor<62x30xf32>
    %cst_7 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<62x30xf32>
    %45 = stablehlo.multiply %44, %43 : tensor<62x30xf32>
    %46 = stablehlo.add %36, %45 : tensor<62x30xf32>
    %c_8 = stablehlo.constant dense<1> : tensor<i32>
    %47 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c_9 = stablehlo.constant dense<1> : tensor<i32>
    %48 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %49 = stablehlo.concatenate %47, %48, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %50 = "stablehlo.scatter"(%33, %49, %46) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      stablehlo.return %arg2 : tensor<f32>
    }) : (tensor<64x32xf32>, tensor<2xi32>, tensor<62x30xf32>) -> tensor<64x32xf32>
    %51 = call @_roll_static(%50) : (tensor<64x32xf32>) -> tensor<64x32xf32>
    %52 = call @_roll_static_0(%50) : (tensor<64x32xf32>) -> tensor<64x32xf32>
    %53 = stablehlo.subtract %51, %52 : tensor<64x32xf32>
    %cst_10 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %55 = stablehlo.multiply %54, %53 : tensor<64x32xf32>
    %56 = stablehlo.add %50, %55 : tensor<64x32xf32>
    return %56 : tensor<64x32xf32>
  }
  func.func private @_roll_static(%arg0: tensor<64x32xf32>) -> tensor<64x32xf32> {
    %0 = stablehlo.slice %arg0 [63:64, 0:32] : (tensor<64x32xf32>) -> tensor<1x32xf32>
    %1 = stablehlo.slice %arg0 [0:63, 0:32] : (tensor<64x32xf32>) -> tensor<63x32xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x32xf32>, tensor<63x32xf32>) -> tensor<64x32xf32>
    return %2 : tensor<64x32xf32>
  }
  func.func private @_roll_static_0(%arg0: tensor<64x32xf32>) -> tensor<64x32xf32> {
    %0 = stablehlo.slice %arg0 [1:64, 0:32] : (tensor<64x32xf32>) -> tensor<63x32xf32>
    %1 = stablehlo.slice %arg0 [0:1, 0:32] : (tensor<64x32xf32>) -> tensor<1x32xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<63x32xf32>, tensor<1x32xf32>) -> tensor<64x32xf32>
    return %2 : tensor<64x32xf32>
  }
}
