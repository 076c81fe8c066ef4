module @jit_smap_grad_outside attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<f32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<32x16xf32> {jax.result_info = "result[1][0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<16x32xf32> {jax.result_info = "result[1][1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
    %0:3 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, []>] manual_axes={"x"} (%arg2: tensor<4x16xf32>, %arg3: tensor<16x4xf32>) {
      %2 = "stablehlo.all_gather"(%arg3) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<16x4xf32>) -> tensor<16x32xf32>
      %3 = stablehlo.dot_general %arg2, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<16x32xf32>) -> tensor<4x32xf32>
      %4 = stablehlo.sine %3 : tensor<4x32xf32>
      %5 = stablehlo.cosine %3 : tensor<4x32xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<f32>
      %7 = "stablehlo.all_reduce"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %8 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %8 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      sdy.return %2, %5, %7 : tensor<16x32xf32>, tensor<4x32xf32>, tensor<f32>
    } : (tensor<32x16xf32>, tensor<16x32xf32>) -> (tensor<128x32xf32>, tensor<32x32xf32>, tensor<f32>)
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1:2 = sdy.manual_computation(%cst, %0#0, %arg0, %0#1) in_shardings=[<@mesh, []>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {"x"}]>] manual_axes={"x"} (%arg2: tensor<f32>, %arg3: tensor<16x32xf32>, %arg4: tensor<4x16xf32>, %arg5: tensor<4x32xf32>) {
      %2 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
      %3 = stablehlo.multiply %2, %arg5 : tensor<4x32xf32>
      %4 = stablehlo.dot_general %3, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32xf32>, tensor<4x16xf32>) -> tensor<32x16xf32>
      %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
      %6 = stablehlo.dot_general %3, %arg3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32xf32>, tensor<16x32xf32>) -> tensor<4x16xf32>
      %7 = "stablehlo.reduce_scatter"(%5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %8 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %8 : tensor<f32>
      }) : (tensor<16x32xf32>) -> tensor<16x4xf32>
      sdy.return %6, %7 : tensor<4x16xf32>, tensor<16x4xf32>
    } : (tensor<f32>, tensor<128x32xf32>, tensor<32x16xf32>, tensor<32x32xf32>) -> (tensor<32x16xf32>, tensor<16x32xf32>)
    return %0#2, %1#0, %1#1 : tensor<f32>, tensor<32x16xf32>, tensor<16x32xf32>
  }
}
