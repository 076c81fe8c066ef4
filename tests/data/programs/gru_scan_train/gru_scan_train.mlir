module @jit_gru_scan_train attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg2: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg3: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg4: tensor<10x32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %arg5: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x16xf32> {jax.result_info = "result[0]['uc']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<16x32xf32> {jax.result_info = "result[0]['ug']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<8x16xf32> {jax.result_info = "result[0]['wc']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<8x32xf32> {jax.result_info = "result[0]['wg']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10x32x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<10x32x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<10x32x32xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<10x32x16xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<10x32x16xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<10x32x16xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<10x32x16xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<10x32x16xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<10x32x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %10:16 = stablehlo.while(%iterArg = %arg4, %iterArg_31 = %arg3, %iterArg_32 = %arg1, %iterArg_33 = %arg2, %iterArg_34 = %arg0, %iterArg_35 = %c, %iterArg_36 = %0, %iterArg_37 = %1, %iterArg_38 = %2, %iterArg_39 = %3, %iterArg_40 = %4, %iterArg_41 = %5, %iterArg_42 = %6, %iterArg_43 = %7, %iterArg_44 = %8, %iterArg_45 = %9) : tensor<10x32x8xf32>, tensor<8x32xf32>, tensor<16x32xf32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x32xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>
    cond {
      %c_46 = stablehlo.constant dense<10> : tensor<i32>
      %49 = stablehlo.compare LT, %iterArg_35, %c_46, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %49 : tensor<i1>
    } do {
      %49 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_35) : (tensor<10x32x8xf32>, tensor<i32>) -> tensor<32x8xf32>
      %50:10 = func.call @closed_call(%iterArg_31, %iterArg_32, %iterArg_33, %iterArg_34, %iterArg_36, %49) : (tensor<8x32xf32>, tensor<16x32xf32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<32x16xf32>, tensor<32x8xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x32xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>)
      %51 = func.call @dynamic_update_index_in_dim(%iterArg_37, %50#1, %iterArg_35) : (tensor<10x32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> tensor<10x32x16xf32>
      %52 = func.call @dynamic_update_index_in_dim(%iterArg_38, %50#2, %iterArg_35) : (tensor<10x32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> tensor<10x32x16xf32>
      %53 = func.call @dynamic_update_index_in_dim_0(%iterArg_39, %50#3, %iterArg_35) : (tensor<10x32x32xf32>, tensor<32x32xf32>, tensor<i32>) -> tensor<10x32x32xf32>
      %54 = func.call @dynamic_update_index_in_dim(%iterArg_40, %50#4, %iterArg_35) : (tensor<10x32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> tensor<10x32x16xf32>
      %55 = func.call @dynamic_update_index_in_dim(%iterArg_41, %50#5, %iterArg_35) : (tensor<10x32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> tensor<10x32x16xf32>
      %56 = func.call @dynamic_update_index_in_dim(%iterArg_42, %50#6, %iterArg_35) : (tensor<10x32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> tensor<10x32x16xf32>
      %57 = func.call @dynamic_update_index_in_dim(%iterArg_43, %50#7, %iterArg_35) : (tensor<10x32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> tensor<10x32x16xf32>
      %58 = func.call @dynamic_update_index_in_dim(%iterArg_44, %50#8, %iterArg_35) : (tensor<10x32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> tensor<10x32x16xf32>
      %59 = func.call @dynamic_update_index_in_dim(%iterArg_45, %50#9, %iterArg_35) : (tensor<10x32x16xf32>, tensor<32x16xf32>, tensor<i32>) -> tensor<10x32x16xf32>
      %c_46 = stablehlo.constant dense<1> : tensor<i32>
      %60 = stablehlo.add %iterArg_35, %c_46 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_31, %iterArg_32, %iterArg_33, %iterArg_34, %60, %50#0, %51, %52, %53, %54, %55, %56, %57, %58, %59 : tensor<10x32x8xf32>, tensor<8x32xf32>, tensor<16x32xf32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<i32>, tensor<32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x32xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>
    }
    %11 = stablehlo.subtract %10#6, %arg5 : tensor<32x16xf32>
    %12 = stablehlo.multiply %11, %11 : tensor<32x16xf32>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %14 = stablehlo.multiply %13, %11 : tensor<32x16xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%12 init: %cst_10) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_11 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %16 = stablehlo.divide %15, %cst_11 : tensor<f32>
    %17 = stablehlo.multiply %10#7, %10#7 : tensor<10x32x16xf32>
    %cst_12 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<10x32x16xf32>
    %19 = stablehlo.multiply %18, %10#7 : tensor<10x32x16xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%17 init: %cst_13) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<10x32x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_14 = stablehlo.constant dense<5.120000e+03> : tensor<f32>
    %21 = stablehlo.divide %20, %cst_14 : tensor<f32>
    %cst_15 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %22 = stablehlo.multiply %cst_15, %21 : tensor<f32>
    %23 = stablehlo.add %16, %22 : tensor<f32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %cst_17 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.multiply %cst_17, %cst_18 : tensor<f32>
    %cst_19 = stablehlo.constant dense<5.120000e+03> : tensor<f32>
    %26 = stablehlo.divide %25, %cst_19 : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<f32>) -> tensor<10x32x16xf32>
    %28 = stablehlo.multiply %27, %19 : tensor<10x32x16xf32>
    %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_21 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %29 = stablehlo.divide %cst_20, %cst_21 : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %31 = stablehlo.multiply %30, %14 : tensor<32x16xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %c_26 = stablehlo.constant dense<0> : tensor<i32>
    %36:18 = stablehlo.while(%iterArg = %28, %iterArg_31 = %arg4, %iterArg_32 = %10#8, %iterArg_33 = %10#9, %iterArg_34 = %10#10, %iterArg_35 = %10#11, %iterArg_36 = %10#12, %iterArg_37 = %10#13, %iterArg_38 = %10#14, %iterArg_39 = %10#15, %iterArg_40 = %arg1, %iterArg_41 = %arg0, %iterArg_42 = %c_26, %iterArg_43 = %32, %iterArg_44 = %33, %iterArg_45 = %34, %iterArg_46 = %35, %iterArg_47 = %31) : tensor<10x32x16xf32>, tensor<10x32x8xf32>, tensor<10x32x16xf32>, tensor<10x32x32xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<16x32xf32>, tensor<16x16xf32>, tensor<i32>, tensor<8x32xf32>, tensor<16x32xf32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<32x16xf32>
    cond {
      %c_48 = stablehlo.constant dense<10> : tensor<i32>
      %49 = stablehlo.compare LT, %iterArg_42, %c_48, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %49 : tensor<i1>
    } do {
      %c_48 = stablehlo.constant dense<10> : tensor<i32>
      %49 = stablehlo.subtract %c_48, %iterArg_42 : tensor<i32>
      %c_49 = stablehlo.constant dense<1> : tensor<i32>
      %50 = stablehlo.subtract %49, %c_49 : tensor<i32>
      %51 = func.call @dynamic_index_in_dim_1(%iterArg, %50) : (tensor<10x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %52 = func.call @dynamic_index_in_dim(%iterArg_31, %50) : (tensor<10x32x8xf32>, tensor<i32>) -> tensor<32x8xf32>
      %53 = func.call @dynamic_index_in_dim_1(%iterArg_32, %50) : (tensor<10x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %54 = func.call @dynamic_index_in_dim_2(%iterArg_33, %50) : (tensor<10x32x32xf32>, tensor<i32>) -> tensor<32x32xf32>
      %55 = func.call @dynamic_index_in_dim_1(%iterArg_34, %50) : (tensor<10x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %56 = func.call @dynamic_index_in_dim_1(%iterArg_35, %50) : (tensor<10x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %57 = func.call @dynamic_index_in_dim_1(%iterArg_36, %50) : (tensor<10x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %58 = func.call @dynamic_index_in_dim_1(%iterArg_37, %50) : (tensor<10x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %59 = func.call @dynamic_index_in_dim_1(%iterArg_38, %50) : (tensor<10x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %60 = func.call @dynamic_index_in_dim_1(%iterArg_39, %50) : (tensor<10x32x16xf32>, tensor<i32>) -> tensor<32x16xf32>
      %61:5 = func.call @closed_call_3(%iterArg_40, %iterArg_41, %iterArg_43, %iterArg_44, %iterArg_45, %iterArg_46, %iterArg_47, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60) : (tensor<16x32xf32>, tensor<16x16xf32>, tensor<8x32xf32>, tensor<16x32xf32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x8xf32>, tensor<32x16xf32>, tensor<32x32xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>) -> (tensor<8x32xf32>, tensor<16x32xf32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<32x16xf32>)
      %c_50 = stablehlo.constant dense<1> : tensor<i32>
      %62 = stablehlo.add %iterArg_42, %c_50 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_31, %iterArg_32, %iterArg_33, %iterArg_34, %iterArg_35, %iterArg_36, %iterArg_37, %iterArg_38, %iterArg_39, %iterArg_40, %iterArg_41, %62, %61#0, %61#1, %61#2, %61#3, %61#4 : tensor<10x32x16xf32>, tensor<10x32x8xf32>, tensor<10x32x16xf32>, tensor<10x32x32xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<10x32x16xf32>, tensor<16x32xf32>, tensor<16x16xf32>, tensor<i32>, tensor<8x32xf32>, tensor<16x32xf32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<32x16xf32>
    }
    %cst_27 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %38 = stablehlo.multiply %37, %36#16 : tensor<16x16xf32>
    %39 = stablehlo.subtract %arg0, %38 : tensor<16x16xf32>
    %cst_28 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %41 = stablehlo.multiply %40, %36#14 : tensor<16x32xf32>
    %42 = stablehlo.subtract %arg1, %41 : tensor<16x32xf32>
    %cst_29 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %44 = stablehlo.multiply %43, %36#15 : tensor<8x16xf32>
    %45 = stablehlo.subtract %arg2, %44 : tensor<8x16xf32>
    %cst_30 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %47 = stablehlo.multiply %46, %36#13 : tensor<8x32xf32>
    %48 = stablehlo.subtract %arg3, %47 : tensor<8x32xf32>
    return %39, %42, %45, %48, %23 : tensor<16x16xf32>, tensor<16x32xf32>, tensor<8x16xf32>, tensor<8x32xf32>, tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<10x32x8xf32>, %arg1: tensor<i32>) -> tensor<32x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 32, 8] : (tensor<10x32x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x8xf32>) -> tensor<32x8xf32>
    return %1 : tensor<32x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x32xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<8x16xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<32x16xf32>, %arg5: tensor<32x8xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x32xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>) {
    %0 = stablehlo.dot_general %arg5, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x8xf32>, tensor<8x32xf32>) -> tensor<32x32xf32>
    %1 = stablehlo.dot_general %arg4, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
    %2 = stablehlo.add %0, %1 : tensor<32x32xf32>
    %3 = stablehlo.negate %2 : tensor<32x32xf32>
    %4 = stablehlo.exponential %3 : tensor<32x32xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %6 = stablehlo.add %5, %4 : tensor<32x32xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %8 = stablehlo.divide %7, %6 : tensor<32x32xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %10 = stablehlo.subtract %9, %8 : tensor<32x32xf32>
    %11 = stablehlo.multiply %8, %10 : tensor<32x32xf32>
    %12 = stablehlo.slice %8 [0:32, 0:16] : (tensor<32x32xf32>) -> tensor<32x16xf32>
    %13 = stablehlo.slice %8 [0:32, 16:32] : (tensor<32x32xf32>) -> tensor<32x16xf32>
    %14 = stablehlo.multiply %12, %arg4 : tensor<32x16xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %16 = stablehlo.subtract %15, %12 : tensor<32x16xf32>
    %17 = stablehlo.dot_general %arg5, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x8xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
    %18 = stablehlo.multiply %13, %arg4 : tensor<32x16xf32>
    %19 = stablehlo.dot_general %18, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %20 = stablehlo.add %17, %19 : tensor<32x16xf32>
    %21 = stablehlo.tanh %20 : tensor<32x16xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %23 = stablehlo.subtract %22, %21 : tensor<32x16xf32>
    %24 = stablehlo.multiply %16, %21 : tensor<32x16xf32>
    %25 = stablehlo.add %14, %24 : tensor<32x16xf32>
    return %25, %25, %arg4, %11, %12, %13, %18, %21, %23, %16 : tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x32xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<10x32x16xf32>, %arg1: tensor<32x16xf32>, %arg2: tensor<i32>) -> tensor<10x32x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<32x16xf32>) -> tensor<1x32x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<10x32x16xf32>, tensor<1x32x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<10x32x16xf32>
    return %1 : tensor<10x32x16xf32>
  }
  func.func private @dynamic_update_index_in_dim_0(%arg0: tensor<10x32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<i32>) -> tensor<10x32x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<32x32xf32>) -> tensor<1x32x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<10x32x32xf32>, tensor<1x32x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<10x32x32xf32>
    return %1 : tensor<10x32x32xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<10x32x16xf32>, %arg1: tensor<i32>) -> tensor<32x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 32, 16] : (tensor<10x32x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x16xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x16xf32>) -> tensor<32x16xf32>
    return %1 : tensor<32x16xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<10x32x32xf32>, %arg1: tensor<i32>) -> tensor<32x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 32, 32] : (tensor<10x32x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    return %1 : tensor<32x32xf32>
  }
  func.func private @closed_call_3(%arg0: tensor<16x32xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<8x32xf32>, %arg3: tensor<16x32xf32>, %arg4: tensor<8x16xf32>, %arg5: tensor<16x16xf32>, %arg6: tensor<32x16xf32>, %arg7: tensor<32x16xf32>, %arg8: tensor<32x8xf32>, %arg9: tensor<32x16xf32>, %arg10: tensor<32x32xf32>, %arg11: tensor<32x16xf32>, %arg12: tensor<32x16xf32>, %arg13: tensor<32x16xf32>, %arg14: tensor<32x16xf32>, %arg15: tensor<32x16xf32>, %arg16: tensor<32x16xf32>) -> (tensor<8x32xf32>, tensor<16x32xf32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<32x16xf32>) {
    %0 = stablehlo.add %arg6, %arg7 : tensor<32x16xf32>
    %1 = stablehlo.multiply %arg16, %0 : tensor<32x16xf32>
    %2 = stablehlo.multiply %0, %arg14 : tensor<32x16xf32>
    %3 = stablehlo.multiply %1, %arg15 : tensor<32x16xf32>
    %4 = stablehlo.multiply %3, %arg14 : tensor<32x16xf32>
    %5 = stablehlo.add %3, %4 : tensor<32x16xf32>
    %6 = stablehlo.dot_general %5, %arg13, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %7 = stablehlo.transpose %6, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %8 = stablehlo.add %arg5, %7 : tensor<16x16xf32>
    %9 = stablehlo.dot_general %5, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %10 = stablehlo.multiply %arg12, %9 : tensor<32x16xf32>
    %11 = stablehlo.multiply %9, %arg9 : tensor<32x16xf32>
    %12 = stablehlo.dot_general %5, %arg8, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
    %13 = stablehlo.transpose %12, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
    %14 = stablehlo.add %arg4, %13 : tensor<8x16xf32>
    %15 = stablehlo.negate %2 : tensor<32x16xf32>
    %16 = stablehlo.multiply %arg11, %0 : tensor<32x16xf32>
    %17 = stablehlo.add %10, %16 : tensor<32x16xf32>
    %18 = stablehlo.multiply %0, %arg9 : tensor<32x16xf32>
    %19 = stablehlo.add %15, %18 : tensor<32x16xf32>
    %20 = stablehlo.concatenate %19, %11, dim = 1 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x32xf32>
    %21 = stablehlo.multiply %20, %arg10 : tensor<32x32xf32>
    %22 = stablehlo.dot_general %21, %arg9, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x32xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
    %23 = stablehlo.transpose %22, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %24 = stablehlo.add %arg3, %23 : tensor<16x32xf32>
    %25 = stablehlo.dot_general %21, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x32xf32>, tensor<16x32xf32>) -> tensor<32x16xf32>
    %26 = stablehlo.add %17, %25 : tensor<32x16xf32>
    %27 = stablehlo.dot_general %21, %arg8, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x32xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
    %28 = stablehlo.transpose %27, dims = [1, 0] : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %29 = stablehlo.add %arg2, %28 : tensor<8x32xf32>
    return %29, %24, %14, %8, %26 : tensor<8x32xf32>, tensor<16x32xf32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<32x16xf32>
  }
}
