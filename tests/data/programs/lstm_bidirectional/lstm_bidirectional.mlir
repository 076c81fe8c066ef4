module @jit_lstm_bidirectional attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<6x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}, {}]>}, %arg1: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg2: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> (tensor<6x16x32xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}, {}]>}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x16x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:7 = stablehlo.while(%iterArg = %arg0, %iterArg_4 = %arg1, %iterArg_5 = %arg2, %iterArg_6 = %c, %iterArg_7 = %0, %iterArg_8 = %1, %iterArg_9 = %2) : tensor<6x16x8xf32>, tensor<8x64xf32>, tensor<16x64xf32>, tensor<i32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<6x16x16xf32>
    cond {
      %c_10 = stablehlo.constant dense<6> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg_6, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_6) : (tensor<6x16x8xf32>, tensor<i32>) -> tensor<16x8xf32>
      %8:3 = func.call @closed_call(%iterArg_4, %iterArg_5, %iterArg_7, %iterArg_8, %7) : (tensor<8x64xf32>, tensor<16x64xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x8xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>)
      %9 = func.call @dynamic_update_index_in_dim(%iterArg_9, %8#2, %iterArg_6) : (tensor<6x16x16xf32>, tensor<16x16xf32>, tensor<i32>) -> tensor<6x16x16xf32>
      %c_10 = stablehlo.constant dense<1> : tensor<i32>
      %10 = stablehlo.add %iterArg_6, %c_10 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_4, %iterArg_5, %10, %8#0, %8#1, %9 : tensor<6x16x8xf32>, tensor<8x64xf32>, tensor<16x64xf32>, tensor<i32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<6x16x16xf32>
    }
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x16x16xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %5:7 = stablehlo.while(%iterArg = %arg0, %iterArg_4 = %arg1, %iterArg_5 = %arg2, %iterArg_6 = %c_3, %iterArg_7 = %0, %iterArg_8 = %1, %iterArg_9 = %4) : tensor<6x16x8xf32>, tensor<8x64xf32>, tensor<16x64xf32>, tensor<i32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<6x16x16xf32>
    cond {
      %c_10 = stablehlo.constant dense<6> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg_6, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %c_10 = stablehlo.constant dense<6> : tensor<i32>
      %7 = stablehlo.subtract %c_10, %iterArg_6 : tensor<i32>
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.subtract %7, %c_11 : tensor<i32>
      %9 = func.call @dynamic_index_in_dim(%iterArg, %8) : (tensor<6x16x8xf32>, tensor<i32>) -> tensor<16x8xf32>
      %10:3 = func.call @closed_call(%iterArg_4, %iterArg_5, %iterArg_7, %iterArg_8, %9) : (tensor<8x64xf32>, tensor<16x64xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x8xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>)
      %11 = func.call @dynamic_update_index_in_dim(%iterArg_9, %10#2, %8) : (tensor<6x16x16xf32>, tensor<16x16xf32>, tensor<i32>) -> tensor<6x16x16xf32>
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %12 = stablehlo.add %iterArg_6, %c_12 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_4, %iterArg_5, %12, %10#0, %10#1, %11 : tensor<6x16x8xf32>, tensor<8x64xf32>, tensor<16x64xf32>, tensor<i32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<6x16x16xf32>
    }
    %6 = stablehlo.concatenate %3#6, %5#6, dim = 2 : (tensor<6x16x16xf32>, tensor<6x16x16xf32>) -> tensor<6x16x32xf32>
    return %6 : tensor<6x16x32xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<6x16x8xf32>, %arg1: tensor<i32>) -> tensor<16x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 8] : (tensor<6x16x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x8xf32>) -> tensor<16x8xf32>
    return %1 : tensor<16x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x64xf32>, %arg1: tensor<16x64xf32>, %arg2: tensor<16x16xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16x8xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
    %0 = stablehlo.dot_general %arg4, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x64xf32>) -> tensor<16x64xf32>
    %1 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %2 = stablehlo.add %0, %1 : tensor<16x64xf32>
    %3 = stablehlo.slice %2 [0:16, 0:16] : (tensor<16x64xf32>) -> tensor<16x16xf32>
    %4 = stablehlo.slice %2 [0:16, 16:32] : (tensor<16x64xf32>) -> tensor<16x16xf32>
    %5 = stablehlo.slice %2 [0:16, 32:48] : (tensor<16x64xf32>) -> tensor<16x16xf32>
    %6 = stablehlo.slice %2 [0:16, 48:64] : (tensor<16x64xf32>) -> tensor<16x16xf32>
    %7 = stablehlo.negate %4 : tensor<16x16xf32>
    %8 = stablehlo.exponential %7 : tensor<16x16xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %10 = stablehlo.add %9, %8 : tensor<16x16xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %12 = stablehlo.divide %11, %10 : tensor<16x16xf32>
    %13 = stablehlo.multiply %12, %arg3 : tensor<16x16xf32>
    %14 = stablehlo.negate %3 : tensor<16x16xf32>
    %15 = stablehlo.exponential %14 : tensor<16x16xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %17 = stablehlo.add %16, %15 : tensor<16x16xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %19 = stablehlo.divide %18, %17 : tensor<16x16xf32>
    %20 = stablehlo.tanh %5 : tensor<16x16xf32>
    %21 = stablehlo.multiply %19, %20 : tensor<16x16xf32>
    %22 = stablehlo.add %13, %21 : tensor<16x16xf32>
    %23 = stablehlo.negate %6 : tensor<16x16xf32>
    %24 = stablehlo.exponential %23 : tensor<16x16xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %26 = stablehlo.add %25, %24 : tensor<16x16xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %28 = stablehlo.divide %27, %26 : tensor<16x16xf32>
    %29 = stablehlo.tanh %22 : tensor<16x16xf32>
    %30 = stablehlo.multiply %28, %29 : tensor<16x16xf32>
    return %30, %22, %30 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<6x16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<i32>) -> tensor<6x16x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<16x16xf32>) -> tensor<1x16x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x16x16xf32>, tensor<1x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x16x16xf32>
    return %1 : tensor<6x16x16xf32>
  }
}
