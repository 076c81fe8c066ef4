module @jit_viterbi attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg1: tensor<12x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}, {}]>}) -> (tensor<12x16xi32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}]>}, tensor<16xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}) {
    %0 = stablehlo.slice %arg1 [0:1, 0:16, 0:8] : (tensor<12x16x8xf32>) -> tensor<1x16x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x8xf32>) -> tensor<16x8xf32>
    %2 = stablehlo.slice %arg1 [1:12, 0:16, 0:8] : (tensor<12x16x8xf32>) -> tensor<11x16x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<11x16x8xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %4:5 = stablehlo.while(%iterArg = %2, %iterArg_3 = %arg0, %iterArg_4 = %c_0, %iterArg_5 = %1, %iterArg_6 = %3) : tensor<11x16x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<16x8xf32>, tensor<11x16x8xi32>
    cond {
      %c_7 = stablehlo.constant dense<11> : tensor<i32>
      %11 = stablehlo.compare LT, %iterArg_4, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    } do {
      %11 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_4) : (tensor<11x16x8xf32>, tensor<i32>) -> tensor<16x8xf32>
      %12:2 = func.call @closed_call(%iterArg_3, %iterArg_5, %11) : (tensor<8x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xi32>)
      %13 = func.call @dynamic_update_index_in_dim(%iterArg_6, %12#1, %iterArg_4) : (tensor<11x16x8xi32>, tensor<16x8xi32>, tensor<i32>) -> tensor<11x16x8xi32>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %14 = stablehlo.add %iterArg_4, %c_7 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %14, %12#0, %13 : tensor<11x16x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<16x8xf32>, tensor<11x16x8xi32>
    }
    %5 = call @argmax_0(%4#3) : (tensor<16x8xf32>) -> tensor<16xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<11x16xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7:4 = stablehlo.while(%iterArg = %4#4, %iterArg_3 = %c_2, %iterArg_4 = %5, %iterArg_5 = %6) : tensor<11x16x8xi32>, tensor<i32>, tensor<16xi32>, tensor<11x16xi32>
    cond {
      %c_6 = stablehlo.constant dense<11> : tensor<i32>
      %11 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    } do {
      %c_6 = stablehlo.constant dense<11> : tensor<i32>
      %11 = stablehlo.subtract %c_6, %iterArg_3 : tensor<i32>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %12 = stablehlo.subtract %11, %c_7 : tensor<i32>
      %13 = func.call @dynamic_index_in_dim_1(%iterArg, %12) : (tensor<11x16x8xi32>, tensor<i32>) -> tensor<16x8xi32>
      %14:2 = func.call @closed_call_2(%iterArg_4, %13) : (tensor<16xi32>, tensor<16x8xi32>) -> (tensor<16xi32>, tensor<16xi32>)
      %15 = func.call @dynamic_update_index_in_dim_3(%iterArg_5, %14#1, %12) : (tensor<11x16xi32>, tensor<16xi32>, tensor<i32>) -> tensor<11x16xi32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %16 = stablehlo.add %iterArg_3, %c_8 : tensor<i32>
      stablehlo.return %iterArg, %16, %14#0, %15 : tensor<11x16x8xi32>, tensor<i32>, tensor<16xi32>, tensor<11x16xi32>
    }
    %8 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<16xi32>) -> tensor<1x16xi32>
    %9 = stablehlo.concatenate %7#3, %8, dim = 0 : (tensor<11x16xi32>, tensor<1x16xi32>) -> tensor<12x16xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.reduce(%4#3 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<16x8xf32>, tensor<f32>) -> tensor<16xf32>
    return %9, %10 : tensor<12x16xi32>, tensor<16xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<11x16x8xf32>, %arg1: tensor<i32>) -> tensor<16x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 8] : (tensor<11x16x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x8xf32>) -> tensor<16x8xf32>
    return %1 : tensor<16x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x8xf32>, %arg1: tensor<16x8xf32>, %arg2: tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xi32>) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<16x8xf32>) -> tensor<16x8x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<16x8x1xf32>) -> tensor<16x8x8xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x8x8xf32>) -> tensor<16x8x8xf32>
    %4 = stablehlo.add %2, %3 : tensor<16x8x8xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<16x8x8xf32>, tensor<f32>) -> tensor<16x8xf32>
    %6 = stablehlo.add %5, %arg2 : tensor<16x8xf32>
    %7 = call @argmax(%4) : (tensor<16x8x8xf32>) -> tensor<16x8xi32>
    return %6, %7 : tensor<16x8xf32>, tensor<16x8xi32>
  }
  func.func private @argmax(%arg0: tensor<16x8x8xf32>) -> tensor<16x8xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<16x8x8xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<16x8x8xf32>, tensor<16x8x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<16x8xf32>, tensor<16x8xi32>)
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
    return %1#1 : tensor<16x8xi32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<11x16x8xi32>, %arg1: tensor<16x8xi32>, %arg2: tensor<i32>) -> tensor<11x16x8xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<16x8xi32>) -> tensor<1x16x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<11x16x8xi32>, tensor<1x16x8xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<11x16x8xi32>
    return %1 : tensor<11x16x8xi32>
  }
  func.func private @argmax_0(%arg0: tensor<16x8xf32>) -> tensor<16xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<16x8xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<16x8xf32>, tensor<16x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<16xf32>, tensor<16xi32>)
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
    return %1#1 : tensor<16xi32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<11x16x8xi32>, %arg1: tensor<i32>) -> tensor<16x8xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16, 8] : (tensor<11x16x8xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x8xi32>
    %1 = stablehlo.reshape %0 : (tensor<1x16x8xi32>) -> tensor<16x8xi32>
    return %1 : tensor<16x8xi32>
  }
  func.func private @closed_call_2(%arg0: tensor<16xi32>, %arg1: tensor<16x8xi32>) -> (tensor<16xi32>, tensor<16xi32>) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<16xi32>) -> tensor<16x1xi32>
    %1 = call @take_along_axis(%arg1, %0) : (tensor<16x8xi32>, tensor<16x1xi32>) -> tensor<16x1xi32>
    %2 = stablehlo.reshape %1 : (tensor<16x1xi32>) -> tensor<16xi32>
    return %2, %2 : tensor<16xi32>, tensor<16xi32>
  }
  func.func private @take_along_axis(%arg0: tensor<16x8xi32>, %arg1: tensor<16x1xi32>) -> tensor<16x1xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<16x1xi32>, tensor<16x1xi32>) -> tensor<16x1xi1>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<16x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<16x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<16x1xi1>, tensor<16x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<16x1xi32>) -> tensor<16x1x1xi32>
    %c_1 = stablehlo.constant dense<7> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<16x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<16x1x1xi32>, tensor<16x1x1xi32>) -> tensor<16x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<16x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<16x1x1xi32>, tensor<16x1x1xi32>) -> tensor<16x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<16x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<16x1x1xi1>, tensor<i1>) -> tensor<16x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<16x8xi32>, tensor<16x1x1xi32>) -> tensor<16x1xi32>
    %c_4 = stablehlo.constant dense<-2147483648> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<16x1xi32>
    %15 = stablehlo.select %12, %13, %14 : tensor<16x1xi1>, tensor<16x1xi32>
    return %15 : tensor<16x1xi32>
  }
  func.func private @dynamic_update_index_in_dim_3(%arg0: tensor<11x16xi32>, %arg1: tensor<16xi32>, %arg2: tensor<i32>) -> tensor<11x16xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<16xi32>) -> tensor<1x16xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<11x16xi32>, tensor<1x16xi32>, tensor<i32>, tensor<i32>) -> tensor<11x16xi32>
    return %1 : tensor<11x16xi32>
  }
}
