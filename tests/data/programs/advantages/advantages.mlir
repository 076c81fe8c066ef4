module @jit_advantages attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch", "model"}]>}, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch", "model"}]>}, %arg2: tensor<16x32xi1> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch", "model"}]>}) -> (tensor<16x32xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch", "model"}]>}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1 = stablehlo.slice %arg1 [15:16, 0:32] : (tensor<16x32xf32>) -> tensor<1x32xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x32xf32>) -> tensor<32xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4:7 = stablehlo.while(%iterArg = %arg0, %iterArg_5 = %arg1, %iterArg_6 = %arg2, %iterArg_7 = %c, %iterArg_8 = %0, %iterArg_9 = %2, %iterArg_10 = %3) : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xi1>, tensor<i32>, tensor<32xf32>, tensor<32xf32>, tensor<16x32xf32>
    cond {
      %c_11 = stablehlo.constant dense<16> : tensor<i32>
      %13 = stablehlo.compare LT, %iterArg_7, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    } do {
      %c_11 = stablehlo.constant dense<16> : tensor<i32>
      %13 = stablehlo.subtract %c_11, %iterArg_7 : tensor<i32>
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %14 = stablehlo.subtract %13, %c_12 : tensor<i32>
      %15 = func.call @dynamic_index_in_dim(%iterArg, %14) : (tensor<16x32xf32>, tensor<i32>) -> tensor<32xf32>
      %16 = func.call @dynamic_index_in_dim(%iterArg_5, %14) : (tensor<16x32xf32>, tensor<i32>) -> tensor<32xf32>
      %17 = func.call @dynamic_index_in_dim_0(%iterArg_6, %14) : (tensor<16x32xi1>, tensor<i32>) -> tensor<32xi1>
      %18:3 = func.call @closed_call(%iterArg_8, %iterArg_9, %15, %16, %17) : (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xi1>) -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>)
      %19 = func.call @dynamic_update_index_in_dim(%iterArg_10, %18#2, %14) : (tensor<16x32xf32>, tensor<32xf32>, tensor<i32>) -> tensor<16x32xf32>
      %c_13 = stablehlo.constant dense<1> : tensor<i32>
      %20 = stablehlo.add %iterArg_7, %c_13 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_5, %iterArg_6, %20, %18#0, %18#1, %19 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xi1>, tensor<i32>, tensor<32xf32>, tensor<32xf32>, tensor<16x32xf32>
    }
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%4#6 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %6 = stablehlo.divide %5, %cst_2 : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %8 = stablehlo.subtract %4#6, %7 : tensor<16x32xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = call @_std(%4#6, %c_3) : (tensor<16x32xf32>, tensor<i32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %10 = stablehlo.add %9, %cst_4 : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %12 = stablehlo.divide %8, %11 : tensor<16x32xf32>
    return %12 : tensor<16x32xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<16x32xf32>, %arg1: tensor<i32>) -> tensor<32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 32] : (tensor<16x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32xf32>) -> tensor<32xf32>
    return %1 : tensor<32xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<16x32xi1>, %arg1: tensor<i32>) -> tensor<32xi1> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 32] : (tensor<16x32xi1>, tensor<i32>, tensor<i32>) -> tensor<1x32xi1>
    %1 = stablehlo.reshape %0 : (tensor<1x32xi1>) -> tensor<32xi1>
    return %1 : tensor<32xi1>
  }
  func.func private @closed_call(%arg0: tensor<32xf32>, %arg1: tensor<32xf32>, %arg2: tensor<32xf32>, %arg3: tensor<32xf32>, %arg4: tensor<32xi1>) -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = call @_where(%arg4, %cst, %cst_0) : (tensor<32xi1>, tensor<f32>, tensor<f32>) -> tensor<32xf32>
    %cst_1 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %2 = stablehlo.multiply %1, %arg1 : tensor<32xf32>
    %3 = stablehlo.convert %0 : tensor<32xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<32xf32>
    %5 = stablehlo.add %arg2, %4 : tensor<32xf32>
    %6 = stablehlo.subtract %5, %arg3 : tensor<32xf32>
    %cst_2 = stablehlo.constant dense<9.405000e-01> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %8 = stablehlo.multiply %7, %0 : tensor<32xf32>
    %9 = stablehlo.convert %8 : tensor<32xf32>
    %10 = stablehlo.multiply %9, %arg0 : tensor<32xf32>
    %11 = stablehlo.add %6, %10 : tensor<32xf32>
    return %11, %arg3, %11 : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
  }
  func.func private @_where(%arg0: tensor<32xi1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %2 = stablehlo.select %arg0, %0, %1 : tensor<32xi1>, tensor<32xf32>
    return %2 : tensor<32xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<16x32xf32>, %arg1: tensor<32xf32>, %arg2: tensor<i32>) -> tensor<16x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<16x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<i32>) -> tensor<16x32xf32>
    return %1 : tensor<16x32xf32>
  }
  func.func private @_std(%arg0: tensor<16x32xf32>, %arg1: tensor<i32>) -> tensor<f32> {
    %0 = call @_var(%arg0, %arg1) : (tensor<16x32xf32>, tensor<i32>) -> tensor<f32>
    %1 = stablehlo.sqrt %0 : tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @_var(%arg0: tensor<16x32xf32>, %arg1: tensor<i32>) -> tensor<f32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %cst_0 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<16x32xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<16x32xf32>
    %6 = chlo.square %5 : tensor<16x32xf32> -> tensor<16x32xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<f32>
    %10 = stablehlo.divide %9, %8 : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %12 = call @_where_1(%11, %10, %cst_4) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    return %12 : tensor<f32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<f32>
    return %1 : tensor<f32>
  }
}
