module @jit_smap_vocab_softmax attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, %arg1: tensor<32xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}) -> (tensor<32x64xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<f32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0:3 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"batch"}, {"model"}]>, <@mesh, [{"batch"}]>] out_shardings=[<@mesh, [{"batch"}, {"model"}]>, <@mesh, []>, <@mesh, []>] manual_axes={"batch", "model"} (%arg2: tensor<8x32xf32>, %arg3: tensor<8xi32>) {
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<2> : tensor<ui32>
      %1 = stablehlo.partition_id : tensor<ui32>
      %2 = stablehlo.divide %1, %c : tensor<ui32>
      %3 = stablehlo.remainder %2, %c_0 : tensor<ui32>
      %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i32>
      %c_1 = stablehlo.constant dense<32> : tensor<i32>
      %5 = stablehlo.multiply %4, %c_1 : tensor<i32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %6 = stablehlo.reduce(%arg2 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
      %7 = "stablehlo.all_reduce"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %39 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
        stablehlo.return %39 : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x32xf32>
      %10 = stablehlo.subtract %arg2, %9 : tensor<8x32xf32>
      %11 = stablehlo.exponential %10 : tensor<8x32xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
      %13 = "stablehlo.all_reduce"(%12) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %39 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %39 : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      %14 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<i32>) -> tensor<8xi32>
      %15 = stablehlo.subtract %arg3, %14 : tensor<8xi32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %16 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<8xi32>
      %17 = stablehlo.compare GE, %15, %16, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
      %c_4 = stablehlo.constant dense<32> : tensor<i32>
      %18 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<8xi32>
      %19 = stablehlo.compare LT, %15, %18, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
      %20 = stablehlo.and %17, %19 : tensor<8xi1>
      %c_5 = stablehlo.constant dense<0> : tensor<i32>
      %c_6 = stablehlo.constant dense<31> : tensor<i32>
      %21 = func.call @clip(%15, %c_5, %c_6) : (tensor<8xi32>, tensor<i32>, tensor<i32>) -> tensor<8xi32>
      %22 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
      %23 = func.call @take_along_axis(%arg2, %22) : (tensor<8x32xf32>, tensor<8x1xi32>) -> tensor<8x1xf32>
      %24 = stablehlo.reshape %23 : (tensor<8x1xf32>) -> tensor<8xf32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %25 = func.call @_where(%20, %24, %cst_7) : (tensor<8xi1>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
      %26 = "stablehlo.all_reduce"(%25) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %39 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %39 : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      %27 = stablehlo.log %13 : tensor<8xf32>
      %28 = stablehlo.add %27, %7 : tensor<8xf32>
      %29 = stablehlo.subtract %28, %26 : tensor<8xf32>
      %30 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
      %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x32xf32>
      %32 = stablehlo.divide %11, %31 : tensor<8x32xf32>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %33 = stablehlo.reduce(%29 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      %cst_9 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
      %34 = stablehlo.divide %33, %cst_9 : tensor<f32>
      %35 = "stablehlo.all_reduce"(%34) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %39 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %39 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_10 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %36 = stablehlo.divide %35, %cst_10 : tensor<f32>
      %cst_11 = stablehlo.constant dense<0x7F800000> : tensor<f32>
      %37 = stablehlo.reduce(%29 init: %cst_11) applies stablehlo.minimum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      %38 = "stablehlo.all_reduce"(%37) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %39 = stablehlo.minimum %arg4, %arg5 : tensor<f32>
        stablehlo.return %39 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      sdy.return %32, %36, %38 : tensor<8x32xf32>, tensor<f32>, tensor<f32>
    } : (tensor<32x64xf32>, tensor<32xi32>) -> (tensor<32x64xf32>, tensor<f32>, tensor<f32>)
    return %0#0, %0#1, %0#2 : tensor<32x64xf32>, tensor<f32>, tensor<f32>
  }
  func.func private @clip(%arg0: tensor<8xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<8xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<8xi32>
    %3 = stablehlo.convert %arg2 : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %5 = stablehlo.minimum %4, %2 : tensor<8xi32>
    return %5 : tensor<8xi32>
  }
  func.func private @take_along_axis(%arg0: tensor<8x32xf32>, %arg1: tensor<8x1xi32>) -> tensor<8x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x1xi1>
    %c_0 = stablehlo.constant dense<32> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<8x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<8x1xi1>, tensor<8x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<8x1xi32>) -> tensor<8x1x1xi32>
    %c_1 = stablehlo.constant dense<31> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<8x1x1xi32>, tensor<8x1x1xi32>) -> tensor<8x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<8x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<8x1x1xi32>, tensor<8x1x1xi32>) -> tensor<8x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<8x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<8x1x1xi1>, tensor<i1>) -> tensor<8x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<8x32xf32>, tensor<8x1x1xi32>) -> tensor<8x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<8x1xi1>, tensor<8x1xf32>
    return %15 : tensor<8x1xf32>
  }
  func.func private @_where(%arg0: tensor<8xi1>, %arg1: tensor<8xf32>, %arg2: tensor<f32>) -> tensor<8xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<8xi1>, tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}
