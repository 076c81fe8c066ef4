module @jit_smap_layer_gather attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "fsdp"=2, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "fsdp", size = 2 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<3x32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"model"}]>}, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {}]>}) -> (tensor<16x32xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"fsdp", "data"}, {}]>}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{?}, {"fsdp", ?}, {?}]>, <@mesh, [{"fsdp", ?}, {?}]>] out_shardings=[<@mesh, [{"fsdp", ?}, {?}]>] manual_axes={"fsdp"} (%arg2: tensor<3x16x32xf32>, %arg3: tensor<8x32xf32>) {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %1:3 = stablehlo.while(%iterArg = %arg2, %iterArg_0 = %c, %iterArg_1 = %arg3) : tensor<3x16x32xf32>, tensor<i32>, tensor<8x32xf32>
      cond {
        %c_2 = stablehlo.constant dense<3> : tensor<i32>
        %4 = sdy.sharding_constraint %iterArg_0 <@mesh, []> : tensor<i32>
        %5 = sdy.sharding_constraint %c_2 <@mesh, []> : tensor<i32>
        %6 = stablehlo.compare LT, %4, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %6 : tensor<i1>
      } do {
        %4 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_0) : (tensor<3x16x32xf32>, tensor<i32>) -> tensor<16x32xf32>
        %5 = func.call @closed_call(%iterArg_1, %4) : (tensor<8x32xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
        %c_2 = stablehlo.constant dense<1> : tensor<i32>
        %6 = sdy.sharding_constraint %iterArg_0 <@mesh, []> : tensor<i32>
        %7 = sdy.sharding_constraint %c_2 <@mesh, []> : tensor<i32>
        %8 = stablehlo.add %6, %7 : tensor<i32>
        %9 = sdy.sharding_constraint %8 <@mesh, []> : tensor<i32>
        stablehlo.return %iterArg, %9, %5 : tensor<3x16x32xf32>, tensor<i32>, tensor<8x32xf32>
      }
      %2 = sdy.sharding_constraint %1#1 <@mesh, []> : tensor<i32>
      %3 = sdy.sharding_constraint %1#2 <@mesh, [{?}, {?}]> : tensor<8x32xf32>
      sdy.return %3 : tensor<8x32xf32>
    } : (tensor<3x32x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    return %0 : tensor<16x32xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x16x32xf32>, %arg1: tensor<i32>) -> tensor<16x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 32] : (tensor<3x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x32xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {?}, {?}]> : tensor<1x16x32xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x16x32xf32>) -> tensor<16x32xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{?}, {?}]> : tensor<16x32xf32>
    return %3 : tensor<16x32xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x32xf32>, %arg1: tensor<16x32xf32>) -> tensor<8x32xf32> {
    %0 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3], [4, 6], [5, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<16x32xf32>) -> tensor<32x32xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{?}, {?}]> : tensor<8x32xf32>
    %3 = stablehlo.tanh %2 : tensor<8x32xf32>
    %4 = sdy.sharding_constraint %3 <@mesh, [{?}, {?}]> : tensor<8x32xf32>
    return %4 : tensor<8x32xf32>
  }
}
