module @jit_smap_pipeline attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg1: tensor<4x4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<4x4x16xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}, {}]>, <@mesh, [{}, {}, {}]>] out_shardings=[<@mesh, [{}, {}, {}]>] manual_axes={"x"} (%arg2: tensor<1x16x16xf32>, %arg3: tensor<4x4x16xf32>) {
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<8> : tensor<ui32>
      %1 = stablehlo.partition_id : tensor<ui32>
      %2 = stablehlo.divide %1, %c : tensor<ui32>
      %3 = stablehlo.remainder %2, %c_0 : tensor<ui32>
      %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
      %6 = stablehlo.iota dim = 0 : tensor<11xi32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<11x4x16xf32>
      %c_2 = stablehlo.constant dense<0> : tensor<i32>
      %8:7 = stablehlo.while(%iterArg = %6, %iterArg_5 = %arg3, %iterArg_6 = %4, %iterArg_7 = %arg2, %iterArg_8 = %c_2, %iterArg_9 = %5, %iterArg_10 = %7) : tensor<11xi32>, tensor<4x4x16xf32>, tensor<i32>, tensor<1x16x16xf32>, tensor<i32>, tensor<4x16xf32>, tensor<11x4x16xf32>
      cond {
        %c_11 = stablehlo.constant dense<11> : tensor<i32>
        %13 = stablehlo.compare LT, %iterArg_8, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %13 : tensor<i1>
      } do {
        %13 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_8) : (tensor<11xi32>, tensor<i32>) -> tensor<i32>
        %14:2 = func.call @closed_call(%iterArg_5, %iterArg_6, %iterArg_7, %iterArg_9, %13) : (tensor<4x4x16xf32>, tensor<i32>, tensor<1x16x16xf32>, tensor<4x16xf32>, tensor<i32>) -> (tensor<4x16xf32>, tensor<4x16xf32>)
        %15 = func.call @dynamic_update_index_in_dim(%iterArg_10, %14#1, %iterArg_8) : (tensor<11x4x16xf32>, tensor<4x16xf32>, tensor<i32>) -> tensor<11x4x16xf32>
        %c_11 = stablehlo.constant dense<1> : tensor<i32>
        %16 = stablehlo.add %iterArg_8, %c_11 : tensor<i32>
        stablehlo.return %iterArg, %iterArg_5, %iterArg_6, %iterArg_7, %16, %14#0, %15 : tensor<11xi32>, tensor<4x4x16xf32>, tensor<i32>, tensor<1x16x16xf32>, tensor<i32>, tensor<4x16xf32>, tensor<11x4x16xf32>
      }
      %9 = stablehlo.slice %8#6 [7:11, 0:4, 0:16] : (tensor<11x4x16xf32>) -> tensor<4x4x16xf32>
      %c_3 = stablehlo.constant dense<7> : tensor<i32>
      %10 = stablehlo.compare EQ, %4, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %11 = func.call @_where_0(%10, %9, %cst_4) : (tensor<i1>, tensor<4x4x16xf32>, tensor<f32>) -> tensor<4x4x16xf32>
      %12 = "stablehlo.all_reduce"(%11) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %13 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %13 : tensor<f32>
      }) : (tensor<4x4x16xf32>) -> tensor<4x4x16xf32>
      sdy.return %12 : tensor<4x4x16xf32>
    } : (tensor<8x16x16xf32>, tensor<4x4x16xf32>) -> tensor<4x4x16xf32>
    return %0 : tensor<4x4x16xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<11xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<11xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @closed_call(%arg0: tensor<4x4x16xf32>, %arg1: tensor<i32>, %arg2: tensor<1x16x16xf32>, %arg3: tensor<4x16xf32>, %arg4: tensor<i32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
    %c = stablehlo.constant dense<3> : tensor<i32>
    %0 = stablehlo.minimum %arg4, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare LT, %0, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_1 = stablehlo.constant dense<4> : tensor<i32>
    %2 = stablehlo.add %0, %c_1 : tensor<i32>
    %3 = stablehlo.select %1, %2, %0 : tensor<i1>, tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare LT, %c_2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %c_5 = stablehlo.constant dense<4> : tensor<i32>
    %5 = stablehlo.add %c_4, %c_5 : tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.select %4, %5, %c_6 : tensor<i1>, tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.compare LT, %c_7, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %c_10 = stablehlo.constant dense<16> : tensor<i32>
    %8 = stablehlo.add %c_9, %c_10 : tensor<i32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.select %7, %8, %c_11 : tensor<i1>, tensor<i32>
    %10 = stablehlo.dynamic_slice %arg0, %3, %6, %9, sizes = [1, 4, 16] : (tensor<4x4x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x16xf32>
    %11 = stablehlo.reshape %10 : (tensor<1x4x16xf32>) -> tensor<4x16xf32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.compare EQ, %arg1, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %13 = call @_where(%12, %11, %arg3) : (tensor<i1>, tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %14 = stablehlo.reshape %arg2 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    %15 = stablehlo.dot_general %13, %14, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    %16 = stablehlo.tanh %15 : tensor<4x16xf32>
    %17 = "stablehlo.collective_permute"(%16) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    return %17, %16 : tensor<4x16xf32>, tensor<4x16xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<4x16xf32>, %arg2: tensor<4x16xf32>) -> tensor<4x16xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<4x16xf32>
    return %0 : tensor<4x16xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<11x4x16xf32>, %arg1: tensor<4x16xf32>, %arg2: tensor<i32>) -> tensor<11x4x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4x16xf32>) -> tensor<1x4x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<11x4x16xf32>, tensor<1x4x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<11x4x16xf32>
    return %1 : tensor<11x4x16xf32>
  }
  func.func private @_where_0(%arg0: tensor<i1>, %arg1: tensor<4x4x16xf32>, %arg2: tensor<f32>) -> tensor<4x4x16xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x4x16xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<4x4x16xf32>
    return %2 : tensor<4x4x16xf32>
  }
}
