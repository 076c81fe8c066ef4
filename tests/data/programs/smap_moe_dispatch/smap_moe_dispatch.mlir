module @jit_smap_moe_dispatch attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg2: tensor<8x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<64x16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{"x"}, {}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg3: tensor<8x16xf32>, %arg4: tensor<16x8xf32>, %arg5: tensor<1x16x16xf32>) {
      %1 = stablehlo.dot_general %arg3, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %4 = stablehlo.maximum %3, %2 : tensor<8xf32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
      %7 = stablehlo.subtract %1, %6 : tensor<8x8xf32>
      %8 = stablehlo.exponential %7 : tensor<8x8xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
      %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
      %12 = stablehlo.divide %8, %11 : tensor<8x8xf32>
      %13 = func.call @argmax(%12) : (tensor<8x8xf32>) -> tensor<8xi32>
      %14 = func.call @_one_hot(%13) : (tensor<8xi32>) -> tensor<8x8xf32>
      %15 = func.call @cumsum(%14) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %17 = stablehlo.subtract %15, %16 : tensor<8x8xf32>
      %18 = stablehlo.multiply %17, %14 : tensor<8x8xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %19 = stablehlo.reduce(%18 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %20 = stablehlo.convert %19 : (tensor<8xf32>) -> tensor<8xi32>
      %21 = func.call @_one_hot_1(%20) : (tensor<8xi32>) -> tensor<8x4xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %22 = stablehlo.reduce(%18 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %cst_5 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %23 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %24 = stablehlo.compare LT, %22, %23, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
      %25 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<8xi1>) -> tensor<8x1xi1>
      %26 = stablehlo.convert %25 : (tensor<8x1xi1>) -> tensor<8x1xf32>
      %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
      %28 = stablehlo.multiply %21, %27 : tensor<8x4xf32>
      %29 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x1xf32>
      %30 = stablehlo.broadcast_in_dim %28, dims = [0, 2] : (tensor<8x4xf32>) -> tensor<8x1x4xf32>
      %31 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<8x8x1xf32>) -> tensor<8x8x4xf32>
      %32 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<8x1x4xf32>) -> tensor<8x8x4xf32>
      %33 = stablehlo.multiply %31, %32 : tensor<8x8x4xf32>
      %34 = stablehlo.dot_general %33, %arg3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4xf32>, tensor<8x16xf32>) -> tensor<8x4x16xf32>
      %35 = "stablehlo.all_to_all"(%34) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 0 : i64}> : (tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
      %36 = stablehlo.reshape %arg5 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
      %37 = stablehlo.dot_general %35, %36, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x4x16xf32>, tensor<16x16xf32>) -> tensor<8x4x16xf32>
      %38 = stablehlo.tanh %37 : tensor<8x4x16xf32>
      %39 = "stablehlo.all_to_all"(%38) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 0 : i64}> : (tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
      %40 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x1xf32>
      %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2] : (tensor<8x8x1xf32>) -> tensor<8x8x4xf32>
      %42 = stablehlo.multiply %33, %41 : tensor<8x8x4xf32>
      %43 = stablehlo.dot_general %42, %39, contracting_dims = [1, 2] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x4xf32>, tensor<8x4x16xf32>) -> tensor<8x16xf32>
      sdy.return %43 : tensor<8x16xf32>
    } : (tensor<64x16xf32>, tensor<16x8xf32>, tensor<8x16x16xf32>) -> tensor<64x16xf32>
    return %0 : tensor<64x16xf32>
  }
  func.func private @argmax(%arg0: tensor<8x8xf32>) -> tensor<8xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<8x8xf32>, tensor<8x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<8xi32>
  }
  func.func private @_one_hot(%arg0: tensor<8xi32>) -> tensor<8x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x8xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<8x1xi32>) -> tensor<8x8xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x8xi32>) -> tensor<8x8xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %5 = stablehlo.convert %4 : (tensor<8x8xi1>) -> tensor<8x8xf32>
    return %5 : tensor<8x8xf32>
  }
  func.func private @cumsum(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 8, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
  func.func private @_one_hot_1(%arg0: tensor<8xi32>) -> tensor<8x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x4xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<8x1xi32>) -> tensor<8x4xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x4xi32>) -> tensor<8x4xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<8x4xi32>, tensor<8x4xi32>) -> tensor<8x4xi1>
    %5 = stablehlo.convert %4 : (tensor<8x4xi1>) -> tensor<8x4xf32>
    return %5 : tensor<8x4xf32>
  }
}
