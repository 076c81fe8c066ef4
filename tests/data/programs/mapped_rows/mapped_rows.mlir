module @jit_mapped_rows attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<64x8xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<64xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<64x16xf32>) -> tensor<8x8x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:4 = stablehlo.while(%iterArg = %0, %iterArg_2 = %arg1, %iterArg_3 = %c, %iterArg_4 = %1) : tensor<8x8x16xf32>, tensor<16x8xf32>, tensor<i32>, tensor<8x8x8xf32>
    cond {
      %c_5 = stablehlo.constant dense<8> : tensor<i32>
      %6 = stablehlo.compare LT, %iterArg_3, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_3) : (tensor<8x8x16xf32>, tensor<i32>) -> tensor<8x16xf32>
      %7 = func.call @closed_call(%iterArg_2, %6) : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
      %8 = func.call @dynamic_update_index_in_dim(%iterArg_4, %7, %iterArg_3) : (tensor<8x8x8xf32>, tensor<8x8xf32>, tensor<i32>) -> tensor<8x8x8xf32>
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %9 = stablehlo.add %iterArg_3, %c_5 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_2, %9, %8 : tensor<8x8x16xf32>, tensor<16x8xf32>, tensor<i32>, tensor<8x8x8xf32>
    }
    %3 = stablehlo.reshape %2#3 : (tensor<8x8x8xf32>) -> tensor<64x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5:3 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %c_1, %iterArg_3 = %4) : tensor<64x16xf32>, tensor<i32>, tensor<64xf32>
    cond {
      %c_4 = stablehlo.constant dense<64> : tensor<i32>
      %6 = stablehlo.compare LT, %iterArg_2, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6 = func.call @dynamic_index_in_dim_0(%iterArg, %iterArg_2) : (tensor<64x16xf32>, tensor<i32>) -> tensor<16xf32>
      %7 = func.call @closed_call_1(%6) : (tensor<16xf32>) -> tensor<f32>
      %8 = func.call @dynamic_update_index_in_dim_2(%iterArg_3, %7, %iterArg_2) : (tensor<64xf32>, tensor<f32>, tensor<i32>) -> tensor<64xf32>
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %9 = stablehlo.add %iterArg_2, %c_4 : tensor<i32>
      stablehlo.return %iterArg, %9, %8 : tensor<64x16xf32>, tensor<i32>, tensor<64xf32>
    }
    return %3, %5#2 : tensor<64x8xf32>, tensor<64xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<8x8x16xf32>, %arg1: tensor<i32>) -> tensor<8x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 16] : (tensor<8x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
  func.func private @closed_call(%arg0: tensor<16x8xf32>, %arg1: tensor<8x16xf32>) -> tensor<8x8xf32> {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.tanh %0 : tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<8x8x8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<i32>) -> tensor<8x8x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<8x8x8xf32>, tensor<1x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x8x8xf32>
    return %1 : tensor<8x8x8xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<64x16xf32>, %arg1: tensor<i32>) -> tensor<16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 16] : (tensor<64x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16xf32>) -> tensor<16xf32>
    return %1 : tensor<16xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<16xf32>) -> tensor<f32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim_2(%arg0: tensor<64xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<64xf32>, tensor<1xf32>, tensor<i32>) -> tensor<64xf32>
    return %1 : tensor<64xf32>
  }
}
