module @jit_step attributes {mhlo.num_partitions = 16384 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=64, "fsdp"=16, "model"=16]> {stablehlo.mesh = {axes = [{name = "data", size = 64 : i64}, {name = "fsdp", size = 16 : i64}, {name = "model", size = 16 : i64}]}}
  func.func public @main(%arg0: tensor<128256x16384xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"fsdp"}]>}, %arg1: tensor<16384x128256xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {"model"}]>}, %arg2: tensor<126x53248x16384xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"fsdp"}]>}, %arg3: tensor<126x16384x53248xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"model"}]>}, %arg4: tensor<126x16384xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg5: tensor<126x16384xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg6: tensor<126x16384x53248xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"model"}]>}, %arg7: tensor<126x16384x8x128xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {}, {}]>}, %arg8: tensor<126x128x128x16384xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}, {"fsdp"}]>}, %arg9: tensor<126x16384x128x128xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"model"}, {}]>}, %arg10: tensor<126x16384x8x128xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {}, {}]>}, %arg11: tensor<16384xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg12: tensor<128256x16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"fsdp"}]>}, %arg13: tensor<16384x128256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {"model"}]>}, %arg14: tensor<126x53248x16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"fsdp"}]>}, %arg15: tensor<126x16384x53248xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"model"}]>}, %arg16: tensor<126x16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg17: tensor<126x16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg18: tensor<126x16384x53248xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"model"}]>}, %arg19: tensor<126x16384x8x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {}, {}]>}, %arg20: tensor<126x128x128x16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}, {"fsdp"}]>}, %arg21: tensor<126x16384x128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"model"}, {}]>}, %arg22: tensor<126x16384x8x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {}, {}]>}, %arg23: tensor<16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg24: tensor<2048x8193xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {}]>}) -> (tensor<128256x16384xbf16> {jax.result_info = "result[0]['emb']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"fsdp"}]>}, tensor<16384x128256xbf16> {jax.result_info = "result[0]['head']", sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {"model"}]>}, tensor<126x53248x16384xbf16> {jax.result_info = "result[0]['layers']['down']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"fsdp"}]>}, tensor<126x16384x53248xbf16> {jax.result_info = "result[0]['layers']['gate']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"model"}]>}, tensor<126x16384xbf16> {jax.result_info = "result[0]['layers']['n1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<126x16384xbf16> {jax.result_info = "result[0]['layers']['n2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<126x16384x53248xbf16> {jax.result_info = "result[0]['layers']['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"model"}]>}, tensor<126x16384x8x128xbf16> {jax.result_info = "result[0]['layers']['wk']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {}, {}]>}, tensor<126x128x128x16384xbf16> {jax.result_info = "result[0]['layers']['wo']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}, {"fsdp"}]>}, tensor<126x16384x128x128xbf16> {jax.result_info = "result[0]['layers']['wq']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"model"}, {}]>}, tensor<126x16384x8x128xbf16> {jax.result_info = "result[0]['layers']['wv']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {}, {}]>}, tensor<16384xbf16> {jax.result_info = "result[0]['nf']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<128256x16384xf32> {jax.result_info = "result[1]['emb']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"fsdp"}]>}, tensor<16384x128256xf32> {jax.result_info = "result[1]['head']", sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {"model"}]>}, tensor<126x53248x16384xf32> {jax.result_info = "result[1]['layers']['down']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"fsdp"}]>}, tensor<126x16384x53248xf32> {jax.result_info = "result[1]['layers']['gate']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"model"}]>}, tensor<126x16384xf32> {jax.result_info = "result[1]['layers']['n1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<126x16384xf32> {jax.result_info = "result[1]['layers']['n2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<126x16384x53248xf32> {jax.result_info = "result[1]['layers']['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"model"}]>}, tensor<126x16384x8x128xf32> {jax.result_info = "result[1]['layers']['wk']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {}, {}]>}, tensor<126x128x128x16384xf32> {jax.result_info = "result[1]['layers']['wo']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}, {"fsdp"}]>}, tensor<126x16384x128x128xf32> {jax.result_info = "result[1]['layers']['wq']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"model"}, {}]>}, tensor<126x16384x8x128xf32> {jax.result_info = "result[1]['layers']['wv']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {}, {}]>}, tensor<16384xf32> {jax.result_info = "result[1]['nf']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<f32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.slice %arg24 [0:2048, 0:8192] : (tensor<2048x8193xi32>) -> tensor<2048x8192xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2048x8192xi32>
    %2 = stablehlo.compare LT, %0, %1, SIGNED : (tensor<2048x8192xi32>, tensor<2048x8192xi32>) -> tensor<2048x8192xi1>
    %c_0 = stablehlo.constant dense<128256> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2048x8192xi32>
    %4 = stablehlo.add %0, %3 : tensor<2048x8192xi32>
    %5 = stablehlo.select %2, %4, %0 : tensor<2048x8192xi1>, tensor<2048x8192xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<2048x8192xi32>) -> tensor<2048x8192x1xi32>
    %7 = "stablehlo.gather"(%arg0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16384>}> : (tensor<128256x16384xbf16>, tensor<2048x8192x1xi32>) -> tensor<2048x8192x16384xbf16>
    %8 = stablehlo.iota dim = 0 : tensor<8192xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<8192xf32>) -> tensor<8192x1xf32>
    %10 = stablehlo.iota dim = 0 : tensor<64xf32>
    %11 = stablehlo.negate %10 : tensor<64xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %13 = stablehlo.multiply %11, %12 : tensor<64xf32>
    %cst_1 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %15 = stablehlo.divide %13, %14 : tensor<64xf32>
    %cst_2 = stablehlo.constant dense<5.000000e+05> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %17 = stablehlo.power %16, %15 : tensor<64xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %19 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<8192x1xf32>) -> tensor<8192x64xf32>
    %20 = stablehlo.broadcast_in_dim %18, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8192x64xf32>
    %21 = stablehlo.multiply %19, %20 : tensor<8192x64xf32>
    %22 = stablehlo.cosine %21 : tensor<8192x64xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 2] : (tensor<8192x64xf32>) -> tensor<8192x1x64xf32>
    %24 = stablehlo.convert %23 : (tensor<8192x1x64xf32>) -> tensor<8192x1x64xbf16>
    %25 = stablehlo.broadcast_in_dim %17, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %26 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<8192x1xf32>) -> tensor<8192x64xf32>
    %27 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8192x64xf32>
    %28 = stablehlo.multiply %26, %27 : tensor<8192x64xf32>
    %29 = stablehlo.sine %28 : tensor<8192x64xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 2] : (tensor<8192x64xf32>) -> tensor<8192x1x64xf32>
    %31 = stablehlo.convert %30 : (tensor<8192x1x64xf32>) -> tensor<8192x1x64xbf16>
    %32 = stablehlo.broadcast_in_dim %24, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %33 = stablehlo.broadcast_in_dim %31, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %34 = stablehlo.broadcast_in_dim %31, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %35 = stablehlo.broadcast_in_dim %24, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %36 = stablehlo.iota dim = 0 : tensor<8192xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0] : (tensor<8192xf32>) -> tensor<8192x1xf32>
    %38 = stablehlo.iota dim = 0 : tensor<64xf32>
    %39 = stablehlo.negate %38 : tensor<64xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %41 = stablehlo.multiply %39, %40 : tensor<64xf32>
    %cst_4 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %43 = stablehlo.divide %41, %42 : tensor<64xf32>
    %cst_5 = stablehlo.constant dense<5.000000e+05> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %45 = stablehlo.power %44, %43 : tensor<64xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %47 = stablehlo.broadcast_in_dim %37, dims = [0, 1] : (tensor<8192x1xf32>) -> tensor<8192x64xf32>
    %48 = stablehlo.broadcast_in_dim %46, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8192x64xf32>
    %49 = stablehlo.multiply %47, %48 : tensor<8192x64xf32>
    %50 = stablehlo.cosine %49 : tensor<8192x64xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 2] : (tensor<8192x64xf32>) -> tensor<8192x1x64xf32>
    %52 = stablehlo.convert %51 : (tensor<8192x1x64xf32>) -> tensor<8192x1x64xbf16>
    %53 = stablehlo.broadcast_in_dim %45, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %54 = stablehlo.broadcast_in_dim %37, dims = [0, 1] : (tensor<8192x1xf32>) -> tensor<8192x64xf32>
    %55 = stablehlo.broadcast_in_dim %53, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8192x64xf32>
    %56 = stablehlo.multiply %54, %55 : tensor<8192x64xf32>
    %57 = stablehlo.sine %56 : tensor<8192x64xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 2] : (tensor<8192x64xf32>) -> tensor<8192x1x64xf32>
    %59 = stablehlo.convert %58 : (tensor<8192x1x64xf32>) -> tensor<8192x1x64xbf16>
    %60 = stablehlo.broadcast_in_dim %52, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %61 = stablehlo.broadcast_in_dim %59, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %62 = stablehlo.broadcast_in_dim %59, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %63 = stablehlo.broadcast_in_dim %52, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %c_6 = stablehlo.constant dense<true> : tensor<i1>
    %64 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i1>) -> tensor<8192x8192xi1>
    %65 = call @tril(%64) : (tensor<8192x8192xi1>) -> tensor<8192x8192xi1>
    %cst_7 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %66:2 = call @_where(%65, %cst_7) : (tensor<8192x8192xi1>, tensor<f32>) -> (tensor<2048x8x16x8192x8192xi1>, tensor<2048x8x16x8192x8192xf32>)
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %67 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<bf16>) -> tensor<126x2048x8192x16384xbf16>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %68:22 = stablehlo.while(%iterArg = %arg2, %iterArg_70 = %arg3, %iterArg_71 = %arg4, %iterArg_72 = %arg5, %iterArg_73 = %arg6, %iterArg_74 = %arg7, %iterArg_75 = %arg8, %iterArg_76 = %arg9, %iterArg_77 = %arg10, %iterArg_78 = %60, %iterArg_79 = %61, %iterArg_80 = %62, %iterArg_81 = %63, %iterArg_82 = %32, %iterArg_83 = %33, %iterArg_84 = %34, %iterArg_85 = %35, %iterArg_86 = %66#0, %iterArg_87 = %66#1, %iterArg_88 = %c_9, %iterArg_89 = %7, %iterArg_90 = %67) : tensor<126x53248x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384xbf16>, tensor<126x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384x8x128xbf16>, tensor<126x128x128x16384xbf16>, tensor<126x16384x128x128xbf16>, tensor<126x16384x8x128xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<2048x8x16x8192x8192xi1>, tensor<2048x8x16x8192x8192xf32>, tensor<i32>, tensor<2048x8192x16384xbf16>, tensor<126x2048x8192x16384xbf16>
    cond {
      %c_91 = stablehlo.constant dense<126> : tensor<i32>
      %271 = stablehlo.compare LT, %iterArg_88, %c_91, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %271 : tensor<i1>
    } do {
      %271 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_88) : (tensor<126x53248x16384xbf16>, tensor<i32>) -> tensor<53248x16384xbf16>
      %272 = func.call @dynamic_index_in_dim_0(%iterArg_70, %iterArg_88) : (tensor<126x16384x53248xbf16>, tensor<i32>) -> tensor<16384x53248xbf16>
      %273 = func.call @dynamic_index_in_dim_1(%iterArg_71, %iterArg_88) : (tensor<126x16384xbf16>, tensor<i32>) -> tensor<16384xbf16>
      %274 = func.call @dynamic_index_in_dim_1(%iterArg_72, %iterArg_88) : (tensor<126x16384xbf16>, tensor<i32>) -> tensor<16384xbf16>
      %275 = func.call @dynamic_index_in_dim_0(%iterArg_73, %iterArg_88) : (tensor<126x16384x53248xbf16>, tensor<i32>) -> tensor<16384x53248xbf16>
      %276 = func.call @dynamic_index_in_dim_2(%iterArg_74, %iterArg_88) : (tensor<126x16384x8x128xbf16>, tensor<i32>) -> tensor<16384x8x128xbf16>
      %277 = func.call @dynamic_index_in_dim_3(%iterArg_75, %iterArg_88) : (tensor<126x128x128x16384xbf16>, tensor<i32>) -> tensor<128x128x16384xbf16>
      %278 = func.call @dynamic_index_in_dim_4(%iterArg_76, %iterArg_88) : (tensor<126x16384x128x128xbf16>, tensor<i32>) -> tensor<16384x128x128xbf16>
      %279 = func.call @dynamic_index_in_dim_2(%iterArg_77, %iterArg_88) : (tensor<126x16384x8x128xbf16>, tensor<i32>) -> tensor<16384x8x128xbf16>
      %280:2 = func.call @closed_call(%iterArg_78, %iterArg_79, %iterArg_80, %iterArg_81, %iterArg_82, %iterArg_83, %iterArg_84, %iterArg_85, %iterArg_86, %iterArg_87, %iterArg_89, %271, %272, %273, %274, %275, %276, %277, %278, %279) : (tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<2048x8x16x8192x8192xi1>, tensor<2048x8x16x8192x8192xf32>, tensor<2048x8192x16384xbf16>, tensor<53248x16384xbf16>, tensor<16384x53248xbf16>, tensor<16384xbf16>, tensor<16384xbf16>, tensor<16384x53248xbf16>, tensor<16384x8x128xbf16>, tensor<128x128x16384xbf16>, tensor<16384x128x128xbf16>, tensor<16384x8x128xbf16>) -> (tensor<2048x8192x16384xbf16>, tensor<2048x8192x16384xbf16>)
      %281 = func.call @dynamic_update_index_in_dim(%iterArg_90, %280#1, %iterArg_88) : (tensor<126x2048x8192x16384xbf16>, tensor<2048x8192x16384xbf16>, tensor<i32>) -> tensor<126x2048x8192x16384xbf16>
      %c_91 = stablehlo.constant dense<1> : tensor<i32>
      %282 = stablehlo.add %iterArg_88, %c_91 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_70, %iterArg_71, %iterArg_72, %iterArg_73, %iterArg_74, %iterArg_75, %iterArg_76, %iterArg_77, %iterArg_78, %iterArg_79, %iterArg_80, %iterArg_81, %iterArg_82, %iterArg_83, %iterArg_84, %iterArg_85, %iterArg_86, %iterArg_87, %282, %280#0, %281 : tensor<126x53248x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384xbf16>, tensor<126x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384x8x128xbf16>, tensor<126x128x128x16384xbf16>, tensor<126x16384x128x128xbf16>, tensor<126x16384x8x128xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<1x8192x1x64xbf16>, tensor<2048x8x16x8192x8192xi1>, tensor<2048x8x16x8192x8192xf32>, tensor<i32>, tensor<2048x8192x16384xbf16>, tensor<126x2048x8192x16384xbf16>
    }
    %69 = stablehlo.convert %68#20 : (tensor<2048x8192x16384xbf16>) -> tensor<2048x8192x16384xf32>
    %70 = stablehlo.multiply %69, %69 : tensor<2048x8192x16384xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %71 = stablehlo.reduce(%70 init: %cst_10) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x16384xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [0, 1] : (tensor<2048x8192xf32>) -> tensor<2048x8192x1xf32>
    %cst_11 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %74 = stablehlo.divide %72, %73 : tensor<2048x8192x1xf32>
    %cst_12 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %76 = stablehlo.add %74, %75 : tensor<2048x8192x1xf32>
    %77 = stablehlo.rsqrt %76 : tensor<2048x8192x1xf32>
    %78 = stablehlo.divide %77, %76 : tensor<2048x8192x1xf32>
    %cst_13 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %80 = stablehlo.multiply %79, %78 : tensor<2048x8192x1xf32>
    %81 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 2] : (tensor<2048x8192x1xf32>) -> tensor<2048x8192x16384xf32>
    %82 = stablehlo.multiply %69, %81 : tensor<2048x8192x16384xf32>
    %83 = stablehlo.convert %82 : (tensor<2048x8192x16384xf32>) -> tensor<2048x8192x16384xbf16>
    %84 = stablehlo.broadcast_in_dim %arg11, dims = [2] : (tensor<16384xbf16>) -> tensor<1x1x16384xbf16>
    %85 = stablehlo.broadcast_in_dim %84, dims = [0, 1, 2] : (tensor<1x1x16384xbf16>) -> tensor<2048x8192x16384xbf16>
    %86 = stablehlo.multiply %83, %85 : tensor<2048x8192x16384xbf16>
    %87 = stablehlo.dot_general %86, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<16384x128256xbf16>) -> tensor<2048x8192x128256xbf16>
    %88 = stablehlo.convert %87 : (tensor<2048x8192x128256xbf16>) -> tensor<2048x8192x128256xf32>
    %89:3 = call @log_softmax(%88) : (tensor<2048x8192x128256xf32>) -> (tensor<2048x8192x128256xf32>, tensor<2048x8192x128256xf32>, tensor<2048x8192x1xf32>)
    %90 = stablehlo.slice %arg24 [0:2048, 1:8193] : (tensor<2048x8193xi32>) -> tensor<2048x8192xi32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1] : (tensor<2048x8192xi32>) -> tensor<2048x8192x1xi32>
    %92:2 = call @take_along_axis(%89#0, %91) : (tensor<2048x8192x128256xf32>, tensor<2048x8192x1xi32>) -> (tensor<2048x8192x1xf32>, tensor<2048x8192x1x1xi32>)
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %93 = stablehlo.reduce(%92#0 init: %cst_14) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2048x8192x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_15 = stablehlo.constant dense<0x4B800000> : tensor<f32>
    %94 = stablehlo.divide %93, %cst_15 : tensor<f32>
    %95 = stablehlo.negate %94 : tensor<f32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %96 = stablehlo.negate %cst_16 : tensor<f32>
    %cst_17 = stablehlo.constant dense<0x4B800000> : tensor<f32>
    %97 = stablehlo.divide %96, %cst_17 : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %97, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %99 = call @take_along_axis_6(%92#1, %98) : (tensor<2048x8192x1x1xi32>, tensor<2048x8192x1xf32>) -> tensor<2048x8192x128256xf32>
    %100 = call @log_softmax_7(%89#1, %89#2, %99) : (tensor<2048x8192x128256xf32>, tensor<2048x8192x1xf32>, tensor<2048x8192x128256xf32>) -> tensor<2048x8192x128256xf32>
    %101 = stablehlo.convert %100 : (tensor<2048x8192x128256xf32>) -> tensor<2048x8192x128256xbf16>
    %102 = stablehlo.dot_general %101, %86, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x128256xbf16>, tensor<2048x8192x16384xbf16>) -> tensor<128256x16384xbf16>
    %103 = stablehlo.transpose %102, dims = [1, 0] : (tensor<128256x16384xbf16>) -> tensor<16384x128256xbf16>
    %104 = stablehlo.dot_general %101, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x128256xbf16>, tensor<16384x128256xbf16>) -> tensor<2048x8192x16384xbf16>
    %105 = stablehlo.multiply %83, %104 : tensor<2048x8192x16384xbf16>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %106 = stablehlo.reduce(%105 init: %cst_18) applies stablehlo.add across dimensions = [0, 1] : (tensor<2048x8192x16384xbf16>, tensor<bf16>) -> tensor<16384xbf16>
    %107 = stablehlo.reshape %106 : (tensor<16384xbf16>) -> tensor<1x1x16384xbf16>
    %108 = stablehlo.broadcast_in_dim %84, dims = [0, 1, 2] : (tensor<1x1x16384xbf16>) -> tensor<2048x8192x16384xbf16>
    %109 = stablehlo.multiply %104, %108 : tensor<2048x8192x16384xbf16>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %110 = stablehlo.reduce(%107 init: %cst_19) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x16384xbf16>, tensor<bf16>) -> tensor<16384xbf16>
    %111 = stablehlo.convert %109 : (tensor<2048x8192x16384xbf16>) -> tensor<2048x8192x16384xf32>
    %112 = stablehlo.multiply %69, %111 : tensor<2048x8192x16384xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %113 = stablehlo.reduce(%112 init: %cst_20) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x16384xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %114 = stablehlo.reshape %113 : (tensor<2048x8192xf32>) -> tensor<2048x8192x1xf32>
    %115 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 2] : (tensor<2048x8192x1xf32>) -> tensor<2048x8192x16384xf32>
    %116 = stablehlo.multiply %111, %115 : tensor<2048x8192x16384xf32>
    %117 = stablehlo.multiply %114, %80 : tensor<2048x8192x1xf32>
    %cst_21 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %118 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %119 = stablehlo.divide %117, %118 : tensor<2048x8192x1xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %120 = stablehlo.reduce(%119 init: %cst_22) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x1xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %121 = stablehlo.broadcast_in_dim %120, dims = [0, 1] : (tensor<2048x8192xf32>) -> tensor<2048x8192x16384xf32>
    %122 = stablehlo.multiply %69, %121 : tensor<2048x8192x16384xf32>
    %123 = stablehlo.add %116, %122 : tensor<2048x8192x16384xf32>
    %124 = stablehlo.multiply %121, %69 : tensor<2048x8192x16384xf32>
    %125 = stablehlo.add %123, %124 : tensor<2048x8192x16384xf32>
    %126 = stablehlo.convert %125 : (tensor<2048x8192x16384xf32>) -> tensor<2048x8192x16384xbf16>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %127 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<bf16>) -> tensor<126x53248x16384xbf16>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %128 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<bf16>) -> tensor<126x16384x53248xbf16>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %129 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<bf16>) -> tensor<126x16384xbf16>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %130 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<bf16>) -> tensor<126x16384xbf16>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %131 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<bf16>) -> tensor<126x16384x53248xbf16>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %132 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<bf16>) -> tensor<126x16384x8x128xbf16>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %133 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<bf16>) -> tensor<126x128x128x16384xbf16>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %134 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<bf16>) -> tensor<126x16384x128x128xbf16>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %135 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<bf16>) -> tensor<126x16384x8x128xbf16>
    %c_32 = stablehlo.constant dense<0> : tensor<i32>
    %136:21 = stablehlo.while(%iterArg = %68#21, %iterArg_70 = %arg2, %iterArg_71 = %arg3, %iterArg_72 = %arg4, %iterArg_73 = %arg5, %iterArg_74 = %arg6, %iterArg_75 = %arg7, %iterArg_76 = %arg8, %iterArg_77 = %arg9, %iterArg_78 = %arg10, %iterArg_79 = %c_32, %iterArg_80 = %126, %iterArg_81 = %127, %iterArg_82 = %128, %iterArg_83 = %129, %iterArg_84 = %130, %iterArg_85 = %131, %iterArg_86 = %132, %iterArg_87 = %133, %iterArg_88 = %134, %iterArg_89 = %135) : tensor<126x2048x8192x16384xbf16>, tensor<126x53248x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384xbf16>, tensor<126x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384x8x128xbf16>, tensor<126x128x128x16384xbf16>, tensor<126x16384x128x128xbf16>, tensor<126x16384x8x128xbf16>, tensor<i32>, tensor<2048x8192x16384xbf16>, tensor<126x53248x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384xbf16>, tensor<126x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384x8x128xbf16>, tensor<126x128x128x16384xbf16>, tensor<126x16384x128x128xbf16>, tensor<126x16384x8x128xbf16>
    cond {
      %c_90 = stablehlo.constant dense<126> : tensor<i32>
      %271 = stablehlo.compare LT, %iterArg_79, %c_90, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %271 : tensor<i1>
    } do {
      %c_90 = stablehlo.constant dense<126> : tensor<i32>
      %271 = stablehlo.subtract %c_90, %iterArg_79 : tensor<i32>
      %c_91 = stablehlo.constant dense<1> : tensor<i32>
      %272 = stablehlo.subtract %271, %c_91 : tensor<i32>
      %273 = func.call @dynamic_index_in_dim_8(%iterArg, %272) : (tensor<126x2048x8192x16384xbf16>, tensor<i32>) -> tensor<2048x8192x16384xbf16>
      %274 = func.call @dynamic_index_in_dim(%iterArg_70, %272) : (tensor<126x53248x16384xbf16>, tensor<i32>) -> tensor<53248x16384xbf16>
      %275 = func.call @dynamic_index_in_dim_0(%iterArg_71, %272) : (tensor<126x16384x53248xbf16>, tensor<i32>) -> tensor<16384x53248xbf16>
      %276 = func.call @dynamic_index_in_dim_1(%iterArg_72, %272) : (tensor<126x16384xbf16>, tensor<i32>) -> tensor<16384xbf16>
      %277 = func.call @dynamic_index_in_dim_1(%iterArg_73, %272) : (tensor<126x16384xbf16>, tensor<i32>) -> tensor<16384xbf16>
      %278 = func.call @dynamic_index_in_dim_0(%iterArg_74, %272) : (tensor<126x16384x53248xbf16>, tensor<i32>) -> tensor<16384x53248xbf16>
      %279 = func.call @dynamic_index_in_dim_2(%iterArg_75, %272) : (tensor<126x16384x8x128xbf16>, tensor<i32>) -> tensor<16384x8x128xbf16>
      %280 = func.call @dynamic_index_in_dim_3(%iterArg_76, %272) : (tensor<126x128x128x16384xbf16>, tensor<i32>) -> tensor<128x128x16384xbf16>
      %281 = func.call @dynamic_index_in_dim_4(%iterArg_77, %272) : (tensor<126x16384x128x128xbf16>, tensor<i32>) -> tensor<16384x128x128xbf16>
      %282 = func.call @dynamic_index_in_dim_2(%iterArg_78, %272) : (tensor<126x16384x8x128xbf16>, tensor<i32>) -> tensor<16384x8x128xbf16>
      %283:10 = func.call @closed_call_9(%iterArg_80, %273, %274, %275, %276, %277, %278, %279, %280, %281, %282) : (tensor<2048x8192x16384xbf16>, tensor<2048x8192x16384xbf16>, tensor<53248x16384xbf16>, tensor<16384x53248xbf16>, tensor<16384xbf16>, tensor<16384xbf16>, tensor<16384x53248xbf16>, tensor<16384x8x128xbf16>, tensor<128x128x16384xbf16>, tensor<16384x128x128xbf16>, tensor<16384x8x128xbf16>) -> (tensor<2048x8192x16384xbf16>, tensor<53248x16384xbf16>, tensor<16384x53248xbf16>, tensor<16384xbf16>, tensor<16384xbf16>, tensor<16384x53248xbf16>, tensor<16384x8x128xbf16>, tensor<128x128x16384xbf16>, tensor<16384x128x128xbf16>, tensor<16384x8x128xbf16>)
      %284 = func.call @dynamic_update_index_in_dim_15(%iterArg_81, %283#1, %272) : (tensor<126x53248x16384xbf16>, tensor<53248x16384xbf16>, tensor<i32>) -> tensor<126x53248x16384xbf16>
      %285 = func.call @dynamic_update_index_in_dim_16(%iterArg_82, %283#2, %272) : (tensor<126x16384x53248xbf16>, tensor<16384x53248xbf16>, tensor<i32>) -> tensor<126x16384x53248xbf16>
      %286 = func.call @dynamic_update_index_in_dim_17(%iterArg_83, %283#3, %272) : (tensor<126x16384xbf16>, tensor<16384xbf16>, tensor<i32>) -> tensor<126x16384xbf16>
      %287 = func.call @dynamic_update_index_in_dim_17(%iterArg_84, %283#4, %272) : (tensor<126x16384xbf16>, tensor<16384xbf16>, tensor<i32>) -> tensor<126x16384xbf16>
      %288 = func.call @dynamic_update_index_in_dim_16(%iterArg_85, %283#5, %272) : (tensor<126x16384x53248xbf16>, tensor<16384x53248xbf16>, tensor<i32>) -> tensor<126x16384x53248xbf16>
      %289 = func.call @dynamic_update_index_in_dim_18(%iterArg_86, %283#6, %272) : (tensor<126x16384x8x128xbf16>, tensor<16384x8x128xbf16>, tensor<i32>) -> tensor<126x16384x8x128xbf16>
      %290 = func.call @dynamic_update_index_in_dim_19(%iterArg_87, %283#7, %272) : (tensor<126x128x128x16384xbf16>, tensor<128x128x16384xbf16>, tensor<i32>) -> tensor<126x128x128x16384xbf16>
      %291 = func.call @dynamic_update_index_in_dim_20(%iterArg_88, %283#8, %272) : (tensor<126x16384x128x128xbf16>, tensor<16384x128x128xbf16>, tensor<i32>) -> tensor<126x16384x128x128xbf16>
      %292 = func.call @dynamic_update_index_in_dim_18(%iterArg_89, %283#9, %272) : (tensor<126x16384x8x128xbf16>, tensor<16384x8x128xbf16>, tensor<i32>) -> tensor<126x16384x8x128xbf16>
      %c_92 = stablehlo.constant dense<1> : tensor<i32>
      %293 = stablehlo.add %iterArg_79, %c_92 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_70, %iterArg_71, %iterArg_72, %iterArg_73, %iterArg_74, %iterArg_75, %iterArg_76, %iterArg_77, %iterArg_78, %293, %283#0, %284, %285, %286, %287, %288, %289, %290, %291, %292 : tensor<126x2048x8192x16384xbf16>, tensor<126x53248x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384xbf16>, tensor<126x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384x8x128xbf16>, tensor<126x128x128x16384xbf16>, tensor<126x16384x128x128xbf16>, tensor<126x16384x8x128xbf16>, tensor<i32>, tensor<2048x8192x16384xbf16>, tensor<126x53248x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384xbf16>, tensor<126x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384x8x128xbf16>, tensor<126x128x128x16384xbf16>, tensor<126x16384x128x128xbf16>, tensor<126x16384x8x128xbf16>
    }
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %137 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<bf16>) -> tensor<128256x16384xbf16>
    %138 = "stablehlo.scatter"(%137, %6, %136#11) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg25: tensor<bf16>, %arg26: tensor<bf16>):
      %271 = stablehlo.add %arg25, %arg26 : tensor<bf16>
      stablehlo.return %271 : tensor<bf16>
    }) : (tensor<128256x16384xbf16>, tensor<2048x8192x1xi32>, tensor<2048x8192x16384xbf16>) -> tensor<128256x16384xbf16>
    %cst_34 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<128256x16384xf32>
    %140 = stablehlo.multiply %139, %arg12 : tensor<128256x16384xf32>
    %141 = stablehlo.convert %138 : (tensor<128256x16384xbf16>) -> tensor<128256x16384xf32>
    %cst_35 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<128256x16384xf32>
    %143 = stablehlo.multiply %142, %141 : tensor<128256x16384xf32>
    %144 = stablehlo.add %140, %143 : tensor<128256x16384xf32>
    %cst_36 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %145 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<16384x128256xf32>
    %146 = stablehlo.multiply %145, %arg13 : tensor<16384x128256xf32>
    %147 = stablehlo.convert %103 : (tensor<16384x128256xbf16>) -> tensor<16384x128256xf32>
    %cst_37 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<16384x128256xf32>
    %149 = stablehlo.multiply %148, %147 : tensor<16384x128256xf32>
    %150 = stablehlo.add %146, %149 : tensor<16384x128256xf32>
    %cst_38 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %151 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<126x53248x16384xf32>
    %152 = stablehlo.multiply %151, %arg14 : tensor<126x53248x16384xf32>
    %153 = stablehlo.convert %136#12 : (tensor<126x53248x16384xbf16>) -> tensor<126x53248x16384xf32>
    %cst_39 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<126x53248x16384xf32>
    %155 = stablehlo.multiply %154, %153 : tensor<126x53248x16384xf32>
    %156 = stablehlo.add %152, %155 : tensor<126x53248x16384xf32>
    %cst_40 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<126x16384x53248xf32>
    %158 = stablehlo.multiply %157, %arg15 : tensor<126x16384x53248xf32>
    %159 = stablehlo.convert %136#13 : (tensor<126x16384x53248xbf16>) -> tensor<126x16384x53248xf32>
    %cst_41 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<126x16384x53248xf32>
    %161 = stablehlo.multiply %160, %159 : tensor<126x16384x53248xf32>
    %162 = stablehlo.add %158, %161 : tensor<126x16384x53248xf32>
    %cst_42 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %163 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<126x16384xf32>
    %164 = stablehlo.multiply %163, %arg16 : tensor<126x16384xf32>
    %165 = stablehlo.convert %136#14 : (tensor<126x16384xbf16>) -> tensor<126x16384xf32>
    %cst_43 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %166 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<126x16384xf32>
    %167 = stablehlo.multiply %166, %165 : tensor<126x16384xf32>
    %168 = stablehlo.add %164, %167 : tensor<126x16384xf32>
    %cst_44 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %169 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<126x16384xf32>
    %170 = stablehlo.multiply %169, %arg17 : tensor<126x16384xf32>
    %171 = stablehlo.convert %136#15 : (tensor<126x16384xbf16>) -> tensor<126x16384xf32>
    %cst_45 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<126x16384xf32>
    %173 = stablehlo.multiply %172, %171 : tensor<126x16384xf32>
    %174 = stablehlo.add %170, %173 : tensor<126x16384xf32>
    %cst_46 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %175 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<126x16384x53248xf32>
    %176 = stablehlo.multiply %175, %arg18 : tensor<126x16384x53248xf32>
    %177 = stablehlo.convert %136#16 : (tensor<126x16384x53248xbf16>) -> tensor<126x16384x53248xf32>
    %cst_47 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %178 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<126x16384x53248xf32>
    %179 = stablehlo.multiply %178, %177 : tensor<126x16384x53248xf32>
    %180 = stablehlo.add %176, %179 : tensor<126x16384x53248xf32>
    %cst_48 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %181 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<126x16384x8x128xf32>
    %182 = stablehlo.multiply %181, %arg19 : tensor<126x16384x8x128xf32>
    %183 = stablehlo.convert %136#17 : (tensor<126x16384x8x128xbf16>) -> tensor<126x16384x8x128xf32>
    %cst_49 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<126x16384x8x128xf32>
    %185 = stablehlo.multiply %184, %183 : tensor<126x16384x8x128xf32>
    %186 = stablehlo.add %182, %185 : tensor<126x16384x8x128xf32>
    %cst_50 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %187 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<126x128x128x16384xf32>
    %188 = stablehlo.multiply %187, %arg20 : tensor<126x128x128x16384xf32>
    %189 = stablehlo.convert %136#18 : (tensor<126x128x128x16384xbf16>) -> tensor<126x128x128x16384xf32>
    %cst_51 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %190 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<126x128x128x16384xf32>
    %191 = stablehlo.multiply %190, %189 : tensor<126x128x128x16384xf32>
    %192 = stablehlo.add %188, %191 : tensor<126x128x128x16384xf32>
    %cst_52 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %193 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<126x16384x128x128xf32>
    %194 = stablehlo.multiply %193, %arg21 : tensor<126x16384x128x128xf32>
    %195 = stablehlo.convert %136#19 : (tensor<126x16384x128x128xbf16>) -> tensor<126x16384x128x128xf32>
    %cst_53 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %196 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<126x16384x128x128xf32>
    %197 = stablehlo.multiply %196, %195 : tensor<126x16384x128x128xf32>
    %198 = stablehlo.add %194, %197 : tensor<126x16384x128x128xf32>
    %cst_54 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %199 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<126x16384x8x128xf32>
    %200 = stablehlo.multiply %199, %arg22 : tensor<126x16384x8x128xf32>
    %201 = stablehlo.convert %136#20 : (tensor<126x16384x8x128xbf16>) -> tensor<126x16384x8x128xf32>
    %cst_55 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %202 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<126x16384x8x128xf32>
    %203 = stablehlo.multiply %202, %201 : tensor<126x16384x8x128xf32>
    %204 = stablehlo.add %200, %203 : tensor<126x16384x8x128xf32>
    %cst_56 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %205 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<16384xf32>
    %206 = stablehlo.multiply %205, %arg23 : tensor<16384xf32>
    %207 = stablehlo.convert %110 : (tensor<16384xbf16>) -> tensor<16384xf32>
    %cst_57 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %208 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<16384xf32>
    %209 = stablehlo.multiply %208, %207 : tensor<16384xf32>
    %210 = stablehlo.add %206, %209 : tensor<16384xf32>
    %cst_58 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %211 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<128256x16384xf32>
    %212 = stablehlo.multiply %211, %144 : tensor<128256x16384xf32>
    %213 = stablehlo.convert %arg0 : (tensor<128256x16384xbf16>) -> tensor<128256x16384xf32>
    %214 = stablehlo.subtract %213, %212 : tensor<128256x16384xf32>
    %215 = stablehlo.convert %214 : (tensor<128256x16384xf32>) -> tensor<128256x16384xbf16>
    %cst_59 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %216 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<16384x128256xf32>
    %217 = stablehlo.multiply %216, %150 : tensor<16384x128256xf32>
    %218 = stablehlo.convert %arg1 : (tensor<16384x128256xbf16>) -> tensor<16384x128256xf32>
    %219 = stablehlo.subtract %218, %217 : tensor<16384x128256xf32>
    %220 = stablehlo.convert %219 : (tensor<16384x128256xf32>) -> tensor<16384x128256xbf16>
    %cst_60 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %221 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<126x53248x16384xf32>
    %222 = stablehlo.multiply %221, %156 : tensor<126x53248x16384xf32>
    %223 = stablehlo.convert %arg2 : (tensor<126x53248x16384xbf16>) -> tensor<126x53248x16384xf32>
    %224 = stablehlo.subtract %223, %222 : tensor<126x53248x16384xf32>
    %225 = stablehlo.convert %224 : (tensor<126x53248x16384xf32>) -> tensor<126x53248x16384xbf16>
    %cst_61 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %226 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<126x16384x53248xf32>
    %227 = stablehlo.multiply %226, %162 : tensor<126x16384x53248xf32>
    %228 = stablehlo.convert %arg3 : (tensor<126x16384x53248xbf16>) -> tensor<126x16384x53248xf32>
    %229 = stablehlo.subtract %228, %227 : tensor<126x16384x53248xf32>
    %230 = stablehlo.convert %229 : (tensor<126x16384x53248xf32>) -> tensor<126x16384x53248xbf16>
    %cst_62 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %231 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<126x16384xf32>
    %232 = stablehlo.multiply %231, %168 : tensor<126x16384xf32>
    %233 = stablehlo.convert %arg4 : (tensor<126x16384xbf16>) -> tensor<126x16384xf32>
    %234 = stablehlo.subtract %233, %232 : tensor<126x16384xf32>
    %235 = stablehlo.convert %234 : (tensor<126x16384xf32>) -> tensor<126x16384xbf16>
    %cst_63 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %236 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<126x16384xf32>
    %237 = stablehlo.multiply %236, %174 : tensor<126x16384xf32>
    %238 = stablehlo.convert %arg5 : (tensor<126x16384xbf16>) -> tensor<126x16384xf32>
    %239 = stablehlo.subtract %238, %237 : tensor<126x16384xf32>
    %240 = stablehlo.convert %239 : (tensor<126x16384xf32>) -> tensor<126x16384xbf16>
    %cst_64 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %241 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<126x16384x53248xf32>
    %242 = stablehlo.multiply %241, %180 : tensor<126x16384x53248xf32>
    %243 = stablehlo.convert %arg6 : (tensor<126x16384x53248xbf16>) -> tensor<126x16384x53248xf32>
    %244 = stablehlo.subtract %243, %242 : tensor<126x16384x53248xf32>
    %245 = stablehlo.convert %244 : (tensor<126x16384x53248xf32>) -> tensor<126x16384x53248xbf16>
    %cst_65 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %246 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<126x16384x8x128xf32>
    %247 = stablehlo.multiply %246, %186 : tensor<126x16384x8x128xf32>
    %248 = stablehlo.convert %arg7 : (tensor<126x16384x8x128xbf16>) -> tensor<126x16384x8x128xf32>
    %249 = stablehlo.subtract %248, %247 : tensor<126x16384x8x128xf32>
    %250 = stablehlo.convert %249 : (tensor<126x16384x8x128xf32>) -> tensor<126x16384x8x128xbf16>
    %cst_66 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %251 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<126x128x128x16384xf32>
    %252 = stablehlo.multiply %251, %192 : tensor<126x128x128x16384xf32>
    %253 = stablehlo.convert %arg8 : (tensor<126x128x128x16384xbf16>) -> tensor<126x128x128x16384xf32>
    %254 = stablehlo.subtract %253, %252 : tensor<126x128x128x16384xf32>
    %255 = stablehlo.convert %254 : (tensor<126x128x128x16384xf32>) -> tensor<126x128x128x16384xbf16>
    %cst_67 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %256 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<126x16384x128x128xf32>
    %257 = stablehlo.multiply %256, %198 : tensor<126x16384x128x128xf32>
    %258 = stablehlo.convert %arg9 : (tensor<126x16384x128x128xbf16>) -> tensor<126x16384x128x128xf32>
    %259 = stablehlo.subtract %258, %257 : tensor<126x16384x128x128xf32>
    %260 = stablehlo.convert %259 : (tensor<126x16384x128x128xf32>) -> tensor<126x16384x128x128xbf16>
    %cst_68 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %261 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<126x16384x8x128xf32>
    %262 = stablehlo.multiply %261, %204 : tensor<126x16384x8x128xf32>
    %263 = stablehlo.convert %arg10 : (tensor<126x16384x8x128xbf16>) -> tensor<126x16384x8x128xf32>
    %264 = stablehlo.subtract %263, %262 : tensor<126x16384x8x128xf32>
    %265 = stablehlo.convert %264 : (tensor<126x16384x8x128xf32>) -> tensor<126x16384x8x128xbf16>
    %cst_69 = stablehlo.constant dense<3.000000e-04> : tensor<f32>
    %266 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<16384xf32>
    %267 = stablehlo.multiply %266, %210 : tensor<16384xf32>
    %268 = stablehlo.convert %arg11 : (tensor<16384xbf16>) -> tensor<16384xf32>
    %269 = stablehlo.subtract %268, %267 : tensor<16384xf32>
    %270 = stablehlo.convert %269 : (tensor<16384xf32>) -> tensor<16384xbf16>
    return %215, %220, %225, %230, %235, %240, %245, %250, %255, %260, %265, %270, %144, %150, %156, %162, %168, %174, %180, %186, %192, %198, %204, %210, %95 : tensor<128256x16384xbf16>, tensor<16384x128256xbf16>, tensor<126x53248x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384xbf16>, tensor<126x16384xbf16>, tensor<126x16384x53248xbf16>, tensor<126x16384x8x128xbf16>, tensor<126x128x128x16384xbf16>, tensor<126x16384x128x128xbf16>, tensor<126x16384x8x128xbf16>, tensor<16384xbf16>, tensor<128256x16384xf32>, tensor<16384x128256xf32>, tensor<126x53248x16384xf32>, tensor<126x16384x53248xf32>, tensor<126x16384xf32>, tensor<126x16384xf32>, tensor<126x16384x53248xf32>, tensor<126x16384x8x128xf32>, tensor<126x128x128x16384xf32>, tensor<126x16384x128x128xf32>, tensor<126x16384x8x128xf32>, tensor<16384xf32>, tensor<f32>
  }
  func.func private @tril(%arg0: tensor<8192x8192xi1>) -> tensor<8192x8192xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<8192x8192xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8192x8192xi32>
    %2 = stablehlo.add %0, %1 : tensor<8192x8192xi32>
    %3 = stablehlo.iota dim = 1 : tensor<8192x8192xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<8192x8192xi32>, tensor<8192x8192xi32>) -> tensor<8192x8192xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<8192x8192xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<8192x8192xi1>, tensor<8192x8192xi1>
    return %6 : tensor<8192x8192xi1>
  }
  func.func private @_where(%arg0: tensor<8192x8192xi1>, %arg1: tensor<f32>) -> (tensor<2048x8x16x8192x8192xi1>, tensor<2048x8x16x8192x8192xf32>) {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3, 4] : (tensor<8192x8192xi1>) -> tensor<2048x8x16x8192x8192xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2048x8x16x8192x8192xf32>
    return %1, %2 : tensor<2048x8x16x8192x8192xi1>, tensor<2048x8x16x8192x8192xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<126x53248x16384xbf16>, %arg1: tensor<i32>) -> tensor<53248x16384xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 53248, 16384] : (tensor<126x53248x16384xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x53248x16384xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x53248x16384xbf16>) -> tensor<53248x16384xbf16>
    return %1 : tensor<53248x16384xbf16>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<126x16384x53248xbf16>, %arg1: tensor<i32>) -> tensor<16384x53248xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 16384, 53248] : (tensor<126x16384x53248xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16384x53248xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x16384x53248xbf16>) -> tensor<16384x53248xbf16>
    return %1 : tensor<16384x53248xbf16>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<126x16384xbf16>, %arg1: tensor<i32>) -> tensor<16384xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 16384] : (tensor<126x16384xbf16>, tensor<i32>, tensor<i32>) -> tensor<1x16384xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x16384xbf16>) -> tensor<16384xbf16>
    return %1 : tensor<16384xbf16>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<126x16384x8x128xbf16>, %arg1: tensor<i32>) -> tensor<16384x8x128xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 16384, 8, 128] : (tensor<126x16384x8x128xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16384x8x128xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x16384x8x128xbf16>) -> tensor<16384x8x128xbf16>
    return %1 : tensor<16384x8x128xbf16>
  }
  func.func private @dynamic_index_in_dim_3(%arg0: tensor<126x128x128x16384xbf16>, %arg1: tensor<i32>) -> tensor<128x128x16384xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 128, 128, 16384] : (tensor<126x128x128x16384xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x128x128x16384xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x128x128x16384xbf16>) -> tensor<128x128x16384xbf16>
    return %1 : tensor<128x128x16384xbf16>
  }
  func.func private @dynamic_index_in_dim_4(%arg0: tensor<126x16384x128x128xbf16>, %arg1: tensor<i32>) -> tensor<16384x128x128xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 16384, 128, 128] : (tensor<126x16384x128x128xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16384x128x128xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x16384x128x128xbf16>) -> tensor<16384x128x128xbf16>
    return %1 : tensor<16384x128x128xbf16>
  }
  func.func private @closed_call(%arg0: tensor<1x8192x1x64xbf16>, %arg1: tensor<1x8192x1x64xbf16>, %arg2: tensor<1x8192x1x64xbf16>, %arg3: tensor<1x8192x1x64xbf16>, %arg4: tensor<1x8192x1x64xbf16>, %arg5: tensor<1x8192x1x64xbf16>, %arg6: tensor<1x8192x1x64xbf16>, %arg7: tensor<1x8192x1x64xbf16>, %arg8: tensor<2048x8x16x8192x8192xi1>, %arg9: tensor<2048x8x16x8192x8192xf32>, %arg10: tensor<2048x8192x16384xbf16>, %arg11: tensor<53248x16384xbf16>, %arg12: tensor<16384x53248xbf16>, %arg13: tensor<16384xbf16>, %arg14: tensor<16384xbf16>, %arg15: tensor<16384x53248xbf16>, %arg16: tensor<16384x8x128xbf16>, %arg17: tensor<128x128x16384xbf16>, %arg18: tensor<16384x128x128xbf16>, %arg19: tensor<16384x8x128xbf16>) -> (tensor<2048x8192x16384xbf16>, tensor<2048x8192x16384xbf16>) {
    %0 = stablehlo.convert %arg10 : (tensor<2048x8192x16384xbf16>) -> tensor<2048x8192x16384xf32>
    %1 = stablehlo.multiply %0, %0 : tensor<2048x8192x16384xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x16384xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<2048x8192xf32>) -> tensor<2048x8192x1xf32>
    %cst_0 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %5 = stablehlo.divide %3, %4 : tensor<2048x8192x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %7 = stablehlo.add %5, %6 : tensor<2048x8192x1xf32>
    %8 = stablehlo.rsqrt %7 : tensor<2048x8192x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2048x8192x1xf32>) -> tensor<2048x8192x16384xf32>
    %10 = stablehlo.multiply %0, %9 : tensor<2048x8192x16384xf32>
    %11 = stablehlo.convert %10 : (tensor<2048x8192x16384xf32>) -> tensor<2048x8192x16384xbf16>
    %12 = stablehlo.broadcast_in_dim %arg13, dims = [2] : (tensor<16384xbf16>) -> tensor<1x1x16384xbf16>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x1x16384xbf16>) -> tensor<2048x8192x16384xbf16>
    %14 = stablehlo.multiply %11, %13 : tensor<2048x8192x16384xbf16>
    %15 = stablehlo.dot_general %14, %arg18, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<16384x128x128xbf16>) -> tensor<2048x8192x128x128xbf16>
    %16 = stablehlo.slice %15 [0:2048, 0:8192, 0:128, 0:64] : (tensor<2048x8192x128x128xbf16>) -> tensor<2048x8192x128x64xbf16>
    %17 = stablehlo.slice %15 [0:2048, 0:8192, 0:128, 64:128] : (tensor<2048x8192x128x128xbf16>) -> tensor<2048x8192x128x64xbf16>
    %18 = stablehlo.broadcast_in_dim %arg4, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x128x64xbf16>
    %19 = stablehlo.multiply %16, %18 : tensor<2048x8192x128x64xbf16>
    %20 = stablehlo.broadcast_in_dim %arg5, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x128x64xbf16>
    %21 = stablehlo.multiply %17, %20 : tensor<2048x8192x128x64xbf16>
    %22 = stablehlo.subtract %19, %21 : tensor<2048x8192x128x64xbf16>
    %23 = stablehlo.broadcast_in_dim %arg6, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x128x64xbf16>
    %24 = stablehlo.multiply %16, %23 : tensor<2048x8192x128x64xbf16>
    %25 = stablehlo.broadcast_in_dim %arg7, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x128x64xbf16>
    %26 = stablehlo.multiply %17, %25 : tensor<2048x8192x128x64xbf16>
    %27 = stablehlo.add %24, %26 : tensor<2048x8192x128x64xbf16>
    %28 = stablehlo.concatenate %22, %27, dim = 3 : (tensor<2048x8192x128x64xbf16>, tensor<2048x8192x128x64xbf16>) -> tensor<2048x8192x128x128xbf16>
    %29 = stablehlo.dot_general %14, %arg16, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<16384x8x128xbf16>) -> tensor<2048x8192x8x128xbf16>
    %30 = stablehlo.slice %29 [0:2048, 0:8192, 0:8, 0:64] : (tensor<2048x8192x8x128xbf16>) -> tensor<2048x8192x8x64xbf16>
    %31 = stablehlo.slice %29 [0:2048, 0:8192, 0:8, 64:128] : (tensor<2048x8192x8x128xbf16>) -> tensor<2048x8192x8x64xbf16>
    %32 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x8x64xbf16>
    %33 = stablehlo.multiply %30, %32 : tensor<2048x8192x8x64xbf16>
    %34 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x8x64xbf16>
    %35 = stablehlo.multiply %31, %34 : tensor<2048x8192x8x64xbf16>
    %36 = stablehlo.subtract %33, %35 : tensor<2048x8192x8x64xbf16>
    %37 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x8x64xbf16>
    %38 = stablehlo.multiply %30, %37 : tensor<2048x8192x8x64xbf16>
    %39 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x8x64xbf16>
    %40 = stablehlo.multiply %31, %39 : tensor<2048x8192x8x64xbf16>
    %41 = stablehlo.add %38, %40 : tensor<2048x8192x8x64xbf16>
    %42 = stablehlo.concatenate %36, %41, dim = 3 : (tensor<2048x8192x8x64xbf16>, tensor<2048x8192x8x64xbf16>) -> tensor<2048x8192x8x128xbf16>
    %43 = stablehlo.dot_general %14, %arg19, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<16384x8x128xbf16>) -> tensor<2048x8192x8x128xbf16>
    %44 = stablehlo.reshape %28 : (tensor<2048x8192x128x128xbf16>) -> tensor<2048x8192x8x16x128xbf16>
    %45 = stablehlo.dot_general %42, %44, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x8x128xbf16>, tensor<2048x8192x8x16x128xbf16>) -> tensor<2048x8x8192x8192x16xbf16>
    %46 = stablehlo.transpose %45, dims = [0, 1, 4, 3, 2] : (tensor<2048x8x8192x8192x16xbf16>) -> tensor<2048x8x16x8192x8192xbf16>
    %47 = stablehlo.convert %46 : (tensor<2048x8x16x8192x8192xbf16>) -> tensor<2048x8x16x8192x8192xf32>
    %cst_2 = stablehlo.constant dense<11.3137083> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2048x8x16x8192x8192xf32>
    %49 = stablehlo.divide %47, %48 : tensor<2048x8x16x8192x8192xf32>
    %50 = call @_where_5(%49, %arg8, %arg9) : (tensor<2048x8x16x8192x8192xf32>, tensor<2048x8x16x8192x8192xi1>, tensor<2048x8x16x8192x8192xf32>) -> tensor<2048x8x16x8192x8192xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %51 = stablehlo.reduce(%50 init: %cst_3) applies stablehlo.maximum across dimensions = [4] : (tensor<2048x8x16x8192x8192xf32>, tensor<f32>) -> tensor<2048x8x16x8192xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2048x8x16x8192xf32>
    %53 = stablehlo.maximum %52, %51 : tensor<2048x8x16x8192xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2, 3] : (tensor<2048x8x16x8192xf32>) -> tensor<2048x8x16x8192x1xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2, 3, 4] : (tensor<2048x8x16x8192x1xf32>) -> tensor<2048x8x16x8192x8192xf32>
    %56 = stablehlo.subtract %50, %55 : tensor<2048x8x16x8192x8192xf32>
    %57 = stablehlo.exponential %56 : tensor<2048x8x16x8192x8192xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.reduce(%57 init: %cst_5) applies stablehlo.add across dimensions = [4] : (tensor<2048x8x16x8192x8192xf32>, tensor<f32>) -> tensor<2048x8x16x8192xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2, 3] : (tensor<2048x8x16x8192xf32>) -> tensor<2048x8x16x8192x1xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2, 3, 4] : (tensor<2048x8x16x8192x1xf32>) -> tensor<2048x8x16x8192x8192xf32>
    %61 = stablehlo.divide %57, %60 : tensor<2048x8x16x8192x8192xf32>
    %62 = stablehlo.convert %61 : (tensor<2048x8x16x8192x8192xf32>) -> tensor<2048x8x16x8192x8192xbf16>
    %63 = stablehlo.dot_general %43, %62, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x8x128xbf16>, tensor<2048x8x16x8192x8192xbf16>) -> tensor<2048x8x128x16x8192xbf16>
    %64 = stablehlo.transpose %63, dims = [0, 4, 1, 3, 2] : (tensor<2048x8x128x16x8192xbf16>) -> tensor<2048x8192x8x16x128xbf16>
    %65 = stablehlo.reshape %64 : (tensor<2048x8192x8x16x128xbf16>) -> tensor<2048x8192x128x128xbf16>
    %66 = stablehlo.dot_general %65, %arg17, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x128x128xbf16>, tensor<128x128x16384xbf16>) -> tensor<2048x8192x16384xbf16>
    %67 = stablehlo.add %arg10, %66 : tensor<2048x8192x16384xbf16>
    %68 = stablehlo.convert %67 : (tensor<2048x8192x16384xbf16>) -> tensor<2048x8192x16384xf32>
    %69 = stablehlo.multiply %68, %68 : tensor<2048x8192x16384xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.reduce(%69 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x16384xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %71 = stablehlo.broadcast_in_dim %70, dims = [0, 1] : (tensor<2048x8192xf32>) -> tensor<2048x8192x1xf32>
    %cst_7 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %73 = stablehlo.divide %71, %72 : tensor<2048x8192x1xf32>
    %cst_8 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %75 = stablehlo.add %73, %74 : tensor<2048x8192x1xf32>
    %76 = stablehlo.rsqrt %75 : tensor<2048x8192x1xf32>
    %77 = stablehlo.broadcast_in_dim %76, dims = [0, 1, 2] : (tensor<2048x8192x1xf32>) -> tensor<2048x8192x16384xf32>
    %78 = stablehlo.multiply %68, %77 : tensor<2048x8192x16384xf32>
    %79 = stablehlo.convert %78 : (tensor<2048x8192x16384xf32>) -> tensor<2048x8192x16384xbf16>
    %80 = stablehlo.broadcast_in_dim %arg14, dims = [2] : (tensor<16384xbf16>) -> tensor<1x1x16384xbf16>
    %81 = stablehlo.broadcast_in_dim %80, dims = [0, 1, 2] : (tensor<1x1x16384xbf16>) -> tensor<2048x8192x16384xbf16>
    %82 = stablehlo.multiply %79, %81 : tensor<2048x8192x16384xbf16>
    %83 = stablehlo.dot_general %82, %arg12, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<16384x53248xbf16>) -> tensor<2048x8192x53248xbf16>
    %84 = call @silu(%83) : (tensor<2048x8192x53248xbf16>) -> tensor<2048x8192x53248xbf16>
    %85 = stablehlo.dot_general %82, %arg15, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<16384x53248xbf16>) -> tensor<2048x8192x53248xbf16>
    %86 = stablehlo.multiply %84, %85 : tensor<2048x8192x53248xbf16>
    %87 = stablehlo.dot_general %86, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x53248xbf16>, tensor<53248x16384xbf16>) -> tensor<2048x8192x16384xbf16>
    %88 = stablehlo.add %67, %87 : tensor<2048x8192x16384xbf16>
    %89 = sdy.sharding_constraint %88 <@mesh, [{"data", "fsdp"}, {}, {}]> : tensor<2048x8192x16384xbf16>
    return %89, %arg10 : tensor<2048x8192x16384xbf16>, tensor<2048x8192x16384xbf16>
  }
  func.func private @_where_5(%arg0: tensor<2048x8x16x8192x8192xf32>, %arg1: tensor<2048x8x16x8192x8192xi1>, %arg2: tensor<2048x8x16x8192x8192xf32>) -> tensor<2048x8x16x8192x8192xf32> {
    %0 = stablehlo.select %arg1, %arg0, %arg2 : tensor<2048x8x16x8192x8192xi1>, tensor<2048x8x16x8192x8192xf32>
    return %0 : tensor<2048x8x16x8192x8192xf32>
  }
  func.func private @silu(%arg0: tensor<2048x8192x53248xbf16>) -> tensor<2048x8192x53248xbf16> {
    %0 = stablehlo.negate %arg0 : tensor<2048x8192x53248xbf16>
    %1 = stablehlo.exponential %0 : tensor<2048x8192x53248xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2048x8192x53248xbf16>
    %3 = stablehlo.add %2, %1 : tensor<2048x8192x53248xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2048x8192x53248xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<2048x8192x53248xbf16>
    %6 = stablehlo.multiply %arg0, %5 : tensor<2048x8192x53248xbf16>
    return %6 : tensor<2048x8192x53248xbf16>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<126x2048x8192x16384xbf16>, %arg1: tensor<2048x8192x16384xbf16>, %arg2: tensor<i32>) -> tensor<126x2048x8192x16384xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<2048x8192x16384xbf16>) -> tensor<1x2048x8192x16384xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<126x2048x8192x16384xbf16>, tensor<1x2048x8192x16384xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<126x2048x8192x16384xbf16>
    return %1 : tensor<126x2048x8192x16384xbf16>
  }
  func.func private @log_softmax(%arg0: tensor<2048x8192x128256xf32>) -> (tensor<2048x8192x128256xf32>, tensor<2048x8192x128256xf32>, tensor<2048x8192x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<2048x8192x128256xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2048x8192xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<2048x8192xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<2048x8192xf32>) -> tensor<2048x8192x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2048x8192x1xf32>) -> tensor<2048x8192x128256xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2048x8192x128256xf32>
    %6 = stablehlo.exponential %5 : tensor<2048x8192x128256xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x128256xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<2048x8192xf32>) -> tensor<2048x8192x1xf32>
    %9 = stablehlo.log %8 : tensor<2048x8192x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2048x8192x1xf32>) -> tensor<2048x8192x128256xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<2048x8192x128256xf32>
    return %11, %6, %8 : tensor<2048x8192x128256xf32>, tensor<2048x8192x128256xf32>, tensor<2048x8192x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<2048x8192x128256xf32>, %arg1: tensor<2048x8192x1xi32>) -> (tensor<2048x8192x1xf32>, tensor<2048x8192x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2048x8192x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<2048x8192x1xi32>, tensor<2048x8192x1xi32>) -> tensor<2048x8192x1xi1>
    %c_0 = stablehlo.constant dense<128256> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2048x8192x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<2048x8192x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<2048x8192x1xi1>, tensor<2048x8192x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<2048x8192x1xi32>) -> tensor<2048x8192x1x1xi32>
    %c_1 = stablehlo.constant dense<128255> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2048x8192x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<2048x8192x1x1xi32>, tensor<2048x8192x1x1xi32>) -> tensor<2048x8192x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<2048x8192x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<2048x8192x1x1xi32>, tensor<2048x8192x1x1xi32>) -> tensor<2048x8192x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<2048x8192x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<2048x8192x1x1xi1>, tensor<i1>) -> tensor<2048x8192x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2048x8192x128256xf32>, tensor<2048x8192x1x1xi32>) -> tensor<2048x8192x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<2048x8192x1xi1>, tensor<2048x8192x1xf32>
    return %15, %5 : tensor<2048x8192x1xf32>, tensor<2048x8192x1x1xi32>
  }
  func.func private @take_along_axis_6(%arg0: tensor<2048x8192x1x1xi32>, %arg1: tensor<2048x8192x1xf32>) -> tensor<2048x8192x128256xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2048x8192x128256xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2048x8192x128256xf32>, tensor<2048x8192x1x1xi32>, tensor<2048x8192x1xf32>) -> tensor<2048x8192x128256xf32>
    return %1 : tensor<2048x8192x128256xf32>
  }
  func.func private @log_softmax_7(%arg0: tensor<2048x8192x128256xf32>, %arg1: tensor<2048x8192x1xf32>, %arg2: tensor<2048x8192x128256xf32>) -> tensor<2048x8192x128256xf32> {
    %0 = stablehlo.negate %arg2 : tensor<2048x8192x128256xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x128256xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %2 = stablehlo.reshape %1 : (tensor<2048x8192xf32>) -> tensor<2048x8192x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<2048x8192x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x1xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2048x8192xf32>) -> tensor<2048x8192x128256xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<2048x8192x128256xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<2048x8192x128256xf32>
    return %7 : tensor<2048x8192x128256xf32>
  }
  func.func private @dynamic_index_in_dim_8(%arg0: tensor<126x2048x8192x16384xbf16>, %arg1: tensor<i32>) -> tensor<2048x8192x16384xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 2048, 8192, 16384] : (tensor<126x2048x8192x16384xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2048x8192x16384xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x2048x8192x16384xbf16>) -> tensor<2048x8192x16384xbf16>
    return %1 : tensor<2048x8192x16384xbf16>
  }
  func.func private @closed_call_9(%arg0: tensor<2048x8192x16384xbf16>, %arg1: tensor<2048x8192x16384xbf16>, %arg2: tensor<53248x16384xbf16>, %arg3: tensor<16384x53248xbf16>, %arg4: tensor<16384xbf16>, %arg5: tensor<16384xbf16>, %arg6: tensor<16384x53248xbf16>, %arg7: tensor<16384x8x128xbf16>, %arg8: tensor<128x128x16384xbf16>, %arg9: tensor<16384x128x128xbf16>, %arg10: tensor<16384x8x128xbf16>) -> (tensor<2048x8192x16384xbf16>, tensor<53248x16384xbf16>, tensor<16384x53248xbf16>, tensor<16384xbf16>, tensor<16384xbf16>, tensor<16384x53248xbf16>, tensor<16384x8x128xbf16>, tensor<128x128x16384xbf16>, tensor<16384x128x128xbf16>, tensor<16384x8x128xbf16>) {
    %0:11 = stablehlo.optimization_barrier %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8, %arg9, %arg10, %arg0 : tensor<2048x8192x16384xbf16>, tensor<53248x16384xbf16>, tensor<16384x53248xbf16>, tensor<16384xbf16>, tensor<16384xbf16>, tensor<16384x53248xbf16>, tensor<16384x8x128xbf16>, tensor<128x128x16384xbf16>, tensor<16384x128x128xbf16>, tensor<16384x8x128xbf16>, tensor<2048x8192x16384xbf16>
    %1 = stablehlo.convert %0#0 : (tensor<2048x8192x16384xbf16>) -> tensor<2048x8192x16384xf32>
    %2 = stablehlo.multiply %1, %1 : tensor<2048x8192x16384xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x16384xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2048x8192xf32>) -> tensor<2048x8192x1xf32>
    %cst_0 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %6 = stablehlo.divide %4, %5 : tensor<2048x8192x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %8 = stablehlo.add %6, %7 : tensor<2048x8192x1xf32>
    %9 = stablehlo.rsqrt %8 : tensor<2048x8192x1xf32>
    %10 = stablehlo.divide %9, %8 : tensor<2048x8192x1xf32>
    %cst_2 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %12 = stablehlo.multiply %11, %10 : tensor<2048x8192x1xf32>
    %13 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2048x8192x1xf32>) -> tensor<2048x8192x16384xf32>
    %14 = stablehlo.multiply %1, %13 : tensor<2048x8192x16384xf32>
    %15 = stablehlo.convert %14 : (tensor<2048x8192x16384xf32>) -> tensor<2048x8192x16384xbf16>
    %16 = stablehlo.broadcast_in_dim %0#3, dims = [2] : (tensor<16384xbf16>) -> tensor<1x1x16384xbf16>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x1x16384xbf16>) -> tensor<2048x8192x16384xbf16>
    %18 = stablehlo.multiply %15, %17 : tensor<2048x8192x16384xbf16>
    %19 = stablehlo.dot_general %18, %0#8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<16384x128x128xbf16>) -> tensor<2048x8192x128x128xbf16>
    %20 = stablehlo.iota dim = 0 : tensor<8192xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0] : (tensor<8192xf32>) -> tensor<8192x1xf32>
    %22 = stablehlo.iota dim = 0 : tensor<64xf32>
    %23 = stablehlo.negate %22 : tensor<64xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %25 = stablehlo.multiply %23, %24 : tensor<64xf32>
    %cst_4 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %27 = stablehlo.divide %25, %26 : tensor<64xf32>
    %cst_5 = stablehlo.constant dense<5.000000e+05> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %29 = stablehlo.power %28, %27 : tensor<64xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %31 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<8192x1xf32>) -> tensor<8192x64xf32>
    %32 = stablehlo.broadcast_in_dim %30, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8192x64xf32>
    %33 = stablehlo.multiply %31, %32 : tensor<8192x64xf32>
    %34 = stablehlo.cosine %33 : tensor<8192x64xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 2] : (tensor<8192x64xf32>) -> tensor<8192x1x64xf32>
    %36 = stablehlo.convert %35 : (tensor<8192x1x64xf32>) -> tensor<8192x1x64xbf16>
    %37 = stablehlo.broadcast_in_dim %29, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %38 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<8192x1xf32>) -> tensor<8192x64xf32>
    %39 = stablehlo.broadcast_in_dim %37, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8192x64xf32>
    %40 = stablehlo.multiply %38, %39 : tensor<8192x64xf32>
    %41 = stablehlo.sine %40 : tensor<8192x64xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 2] : (tensor<8192x64xf32>) -> tensor<8192x1x64xf32>
    %43 = stablehlo.convert %42 : (tensor<8192x1x64xf32>) -> tensor<8192x1x64xbf16>
    %44 = stablehlo.slice %19 [0:2048, 0:8192, 0:128, 0:64] : (tensor<2048x8192x128x128xbf16>) -> tensor<2048x8192x128x64xbf16>
    %45 = stablehlo.slice %19 [0:2048, 0:8192, 0:128, 64:128] : (tensor<2048x8192x128x128xbf16>) -> tensor<2048x8192x128x64xbf16>
    %46 = stablehlo.broadcast_in_dim %36, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x128x64xbf16>
    %48 = stablehlo.multiply %44, %47 : tensor<2048x8192x128x64xbf16>
    %49 = stablehlo.broadcast_in_dim %43, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x128x64xbf16>
    %51 = stablehlo.multiply %45, %50 : tensor<2048x8192x128x64xbf16>
    %52 = stablehlo.subtract %48, %51 : tensor<2048x8192x128x64xbf16>
    %53 = stablehlo.broadcast_in_dim %43, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x128x64xbf16>
    %55 = stablehlo.multiply %44, %54 : tensor<2048x8192x128x64xbf16>
    %56 = stablehlo.broadcast_in_dim %36, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x128x64xbf16>
    %58 = stablehlo.multiply %45, %57 : tensor<2048x8192x128x64xbf16>
    %59 = stablehlo.add %55, %58 : tensor<2048x8192x128x64xbf16>
    %60 = stablehlo.concatenate %52, %59, dim = 3 : (tensor<2048x8192x128x64xbf16>, tensor<2048x8192x128x64xbf16>) -> tensor<2048x8192x128x128xbf16>
    %61 = stablehlo.dot_general %18, %0#6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<16384x8x128xbf16>) -> tensor<2048x8192x8x128xbf16>
    %62 = stablehlo.iota dim = 0 : tensor<8192xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0] : (tensor<8192xf32>) -> tensor<8192x1xf32>
    %64 = stablehlo.iota dim = 0 : tensor<64xf32>
    %65 = stablehlo.negate %64 : tensor<64xf32>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %67 = stablehlo.multiply %65, %66 : tensor<64xf32>
    %cst_7 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %69 = stablehlo.divide %67, %68 : tensor<64xf32>
    %cst_8 = stablehlo.constant dense<5.000000e+05> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %71 = stablehlo.power %70, %69 : tensor<64xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %73 = stablehlo.broadcast_in_dim %63, dims = [0, 1] : (tensor<8192x1xf32>) -> tensor<8192x64xf32>
    %74 = stablehlo.broadcast_in_dim %72, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8192x64xf32>
    %75 = stablehlo.multiply %73, %74 : tensor<8192x64xf32>
    %76 = stablehlo.cosine %75 : tensor<8192x64xf32>
    %77 = stablehlo.broadcast_in_dim %76, dims = [0, 2] : (tensor<8192x64xf32>) -> tensor<8192x1x64xf32>
    %78 = stablehlo.convert %77 : (tensor<8192x1x64xf32>) -> tensor<8192x1x64xbf16>
    %79 = stablehlo.broadcast_in_dim %71, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %80 = stablehlo.broadcast_in_dim %63, dims = [0, 1] : (tensor<8192x1xf32>) -> tensor<8192x64xf32>
    %81 = stablehlo.broadcast_in_dim %79, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8192x64xf32>
    %82 = stablehlo.multiply %80, %81 : tensor<8192x64xf32>
    %83 = stablehlo.sine %82 : tensor<8192x64xf32>
    %84 = stablehlo.broadcast_in_dim %83, dims = [0, 2] : (tensor<8192x64xf32>) -> tensor<8192x1x64xf32>
    %85 = stablehlo.convert %84 : (tensor<8192x1x64xf32>) -> tensor<8192x1x64xbf16>
    %86 = stablehlo.slice %61 [0:2048, 0:8192, 0:8, 0:64] : (tensor<2048x8192x8x128xbf16>) -> tensor<2048x8192x8x64xbf16>
    %87 = stablehlo.slice %61 [0:2048, 0:8192, 0:8, 64:128] : (tensor<2048x8192x8x128xbf16>) -> tensor<2048x8192x8x64xbf16>
    %88 = stablehlo.broadcast_in_dim %78, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %89 = stablehlo.broadcast_in_dim %88, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x8x64xbf16>
    %90 = stablehlo.multiply %86, %89 : tensor<2048x8192x8x64xbf16>
    %91 = stablehlo.broadcast_in_dim %85, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %92 = stablehlo.broadcast_in_dim %91, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x8x64xbf16>
    %93 = stablehlo.multiply %87, %92 : tensor<2048x8192x8x64xbf16>
    %94 = stablehlo.subtract %90, %93 : tensor<2048x8192x8x64xbf16>
    %95 = stablehlo.broadcast_in_dim %85, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %96 = stablehlo.broadcast_in_dim %95, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x8x64xbf16>
    %97 = stablehlo.multiply %86, %96 : tensor<2048x8192x8x64xbf16>
    %98 = stablehlo.broadcast_in_dim %78, dims = [1, 2, 3] : (tensor<8192x1x64xbf16>) -> tensor<1x8192x1x64xbf16>
    %99 = stablehlo.broadcast_in_dim %98, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x8x64xbf16>
    %100 = stablehlo.multiply %87, %99 : tensor<2048x8192x8x64xbf16>
    %101 = stablehlo.add %97, %100 : tensor<2048x8192x8x64xbf16>
    %102 = stablehlo.concatenate %94, %101, dim = 3 : (tensor<2048x8192x8x64xbf16>, tensor<2048x8192x8x64xbf16>) -> tensor<2048x8192x8x128xbf16>
    %103 = stablehlo.dot_general %18, %0#9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<16384x8x128xbf16>) -> tensor<2048x8192x8x128xbf16>
    %104 = stablehlo.reshape %60 : (tensor<2048x8192x128x128xbf16>) -> tensor<2048x8192x8x16x128xbf16>
    %105 = stablehlo.dot_general %102, %104, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x8x128xbf16>, tensor<2048x8192x8x16x128xbf16>) -> tensor<2048x8x8192x8192x16xbf16>
    %106 = stablehlo.transpose %105, dims = [0, 1, 4, 3, 2] : (tensor<2048x8x8192x8192x16xbf16>) -> tensor<2048x8x16x8192x8192xbf16>
    %107 = stablehlo.convert %106 : (tensor<2048x8x16x8192x8192xbf16>) -> tensor<2048x8x16x8192x8192xf32>
    %cst_9 = stablehlo.constant dense<11.3137083> : tensor<f32>
    %108 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2048x8x16x8192x8192xf32>
    %109 = stablehlo.divide %107, %108 : tensor<2048x8x16x8192x8192xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %110 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<8192x8192xi1>
    %111 = call @tril_10(%110) : (tensor<8192x8192xi1>) -> tensor<8192x8192xi1>
    %cst_10 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %112:2 = call @_where_11(%111, %109, %cst_10) : (tensor<8192x8192xi1>, tensor<2048x8x16x8192x8192xf32>, tensor<f32>) -> (tensor<2048x8x16x8192x8192xf32>, tensor<2048x8x16x8192x8192xi1>)
    %cst_11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %113 = stablehlo.reduce(%112#0 init: %cst_11) applies stablehlo.maximum across dimensions = [4] : (tensor<2048x8x16x8192x8192xf32>, tensor<f32>) -> tensor<2048x8x16x8192xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2048x8x16x8192xf32>
    %115 = stablehlo.maximum %114, %113 : tensor<2048x8x16x8192xf32>
    %116 = stablehlo.broadcast_in_dim %115, dims = [0, 1, 2, 3] : (tensor<2048x8x16x8192xf32>) -> tensor<2048x8x16x8192x1xf32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [0, 1, 2, 3, 4] : (tensor<2048x8x16x8192x1xf32>) -> tensor<2048x8x16x8192x8192xf32>
    %118 = stablehlo.subtract %112#0, %117 : tensor<2048x8x16x8192x8192xf32>
    %119 = stablehlo.exponential %118 : tensor<2048x8x16x8192x8192xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %120 = stablehlo.reduce(%119 init: %cst_13) applies stablehlo.add across dimensions = [4] : (tensor<2048x8x16x8192x8192xf32>, tensor<f32>) -> tensor<2048x8x16x8192xf32>
    %121 = stablehlo.broadcast_in_dim %120, dims = [0, 1, 2, 3] : (tensor<2048x8x16x8192xf32>) -> tensor<2048x8x16x8192x1xf32>
    %122 = stablehlo.broadcast_in_dim %121, dims = [0, 1, 2, 3, 4] : (tensor<2048x8x16x8192x1xf32>) -> tensor<2048x8x16x8192x8192xf32>
    %123 = stablehlo.divide %119, %122 : tensor<2048x8x16x8192x8192xf32>
    %124 = stablehlo.multiply %121, %121 : tensor<2048x8x16x8192x1xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2048x8x16x8192x1xf32>
    %126 = stablehlo.divide %125, %124 : tensor<2048x8x16x8192x1xf32>
    %127 = stablehlo.convert %123 : (tensor<2048x8x16x8192x8192xf32>) -> tensor<2048x8x16x8192x8192xbf16>
    %128 = stablehlo.dot_general %103, %127, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x8x128xbf16>, tensor<2048x8x16x8192x8192xbf16>) -> tensor<2048x8x128x16x8192xbf16>
    %129 = stablehlo.transpose %128, dims = [0, 4, 1, 3, 2] : (tensor<2048x8x128x16x8192xbf16>) -> tensor<2048x8192x8x16x128xbf16>
    %130 = stablehlo.reshape %129 : (tensor<2048x8192x8x16x128xbf16>) -> tensor<2048x8192x128x128xbf16>
    %131 = stablehlo.dot_general %130, %0#7, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x128x128xbf16>, tensor<128x128x16384xbf16>) -> tensor<2048x8192x16384xbf16>
    %132 = stablehlo.add %0#0, %131 : tensor<2048x8192x16384xbf16>
    %133 = stablehlo.convert %132 : (tensor<2048x8192x16384xbf16>) -> tensor<2048x8192x16384xf32>
    %134 = stablehlo.multiply %133, %133 : tensor<2048x8192x16384xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %135 = stablehlo.reduce(%134 init: %cst_15) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x16384xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %136 = stablehlo.broadcast_in_dim %135, dims = [0, 1] : (tensor<2048x8192xf32>) -> tensor<2048x8192x1xf32>
    %cst_16 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %138 = stablehlo.divide %136, %137 : tensor<2048x8192x1xf32>
    %cst_17 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %140 = stablehlo.add %138, %139 : tensor<2048x8192x1xf32>
    %141 = stablehlo.rsqrt %140 : tensor<2048x8192x1xf32>
    %142 = stablehlo.divide %141, %140 : tensor<2048x8192x1xf32>
    %cst_18 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %143 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %144 = stablehlo.multiply %143, %142 : tensor<2048x8192x1xf32>
    %145 = stablehlo.broadcast_in_dim %141, dims = [0, 1, 2] : (tensor<2048x8192x1xf32>) -> tensor<2048x8192x16384xf32>
    %146 = stablehlo.multiply %133, %145 : tensor<2048x8192x16384xf32>
    %147 = stablehlo.convert %146 : (tensor<2048x8192x16384xf32>) -> tensor<2048x8192x16384xbf16>
    %148 = stablehlo.broadcast_in_dim %0#4, dims = [2] : (tensor<16384xbf16>) -> tensor<1x1x16384xbf16>
    %149 = stablehlo.broadcast_in_dim %148, dims = [0, 1, 2] : (tensor<1x1x16384xbf16>) -> tensor<2048x8192x16384xbf16>
    %150 = stablehlo.multiply %147, %149 : tensor<2048x8192x16384xbf16>
    %151 = stablehlo.dot_general %150, %0#2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<16384x53248xbf16>) -> tensor<2048x8192x53248xbf16>
    %152:3 = call @silu_12(%151) : (tensor<2048x8192x53248xbf16>) -> (tensor<2048x8192x53248xbf16>, tensor<2048x8192x53248xbf16>, tensor<2048x8192x53248xbf16>)
    %153 = stablehlo.dot_general %150, %0#5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<16384x53248xbf16>) -> tensor<2048x8192x53248xbf16>
    %154 = stablehlo.multiply %152#0, %153 : tensor<2048x8192x53248xbf16>
    %155 = sdy.sharding_constraint %0#10 <@mesh, [{"data", "fsdp"}, {}, {}]> : tensor<2048x8192x16384xbf16>
    %156 = stablehlo.dot_general %155, %154, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<2048x8192x53248xbf16>) -> tensor<16384x53248xbf16>
    %157 = stablehlo.transpose %156, dims = [1, 0] : (tensor<16384x53248xbf16>) -> tensor<53248x16384xbf16>
    %158 = stablehlo.dot_general %155, %0#1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<53248x16384xbf16>) -> tensor<2048x8192x53248xbf16>
    %159 = stablehlo.multiply %152#0, %158 : tensor<2048x8192x53248xbf16>
    %160 = stablehlo.multiply %158, %153 : tensor<2048x8192x53248xbf16>
    %161 = stablehlo.dot_general %159, %150, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x53248xbf16>, tensor<2048x8192x16384xbf16>) -> tensor<53248x16384xbf16>
    %162 = stablehlo.transpose %161, dims = [1, 0] : (tensor<53248x16384xbf16>) -> tensor<16384x53248xbf16>
    %163 = stablehlo.dot_general %159, %0#5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x53248xbf16>, tensor<16384x53248xbf16>) -> tensor<2048x8192x16384xbf16>
    %164 = call @silu_13(%152#1, %151, %152#2, %160) : (tensor<2048x8192x53248xbf16>, tensor<2048x8192x53248xbf16>, tensor<2048x8192x53248xbf16>, tensor<2048x8192x53248xbf16>) -> tensor<2048x8192x53248xbf16>
    %165 = stablehlo.dot_general %164, %150, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x53248xbf16>, tensor<2048x8192x16384xbf16>) -> tensor<53248x16384xbf16>
    %166 = stablehlo.transpose %165, dims = [1, 0] : (tensor<53248x16384xbf16>) -> tensor<16384x53248xbf16>
    %167 = stablehlo.dot_general %164, %0#2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x53248xbf16>, tensor<16384x53248xbf16>) -> tensor<2048x8192x16384xbf16>
    %168 = stablehlo.add %163, %167 : tensor<2048x8192x16384xbf16>
    %169 = stablehlo.multiply %147, %168 : tensor<2048x8192x16384xbf16>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %170 = stablehlo.reduce(%169 init: %cst_19) applies stablehlo.add across dimensions = [0, 1] : (tensor<2048x8192x16384xbf16>, tensor<bf16>) -> tensor<16384xbf16>
    %171 = stablehlo.reshape %170 : (tensor<16384xbf16>) -> tensor<1x1x16384xbf16>
    %172 = stablehlo.broadcast_in_dim %148, dims = [0, 1, 2] : (tensor<1x1x16384xbf16>) -> tensor<2048x8192x16384xbf16>
    %173 = stablehlo.multiply %168, %172 : tensor<2048x8192x16384xbf16>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %174 = stablehlo.reduce(%171 init: %cst_20) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x16384xbf16>, tensor<bf16>) -> tensor<16384xbf16>
    %175 = stablehlo.convert %173 : (tensor<2048x8192x16384xbf16>) -> tensor<2048x8192x16384xf32>
    %176 = stablehlo.multiply %133, %175 : tensor<2048x8192x16384xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %177 = stablehlo.reduce(%176 init: %cst_21) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x16384xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %178 = stablehlo.reshape %177 : (tensor<2048x8192xf32>) -> tensor<2048x8192x1xf32>
    %179 = stablehlo.broadcast_in_dim %141, dims = [0, 1, 2] : (tensor<2048x8192x1xf32>) -> tensor<2048x8192x16384xf32>
    %180 = stablehlo.multiply %175, %179 : tensor<2048x8192x16384xf32>
    %181 = stablehlo.multiply %178, %144 : tensor<2048x8192x1xf32>
    %cst_22 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %183 = stablehlo.divide %181, %182 : tensor<2048x8192x1xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %184 = stablehlo.reduce(%183 init: %cst_23) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x1xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %185 = stablehlo.broadcast_in_dim %184, dims = [0, 1] : (tensor<2048x8192xf32>) -> tensor<2048x8192x16384xf32>
    %186 = stablehlo.multiply %133, %185 : tensor<2048x8192x16384xf32>
    %187 = stablehlo.add %180, %186 : tensor<2048x8192x16384xf32>
    %188 = stablehlo.multiply %185, %133 : tensor<2048x8192x16384xf32>
    %189 = stablehlo.add %187, %188 : tensor<2048x8192x16384xf32>
    %190 = stablehlo.convert %189 : (tensor<2048x8192x16384xf32>) -> tensor<2048x8192x16384xbf16>
    %191 = stablehlo.add %155, %190 : tensor<2048x8192x16384xbf16>
    %192 = stablehlo.dot_general %191, %130, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<2048x8192x128x128xbf16>) -> tensor<16384x128x128xbf16>
    %193 = stablehlo.transpose %192, dims = [1, 2, 0] : (tensor<16384x128x128xbf16>) -> tensor<128x128x16384xbf16>
    %194 = stablehlo.dot_general %191, %0#7, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x16384xbf16>, tensor<128x128x16384xbf16>) -> tensor<2048x8192x128x128xbf16>
    %195 = stablehlo.reshape %194 : (tensor<2048x8192x128x128xbf16>) -> tensor<2048x8192x8x16x128xbf16>
    %196 = stablehlo.transpose %195, dims = [0, 2, 4, 3, 1] : (tensor<2048x8192x8x16x128xbf16>) -> tensor<2048x8x128x16x8192xbf16>
    %197 = stablehlo.dot_general %196, %103, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2048x8x128x16x8192xbf16>, tensor<2048x8192x8x128xbf16>) -> tensor<2048x8x16x8192x8192xbf16>
    %198 = stablehlo.dot_general %196, %127, batching_dims = [0, 1] x [0, 1], contracting_dims = [3, 4] x [2, 3], precision = [DEFAULT, DEFAULT] : (tensor<2048x8x128x16x8192xbf16>, tensor<2048x8x16x8192x8192xbf16>) -> tensor<2048x8x128x8192xbf16>
    %199 = stablehlo.transpose %198, dims = [0, 3, 1, 2] : (tensor<2048x8x128x8192xbf16>) -> tensor<2048x8192x8x128xbf16>
    %200 = stablehlo.convert %197 : (tensor<2048x8x16x8192x8192xbf16>) -> tensor<2048x8x16x8192x8192xf32>
    %201 = stablehlo.broadcast_in_dim %126, dims = [0, 1, 2, 3, 4] : (tensor<2048x8x16x8192x1xf32>) -> tensor<2048x8x16x8192x8192xf32>
    %202 = stablehlo.multiply %200, %201 : tensor<2048x8x16x8192x8192xf32>
    %203 = stablehlo.multiply %202, %119 : tensor<2048x8x16x8192x8192xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %204 = stablehlo.reduce(%203 init: %cst_24) applies stablehlo.add across dimensions = [4] : (tensor<2048x8x16x8192x8192xf32>, tensor<f32>) -> tensor<2048x8x16x8192xf32>
    %205 = stablehlo.reshape %204 : (tensor<2048x8x16x8192xf32>) -> tensor<2048x8x16x8192x1xf32>
    %206 = stablehlo.negate %205 : tensor<2048x8x16x8192x1xf32>
    %207 = stablehlo.broadcast_in_dim %121, dims = [0, 1, 2, 3, 4] : (tensor<2048x8x16x8192x1xf32>) -> tensor<2048x8x16x8192x8192xf32>
    %208 = stablehlo.divide %200, %207 : tensor<2048x8x16x8192x8192xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %209 = stablehlo.reduce(%206 init: %cst_25) applies stablehlo.add across dimensions = [4] : (tensor<2048x8x16x8192x1xf32>, tensor<f32>) -> tensor<2048x8x16x8192xf32>
    %210 = stablehlo.broadcast_in_dim %209, dims = [0, 1, 2, 3] : (tensor<2048x8x16x8192xf32>) -> tensor<2048x8x16x8192x8192xf32>
    %211 = stablehlo.add %208, %210 : tensor<2048x8x16x8192x8192xf32>
    %212 = stablehlo.multiply %211, %119 : tensor<2048x8x16x8192x8192xf32>
    %213 = call @_where_14(%112#1, %212) : (tensor<2048x8x16x8192x8192xi1>, tensor<2048x8x16x8192x8192xf32>) -> tensor<2048x8x16x8192x8192xf32>
    %cst_26 = stablehlo.constant dense<11.3137083> : tensor<f32>
    %214 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<2048x8x16x8192x8192xf32>
    %215 = stablehlo.divide %213, %214 : tensor<2048x8x16x8192x8192xf32>
    %216 = stablehlo.convert %215 : (tensor<2048x8x16x8192x8192xf32>) -> tensor<2048x8x16x8192x8192xbf16>
    %217 = stablehlo.transpose %216, dims = [0, 1, 4, 3, 2] : (tensor<2048x8x16x8192x8192xbf16>) -> tensor<2048x8x8192x8192x16xbf16>
    %218 = stablehlo.dot_general %217, %102, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8x8192x8192x16xbf16>, tensor<2048x8192x8x128xbf16>) -> tensor<2048x8x8192x16x128xbf16>
    %219 = stablehlo.transpose %218, dims = [0, 2, 1, 3, 4] : (tensor<2048x8x8192x16x128xbf16>) -> tensor<2048x8192x8x16x128xbf16>
    %220 = stablehlo.dot_general %217, %104, batching_dims = [0, 1] x [0, 2], contracting_dims = [3, 4] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<2048x8x8192x8192x16xbf16>, tensor<2048x8192x8x16x128xbf16>) -> tensor<2048x8x8192x128xbf16>
    %221 = stablehlo.transpose %220, dims = [0, 2, 1, 3] : (tensor<2048x8x8192x128xbf16>) -> tensor<2048x8192x8x128xbf16>
    %222 = stablehlo.reshape %219 : (tensor<2048x8192x8x16x128xbf16>) -> tensor<2048x8192x128x128xbf16>
    %223 = stablehlo.dot_general %199, %18, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x8x128xbf16>, tensor<2048x8192x16384xbf16>) -> tensor<8x128x16384xbf16>
    %224 = stablehlo.transpose %223, dims = [2, 0, 1] : (tensor<8x128x16384xbf16>) -> tensor<16384x8x128xbf16>
    %225 = stablehlo.dot_general %199, %0#9, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x8x128xbf16>, tensor<16384x8x128xbf16>) -> tensor<2048x8192x16384xbf16>
    %226 = stablehlo.slice %221 [0:2048, 0:8192, 0:8, 0:64] : (tensor<2048x8192x8x128xbf16>) -> tensor<2048x8192x8x64xbf16>
    %227 = stablehlo.slice %221 [0:2048, 0:8192, 0:8, 64:128] : (tensor<2048x8192x8x128xbf16>) -> tensor<2048x8192x8x64xbf16>
    %228 = stablehlo.broadcast_in_dim %98, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x8x64xbf16>
    %229 = stablehlo.multiply %227, %228 : tensor<2048x8192x8x64xbf16>
    %230 = stablehlo.broadcast_in_dim %95, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x8x64xbf16>
    %231 = stablehlo.multiply %227, %230 : tensor<2048x8192x8x64xbf16>
    %232 = stablehlo.negate %226 : tensor<2048x8192x8x64xbf16>
    %233 = stablehlo.broadcast_in_dim %91, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x8x64xbf16>
    %234 = stablehlo.multiply %232, %233 : tensor<2048x8192x8x64xbf16>
    %235 = stablehlo.add %229, %234 : tensor<2048x8192x8x64xbf16>
    %236 = stablehlo.broadcast_in_dim %88, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x8x64xbf16>
    %237 = stablehlo.multiply %226, %236 : tensor<2048x8192x8x64xbf16>
    %238 = stablehlo.add %231, %237 : tensor<2048x8192x8x64xbf16>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %239 = stablehlo.pad %235, %cst_27, low = [0, 0, 0, 64], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<2048x8192x8x64xbf16>, tensor<bf16>) -> tensor<2048x8192x8x128xbf16>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %240 = stablehlo.pad %238, %cst_28, low = [0, 0, 0, 0], high = [0, 0, 0, 64], interior = [0, 0, 0, 0] : (tensor<2048x8192x8x64xbf16>, tensor<bf16>) -> tensor<2048x8192x8x128xbf16>
    %241 = stablehlo.add %239, %240 : tensor<2048x8192x8x128xbf16>
    %242 = stablehlo.dot_general %241, %18, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x8x128xbf16>, tensor<2048x8192x16384xbf16>) -> tensor<8x128x16384xbf16>
    %243 = stablehlo.transpose %242, dims = [2, 0, 1] : (tensor<8x128x16384xbf16>) -> tensor<16384x8x128xbf16>
    %244 = stablehlo.dot_general %241, %0#6, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x8x128xbf16>, tensor<16384x8x128xbf16>) -> tensor<2048x8192x16384xbf16>
    %245 = stablehlo.add %225, %244 : tensor<2048x8192x16384xbf16>
    %246 = stablehlo.slice %222 [0:2048, 0:8192, 0:128, 0:64] : (tensor<2048x8192x128x128xbf16>) -> tensor<2048x8192x128x64xbf16>
    %247 = stablehlo.slice %222 [0:2048, 0:8192, 0:128, 64:128] : (tensor<2048x8192x128x128xbf16>) -> tensor<2048x8192x128x64xbf16>
    %248 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x128x64xbf16>
    %249 = stablehlo.multiply %247, %248 : tensor<2048x8192x128x64xbf16>
    %250 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x128x64xbf16>
    %251 = stablehlo.multiply %247, %250 : tensor<2048x8192x128x64xbf16>
    %252 = stablehlo.negate %246 : tensor<2048x8192x128x64xbf16>
    %253 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x128x64xbf16>
    %254 = stablehlo.multiply %252, %253 : tensor<2048x8192x128x64xbf16>
    %255 = stablehlo.add %249, %254 : tensor<2048x8192x128x64xbf16>
    %256 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2, 3] : (tensor<1x8192x1x64xbf16>) -> tensor<2048x8192x128x64xbf16>
    %257 = stablehlo.multiply %246, %256 : tensor<2048x8192x128x64xbf16>
    %258 = stablehlo.add %251, %257 : tensor<2048x8192x128x64xbf16>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %259 = stablehlo.pad %255, %cst_29, low = [0, 0, 0, 64], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<2048x8192x128x64xbf16>, tensor<bf16>) -> tensor<2048x8192x128x128xbf16>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %260 = stablehlo.pad %258, %cst_30, low = [0, 0, 0, 0], high = [0, 0, 0, 64], interior = [0, 0, 0, 0] : (tensor<2048x8192x128x64xbf16>, tensor<bf16>) -> tensor<2048x8192x128x128xbf16>
    %261 = stablehlo.add %259, %260 : tensor<2048x8192x128x128xbf16>
    %262 = stablehlo.dot_general %261, %18, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x128x128xbf16>, tensor<2048x8192x16384xbf16>) -> tensor<128x128x16384xbf16>
    %263 = stablehlo.transpose %262, dims = [2, 0, 1] : (tensor<128x128x16384xbf16>) -> tensor<16384x128x128xbf16>
    %264 = stablehlo.dot_general %261, %0#8, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<2048x8192x128x128xbf16>, tensor<16384x128x128xbf16>) -> tensor<2048x8192x16384xbf16>
    %265 = stablehlo.add %245, %264 : tensor<2048x8192x16384xbf16>
    %266 = stablehlo.multiply %15, %265 : tensor<2048x8192x16384xbf16>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %267 = stablehlo.reduce(%266 init: %cst_31) applies stablehlo.add across dimensions = [0, 1] : (tensor<2048x8192x16384xbf16>, tensor<bf16>) -> tensor<16384xbf16>
    %268 = stablehlo.reshape %267 : (tensor<16384xbf16>) -> tensor<1x1x16384xbf16>
    %269 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x1x16384xbf16>) -> tensor<2048x8192x16384xbf16>
    %270 = stablehlo.multiply %265, %269 : tensor<2048x8192x16384xbf16>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %271 = stablehlo.reduce(%268 init: %cst_32) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x16384xbf16>, tensor<bf16>) -> tensor<16384xbf16>
    %272 = stablehlo.convert %270 : (tensor<2048x8192x16384xbf16>) -> tensor<2048x8192x16384xf32>
    %273 = stablehlo.multiply %1, %272 : tensor<2048x8192x16384xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %274 = stablehlo.reduce(%273 init: %cst_33) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x16384xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %275 = stablehlo.reshape %274 : (tensor<2048x8192xf32>) -> tensor<2048x8192x1xf32>
    %276 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2048x8192x1xf32>) -> tensor<2048x8192x16384xf32>
    %277 = stablehlo.multiply %272, %276 : tensor<2048x8192x16384xf32>
    %278 = stablehlo.multiply %275, %12 : tensor<2048x8192x1xf32>
    %cst_34 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %279 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<2048x8192x1xf32>
    %280 = stablehlo.divide %278, %279 : tensor<2048x8192x1xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %281 = stablehlo.reduce(%280 init: %cst_35) applies stablehlo.add across dimensions = [2] : (tensor<2048x8192x1xf32>, tensor<f32>) -> tensor<2048x8192xf32>
    %282 = stablehlo.broadcast_in_dim %281, dims = [0, 1] : (tensor<2048x8192xf32>) -> tensor<2048x8192x16384xf32>
    %283 = stablehlo.multiply %1, %282 : tensor<2048x8192x16384xf32>
    %284 = stablehlo.add %277, %283 : tensor<2048x8192x16384xf32>
    %285 = stablehlo.multiply %282, %1 : tensor<2048x8192x16384xf32>
    %286 = stablehlo.add %284, %285 : tensor<2048x8192x16384xf32>
    %287 = stablehlo.convert %286 : (tensor<2048x8192x16384xf32>) -> tensor<2048x8192x16384xbf16>
    %288 = stablehlo.add %191, %287 : tensor<2048x8192x16384xbf16>
    return %288, %157, %166, %271, %174, %162, %243, %193, %263, %224 : tensor<2048x8192x16384xbf16>, tensor<53248x16384xbf16>, tensor<16384x53248xbf16>, tensor<16384xbf16>, tensor<16384xbf16>, tensor<16384x53248xbf16>, tensor<16384x8x128xbf16>, tensor<128x128x16384xbf16>, tensor<16384x128x128xbf16>, tensor<16384x8x128xbf16>
  }
  func.func private @tril_10(%arg0: tensor<8192x8192xi1>) -> tensor<8192x8192xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<8192x8192xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8192x8192xi32>
    %2 = stablehlo.add %0, %1 : tensor<8192x8192xi32>
    %3 = stablehlo.iota dim = 1 : tensor<8192x8192xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<8192x8192xi32>, tensor<8192x8192xi32>) -> tensor<8192x8192xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<8192x8192xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<8192x8192xi1>, tensor<8192x8192xi1>
    return %6 : tensor<8192x8192xi1>
  }
  func.func private @_where_11(%arg0: tensor<8192x8192xi1>, %arg1: tensor<2048x8x16x8192x8192xf32>, %arg2: tensor<f32>) -> (tensor<2048x8x16x8192x8192xf32>, tensor<2048x8x16x8192x8192xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3, 4] : (tensor<8192x8192xi1>) -> tensor<2048x8x16x8192x8192xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2048x8x16x8192x8192xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2048x8x16x8192x8192xi1>, tensor<2048x8x16x8192x8192xf32>
    return %3, %1 : tensor<2048x8x16x8192x8192xf32>, tensor<2048x8x16x8192x8192xi1>
  }
  func.func private @silu_12(%arg0: tensor<2048x8192x53248xbf16>) -> (tensor<2048x8192x53248xbf16>, tensor<2048x8192x53248xbf16>, tensor<2048x8192x53248xbf16>) {
    %0 = stablehlo.negate %arg0 : tensor<2048x8192x53248xbf16>
    %1 = stablehlo.exponential %0 : tensor<2048x8192x53248xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2048x8192x53248xbf16>
    %3 = stablehlo.add %2, %1 : tensor<2048x8192x53248xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2048x8192x53248xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<2048x8192x53248xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<2048x8192x53248xbf16>
    %7 = stablehlo.subtract %6, %5 : tensor<2048x8192x53248xbf16>
    %8 = stablehlo.multiply %5, %7 : tensor<2048x8192x53248xbf16>
    %9 = stablehlo.multiply %arg0, %5 : tensor<2048x8192x53248xbf16>
    return %9, %5, %8 : tensor<2048x8192x53248xbf16>, tensor<2048x8192x53248xbf16>, tensor<2048x8192x53248xbf16>
  }
  func.func private @silu_13(%arg0: tensor<2048x8192x53248xbf16>, %arg1: tensor<2048x8192x53248xbf16>, %arg2: tensor<2048x8192x53248xbf16>, %arg3: tensor<2048x8192x53248xbf16>) -> tensor<2048x8192x53248xbf16> {
    %0 = stablehlo.multiply %arg1, %arg3 : tensor<2048x8192x53248xbf16>
    %1 = stablehlo.multiply %arg3, %arg0 : tensor<2048x8192x53248xbf16>
    %2 = stablehlo.multiply %0, %arg2 : tensor<2048x8192x53248xbf16>
    %3 = stablehlo.add %1, %2 : tensor<2048x8192x53248xbf16>
    return %3 : tensor<2048x8192x53248xbf16>
  }
  func.func private @_where_14(%arg0: tensor<2048x8x16x8192x8192xi1>, %arg1: tensor<2048x8x16x8192x8192xf32>) -> tensor<2048x8x16x8192x8192xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2048x8x16x8192x8192xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2048x8x16x8192x8192xi1>, tensor<2048x8x16x8192x8192xf32>
    return %1 : tensor<2048x8x16x8192x8192xf32>
  }
  func.func private @dynamic_update_index_in_dim_15(%arg0: tensor<126x53248x16384xbf16>, %arg1: tensor<53248x16384xbf16>, %arg2: tensor<i32>) -> tensor<126x53248x16384xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<53248x16384xbf16>) -> tensor<1x53248x16384xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<126x53248x16384xbf16>, tensor<1x53248x16384xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<126x53248x16384xbf16>
    return %1 : tensor<126x53248x16384xbf16>
  }
  func.func private @dynamic_update_index_in_dim_16(%arg0: tensor<126x16384x53248xbf16>, %arg1: tensor<16384x53248xbf16>, %arg2: tensor<i32>) -> tensor<126x16384x53248xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<16384x53248xbf16>) -> tensor<1x16384x53248xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<126x16384x53248xbf16>, tensor<1x16384x53248xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<126x16384x53248xbf16>
    return %1 : tensor<126x16384x53248xbf16>
  }
  func.func private @dynamic_update_index_in_dim_17(%arg0: tensor<126x16384xbf16>, %arg1: tensor<16384xbf16>, %arg2: tensor<i32>) -> tensor<126x16384xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<16384xbf16>) -> tensor<1x16384xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<126x16384xbf16>, tensor<1x16384xbf16>, tensor<i32>, tensor<i32>) -> tensor<126x16384xbf16>
    return %1 : tensor<126x16384xbf16>
  }
  func.func private @dynamic_update_index_in_dim_18(%arg0: tensor<126x16384x8x128xbf16>, %arg1: tensor<16384x8x128xbf16>, %arg2: tensor<i32>) -> tensor<126x16384x8x128xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<16384x8x128xbf16>) -> tensor<1x16384x8x128xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<126x16384x8x128xbf16>, tensor<1x16384x8x128xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<126x16384x8x128xbf16>
    return %1 : tensor<126x16384x8x128xbf16>
  }
  func.func private @dynamic_update_index_in_dim_19(%arg0: tensor<126x128x128x16384xbf16>, %arg1: tensor<128x128x16384xbf16>, %arg2: tensor<i32>) -> tensor<126x128x128x16384xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<128x128x16384xbf16>) -> tensor<1x128x128x16384xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<126x128x128x16384xbf16>, tensor<1x128x128x16384xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<126x128x128x16384xbf16>
    return %1 : tensor<126x128x128x16384xbf16>
  }
  func.func private @dynamic_update_index_in_dim_20(%arg0: tensor<126x16384x128x128xbf16>, %arg1: tensor<16384x128x128xbf16>, %arg2: tensor<i32>) -> tensor<126x16384x128x128xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<16384x128x128xbf16>) -> tensor<1x16384x128x128xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<126x16384x128x128xbf16>, tensor<1x16384x128x128xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<126x16384x128x128xbf16>
    return %1 : tensor<126x16384x128x128xbf16>
  }
}
