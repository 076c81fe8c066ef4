module @jit_bit_tricks attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "fsdp"=2, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "fsdp", size = 2 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {"model"}]>}) -> (tensor<16x8xui32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {"model"}]>}, tensor<16x8xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {"model"}]>}, tensor<16x8x4xui8> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}, tensor<16x8xi32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {"model"}]>}, tensor<16x8xi32> {jax.result_info = "result[4]", sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {"model"}]>}) {
    %0 = stablehlo.convert %arg0 : (tensor<16x8xi32>) -> tensor<16x8xui32>
    %c = stablehlo.constant dense<2654435761> : tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<16x8xui32>
    %2 = stablehlo.multiply %0, %1 : tensor<16x8xui32>
    %c_0 = stablehlo.constant dense<15> : tensor<ui32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<16x8xui32>
    %4 = stablehlo.shift_right_logical %2, %3 : tensor<16x8xui32>
    %5 = stablehlo.xor %2, %4 : tensor<16x8xui32>
    %c_1 = stablehlo.constant dense<3> : tensor<ui32>
    %6 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui32>) -> tensor<16x8xui32>
    %7 = stablehlo.shift_left %2, %6 : tensor<16x8xui32>
    %8 = stablehlo.or %5, %7 : tensor<16x8xui32>
    %9 = stablehlo.popcnt %8 : tensor<16x8xui32>
    %10 = stablehlo.count_leading_zeros %8 : tensor<16x8xui32>
    %11 = stablehlo.add %9, %10 : tensor<16x8xui32>
    %c_2 = stablehlo.constant dense<9> : tensor<ui32>
    %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui32>) -> tensor<16x8xui32>
    %13 = stablehlo.shift_right_logical %8, %12 : tensor<16x8xui32>
    %c_3 = stablehlo.constant dense<1065353216> : tensor<ui32>
    %14 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui32>) -> tensor<16x8xui32>
    %15 = stablehlo.or %13, %14 : tensor<16x8xui32>
    %16 = stablehlo.bitcast_convert %15 : (tensor<16x8xui32>) -> tensor<16x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %18 = stablehlo.subtract %16, %17 : tensor<16x8xf32>
    %19 = stablehlo.bitcast_convert %8 : (tensor<16x8xui32>) -> tensor<16x8x4xui8>
    %c_4 = stablehlo.constant dense<7> : tensor<i32>
    %20 = call @floor_divide(%arg0, %c_4) : (tensor<16x8xi32>, tensor<i32>) -> tensor<16x8xi32>
    %21 = stablehlo.negate %arg0 : tensor<16x8xi32>
    %c_5 = stablehlo.constant dense<5> : tensor<i32>
    %22 = call @remainder(%21, %c_5) : (tensor<16x8xi32>, tensor<i32>) -> tensor<16x8xi32>
    %23 = stablehlo.subtract %20, %22 : tensor<16x8xi32>
    %c_6 = stablehlo.constant dense<8> : tensor<i32>
    %24 = call @remainder(%arg0, %c_6) : (tensor<16x8xi32>, tensor<i32>) -> tensor<16x8xi32>
    %25 = stablehlo.convert %24 : (tensor<16x8xi32>) -> tensor<16x8xi4>
    %26 = stablehlo.convert %25 : (tensor<16x8xi4>) -> tensor<16x8xi32>
    return %11, %18, %19, %23, %26 : tensor<16x8xui32>, tensor<16x8xf32>, tensor<16x8x4xui8>, tensor<16x8xi32>, tensor<16x8xi32>
  }
  func.func private @floor_divide(%arg0: tensor<16x8xi32>, %arg1: tensor<i32>) -> tensor<16x8xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<16x8xi32>
    %2 = stablehlo.divide %arg0, %1 : tensor<16x8xi32>
    %3 = stablehlo.sign %arg0 : tensor<16x8xi32>
    %4 = stablehlo.sign %0 : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<16x8xi32>
    %6 = stablehlo.compare NE, %3, %5, SIGNED : (tensor<16x8xi32>, tensor<16x8xi32>) -> tensor<16x8xi1>
    %7 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<16x8xi32>
    %8 = stablehlo.remainder %arg0, %7 : tensor<16x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x8xi32>
    %10 = stablehlo.compare NE, %8, %9, SIGNED : (tensor<16x8xi32>, tensor<16x8xi32>) -> tensor<16x8xi1>
    %11 = stablehlo.and %6, %10 : tensor<16x8xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<16x8xi32>
    %13 = stablehlo.subtract %2, %12 : tensor<16x8xi32>
    %14 = call @_where(%11, %13, %2) : (tensor<16x8xi1>, tensor<16x8xi32>, tensor<16x8xi32>) -> tensor<16x8xi32>
    return %14 : tensor<16x8xi32>
  }
  func.func private @_where(%arg0: tensor<16x8xi1>, %arg1: tensor<16x8xi32>, %arg2: tensor<16x8xi32>) -> tensor<16x8xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<16x8xi1>, tensor<16x8xi32>
    return %0 : tensor<16x8xi32>
  }
  func.func private @remainder(%arg0: tensor<16x8xi32>, %arg1: tensor<i32>) -> tensor<16x8xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where_0(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<16x8xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<16x8xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<16x8xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<16x8xi32>, tensor<16x8xi32>) -> tensor<16x8xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<16x8xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<16x8xi32>, tensor<16x8xi32>) -> tensor<16x8xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<16x8xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<16x8xi1>, tensor<16x8xi1>) -> tensor<16x8xi1>
    %12 = stablehlo.and %11, %6 : tensor<16x8xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<16x8xi32>
    %14 = stablehlo.add %4, %13 : tensor<16x8xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<16x8xi1>, tensor<16x8xi32>
    return %15 : tensor<16x8xi32>
  }
  func.func private @_where_0(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
