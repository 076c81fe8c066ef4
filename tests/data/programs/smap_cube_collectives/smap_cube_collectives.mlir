module @jit_smap_cube_collectives attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "fsdp"=2, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "fsdp", size = 2 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"fsdp", "model"}]>}) -> (tensor<4x8xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}]>}, tensor<64x4xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"data", "model"}, {"fsdp"}]>}, tensor<8x16xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"fsdp", "model"}]>}) {
    %0:3 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data"}, {"fsdp", "model"}]>] out_shardings=[<@mesh, [{}, {"fsdp"}]>, <@mesh, [{"data", "model"}, {"fsdp"}]>, <@mesh, [{"data"}, {"fsdp", "model"}]>] manual_axes={"data", "fsdp", "model"} (%arg1: tensor<4x4xf32>) {
      %1 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 4, 5], [2, 3, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %25 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %25 : tensor<f32>
      }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %2 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> : (tensor<4x4xf32>) -> tensor<16x4xf32>
      %3 = "stablehlo.reduce_scatter"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3], [4, 6], [5, 7]]> : tensor<4x2xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %25 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %25 : tensor<f32>
      }) : (tensor<16x4xf32>) -> tensor<16x2xf32>
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<2> : tensor<ui32>
      %4 = stablehlo.partition_id : tensor<ui32>
      %5 = stablehlo.divide %4, %c : tensor<ui32>
      %6 = stablehlo.remainder %5, %c_0 : tensor<ui32>
      %7 = stablehlo.convert %6 : (tensor<ui32>) -> tensor<i32>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.multiply %7, %c_1 : tensor<i32>
      %c_2 = stablehlo.constant dense<0> : tensor<i32>
      %9 = stablehlo.add %c_2, %8 : tensor<i32>
      %c_3 = stablehlo.constant dense<2> : tensor<ui32>
      %c_4 = stablehlo.constant dense<2> : tensor<ui32>
      %10 = stablehlo.partition_id : tensor<ui32>
      %11 = stablehlo.divide %10, %c_3 : tensor<ui32>
      %12 = stablehlo.remainder %11, %c_4 : tensor<ui32>
      %13 = stablehlo.convert %12 : (tensor<ui32>) -> tensor<i32>
      %c_5 = stablehlo.constant dense<2> : tensor<i32>
      %14 = stablehlo.multiply %13, %c_5 : tensor<i32>
      %15 = stablehlo.add %9, %14 : tensor<i32>
      %c_6 = stablehlo.constant dense<4> : tensor<ui32>
      %c_7 = stablehlo.constant dense<2> : tensor<ui32>
      %16 = stablehlo.partition_id : tensor<ui32>
      %17 = stablehlo.divide %16, %c_6 : tensor<ui32>
      %18 = stablehlo.remainder %17, %c_7 : tensor<ui32>
      %19 = stablehlo.convert %18 : (tensor<ui32>) -> tensor<i32>
      %c_8 = stablehlo.constant dense<4> : tensor<i32>
      %20 = stablehlo.multiply %19, %c_8 : tensor<i32>
      %21 = stablehlo.add %15, %20 : tensor<i32>
      %22 = stablehlo.convert %21 : (tensor<i32>) -> tensor<f32>
      %23 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
      %24 = stablehlo.multiply %arg1, %23 : tensor<4x4xf32>
      sdy.return %1, %3, %24 : tensor<4x4xf32>, tensor<16x2xf32>, tensor<4x4xf32>
    } : (tensor<8x16xf32>) -> (tensor<4x8xf32>, tensor<64x4xf32>, tensor<8x16xf32>)
    return %0#0, %0#1, %0#2 : tensor<4x8xf32>, tensor<64x4xf32>, tensor<8x16xf32>
  }
}
