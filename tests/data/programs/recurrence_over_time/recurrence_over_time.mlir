module @jit_recurrence_over_time attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<128x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<128x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<128x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.negate %arg0 : tensor<128x8xf32>
    %1 = stablehlo.exponential %0 : tensor<128x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<128x8xf32>
    %3 = stablehlo.add %2, %1 : tensor<128x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<128x8xf32>
    %5 = stablehlo.divide %4, %3 : tensor<128x8xf32>
    %6 = stablehlo.slice %5 [0:127:2, 0:8] : (tensor<128x8xf32>) -> tensor<64x8xf32>
    %7 = stablehlo.slice %arg1 [0:127:2, 0:8] : (tensor<128x8xf32>) -> tensor<64x8xf32>
    %8 = stablehlo.slice %5 [1:128:2, 0:8] : (tensor<128x8xf32>) -> tensor<64x8xf32>
    %9 = stablehlo.slice %arg1 [1:128:2, 0:8] : (tensor<128x8xf32>) -> tensor<64x8xf32>
    %10 = stablehlo.multiply %6, %8 : tensor<64x8xf32>
    %11 = stablehlo.multiply %8, %7 : tensor<64x8xf32>
    %12 = stablehlo.add %11, %9 : tensor<64x8xf32>
    %13 = stablehlo.slice %10 [0:63:2, 0:8] : (tensor<64x8xf32>) -> tensor<32x8xf32>
    %14 = stablehlo.slice %12 [0:63:2, 0:8] : (tensor<64x8xf32>) -> tensor<32x8xf32>
    %15 = stablehlo.slice %10 [1:64:2, 0:8] : (tensor<64x8xf32>) -> tensor<32x8xf32>
    %16 = stablehlo.slice %12 [1:64:2, 0:8] : (tensor<64x8xf32>) -> tensor<32x8xf32>
    %17 = stablehlo.multiply %13, %15 : tensor<32x8xf32>
    %18 = stablehlo.multiply %15, %14 : tensor<32x8xf32>
    %19 = stablehlo.add %18, %16 : tensor<32x8xf32>
    %20 = stablehlo.slice %17 [0:31:2, 0:8] : (tensor<32x8xf32>) -> tensor<16x8xf32>
    %21 = stablehlo.slice %19 [0:31:2, 0:8] : (tensor<32x8xf32>) -> tensor<16x8xf32>
    %22 = stablehlo.slice %17 [1:32:2, 0:8] : (tensor<32x8xf32>) -> tensor<16x8xf32>
    %23 = stablehlo.slice %19 [1:32:2, 0:8] : (tensor<32x8xf32>) -> tensor<16x8xf32>
    %24 = stablehlo.multiply %20, %22 : tensor<16x8xf32>
    %25 = stablehlo.multiply %22, %21 : tensor<16x8xf32>
    %26 = stablehlo.add %25, %23 : tensor<16x8xf32>
    %27 = stablehlo.slice %24 [0:15:2, 0:8] : (tensor<16x8xf32>) -> tensor<8x8xf32>
    %28 = stablehlo.slice %26 [0:15:2, 0:8] : (tensor<16x8xf32>) -> tensor<8x8xf32>
    %29 = stablehlo.slice %24 [1:16:2, 0:8] : (tensor<16x8xf32>) -> tensor<8x8xf32>
    %30 = stablehlo.slice %26 [1:16:2, 0:8] : (tensor<16x8xf32>) -> tensor<8x8xf32>
    %31 = stablehlo.multiply %27, %29 : tensor<8x8xf32>
    %32 = stablehlo.multiply %29, %28 : tensor<8x8xf32>
    %33 = stablehlo.add %32, %30 : tensor<8x8xf32>
    %34 = stablehlo.slice %31 [0:7:2, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %35 = stablehlo.slice %33 [0:7:2, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %36 = stablehlo.slice %31 [1:8:2, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %37 = stablehlo.slice %33 [1:8:2, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %38 = stablehlo.multiply %34, %36 : tensor<4x8xf32>
    %39 = stablehlo.multiply %36, %35 : tensor<4x8xf32>
    %40 = stablehlo.add %39, %37 : tensor<4x8xf32>
    %41 = stablehlo.slice %38 [0:3:2, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
    %42 = stablehlo.slice %40 [0:3:2, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
    %43 = stablehlo.slice %38 [1:4:2, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
    %44 = stablehlo.slice %40 [1:4:2, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
    %45 = stablehlo.multiply %41, %43 : tensor<2x8xf32>
    %46 = stablehlo.multiply %43, %42 : tensor<2x8xf32>
    %47 = stablehlo.add %46, %44 : tensor<2x8xf32>
    %48 = stablehlo.slice %45 [0:1:2, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %49 = stablehlo.slice %47 [0:1:2, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %50 = stablehlo.slice %45 [1:2:2, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %51 = stablehlo.slice %47 [1:2:2, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %52 = stablehlo.multiply %48, %50 : tensor<1x8xf32>
    %53 = stablehlo.multiply %50, %49 : tensor<1x8xf32>
    %54 = stablehlo.add %53, %51 : tensor<1x8xf32>
    %55 = stablehlo.slice %52 [0:0, 0:8] : (tensor<1x8xf32>) -> tensor<0x8xf32>
    %56 = stablehlo.slice %54 [0:0, 0:8] : (tensor<1x8xf32>) -> tensor<0x8xf32>
    %57 = stablehlo.slice %45 [2:2:2, 0:8] : (tensor<2x8xf32>) -> tensor<0x8xf32>
    %58 = stablehlo.slice %47 [2:2:2, 0:8] : (tensor<2x8xf32>) -> tensor<0x8xf32>
    %59 = stablehlo.multiply %55, %57 : tensor<0x8xf32>
    %60 = stablehlo.multiply %57, %56 : tensor<0x8xf32>
    %61 = stablehlo.add %60, %58 : tensor<0x8xf32>
    %62 = stablehlo.slice %45 [0:1, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %63 = stablehlo.concatenate %62, %59, dim = 0 : (tensor<1x8xf32>, tensor<0x8xf32>) -> tensor<1x8xf32>
    %64 = stablehlo.slice %47 [0:1, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %65 = stablehlo.concatenate %64, %61, dim = 0 : (tensor<1x8xf32>, tensor<0x8xf32>) -> tensor<1x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %66 = stablehlo.pad %63, %cst_1, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.pad %52, %cst_2, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %68 = stablehlo.add %66, %67 : tensor<2x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %69 = stablehlo.pad %65, %cst_3, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.pad %54, %cst_4, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %71 = stablehlo.add %69, %70 : tensor<2x8xf32>
    %72 = stablehlo.slice %68 [0:1, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %73 = stablehlo.slice %71 [0:1, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %74 = stablehlo.slice %38 [2:4:2, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>
    %75 = stablehlo.slice %40 [2:4:2, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>
    %76 = stablehlo.multiply %72, %74 : tensor<1x8xf32>
    %77 = stablehlo.multiply %74, %73 : tensor<1x8xf32>
    %78 = stablehlo.add %77, %75 : tensor<1x8xf32>
    %79 = stablehlo.slice %38 [0:1, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>
    %80 = stablehlo.concatenate %79, %76, dim = 0 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
    %81 = stablehlo.slice %40 [0:1, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>
    %82 = stablehlo.concatenate %81, %78, dim = 0 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %83 = stablehlo.pad %80, %cst_5, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<2x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %84 = stablehlo.pad %68, %cst_6, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<2x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %85 = stablehlo.add %83, %84 : tensor<4x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %86 = stablehlo.pad %82, %cst_7, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<2x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %87 = stablehlo.pad %71, %cst_8, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<2x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %88 = stablehlo.add %86, %87 : tensor<4x8xf32>
    %89 = stablehlo.slice %85 [0:3, 0:8] : (tensor<4x8xf32>) -> tensor<3x8xf32>
    %90 = stablehlo.slice %88 [0:3, 0:8] : (tensor<4x8xf32>) -> tensor<3x8xf32>
    %91 = stablehlo.slice %31 [2:8:2, 0:8] : (tensor<8x8xf32>) -> tensor<3x8xf32>
    %92 = stablehlo.slice %33 [2:8:2, 0:8] : (tensor<8x8xf32>) -> tensor<3x8xf32>
    %93 = stablehlo.multiply %89, %91 : tensor<3x8xf32>
    %94 = stablehlo.multiply %91, %90 : tensor<3x8xf32>
    %95 = stablehlo.add %94, %92 : tensor<3x8xf32>
    %96 = stablehlo.slice %31 [0:1, 0:8] : (tensor<8x8xf32>) -> tensor<1x8xf32>
    %97 = stablehlo.concatenate %96, %93, dim = 0 : (tensor<1x8xf32>, tensor<3x8xf32>) -> tensor<4x8xf32>
    %98 = stablehlo.slice %33 [0:1, 0:8] : (tensor<8x8xf32>) -> tensor<1x8xf32>
    %99 = stablehlo.concatenate %98, %95, dim = 0 : (tensor<1x8xf32>, tensor<3x8xf32>) -> tensor<4x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %100 = stablehlo.pad %97, %cst_9, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %101 = stablehlo.pad %85, %cst_10, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    %102 = stablehlo.add %100, %101 : tensor<8x8xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %103 = stablehlo.pad %99, %cst_11, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %104 = stablehlo.pad %88, %cst_12, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    %105 = stablehlo.add %103, %104 : tensor<8x8xf32>
    %106 = stablehlo.slice %102 [0:7, 0:8] : (tensor<8x8xf32>) -> tensor<7x8xf32>
    %107 = stablehlo.slice %105 [0:7, 0:8] : (tensor<8x8xf32>) -> tensor<7x8xf32>
    %108 = stablehlo.slice %24 [2:16:2, 0:8] : (tensor<16x8xf32>) -> tensor<7x8xf32>
    %109 = stablehlo.slice %26 [2:16:2, 0:8] : (tensor<16x8xf32>) -> tensor<7x8xf32>
    %110 = stablehlo.multiply %106, %108 : tensor<7x8xf32>
    %111 = stablehlo.multiply %108, %107 : tensor<7x8xf32>
    %112 = stablehlo.add %111, %109 : tensor<7x8xf32>
    %113 = stablehlo.slice %24 [0:1, 0:8] : (tensor<16x8xf32>) -> tensor<1x8xf32>
    %114 = stablehlo.concatenate %113, %110, dim = 0 : (tensor<1x8xf32>, tensor<7x8xf32>) -> tensor<8x8xf32>
    %115 = stablehlo.slice %26 [0:1, 0:8] : (tensor<16x8xf32>) -> tensor<1x8xf32>
    %116 = stablehlo.concatenate %115, %112, dim = 0 : (tensor<1x8xf32>, tensor<7x8xf32>) -> tensor<8x8xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %117 = stablehlo.pad %114, %cst_13, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<16x8xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %118 = stablehlo.pad %102, %cst_14, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<16x8xf32>
    %119 = stablehlo.add %117, %118 : tensor<16x8xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %120 = stablehlo.pad %116, %cst_15, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<16x8xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %121 = stablehlo.pad %105, %cst_16, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<16x8xf32>
    %122 = stablehlo.add %120, %121 : tensor<16x8xf32>
    %123 = stablehlo.slice %119 [0:15, 0:8] : (tensor<16x8xf32>) -> tensor<15x8xf32>
    %124 = stablehlo.slice %122 [0:15, 0:8] : (tensor<16x8xf32>) -> tensor<15x8xf32>
    %125 = stablehlo.slice %17 [2:32:2, 0:8] : (tensor<32x8xf32>) -> tensor<15x8xf32>
    %126 = stablehlo.slice %19 [2:32:2, 0:8] : (tensor<32x8xf32>) -> tensor<15x8xf32>
    %127 = stablehlo.multiply %123, %125 : tensor<15x8xf32>
    %128 = stablehlo.multiply %125, %124 : tensor<15x8xf32>
    %129 = stablehlo.add %128, %126 : tensor<15x8xf32>
    %130 = stablehlo.slice %17 [0:1, 0:8] : (tensor<32x8xf32>) -> tensor<1x8xf32>
    %131 = stablehlo.concatenate %130, %127, dim = 0 : (tensor<1x8xf32>, tensor<15x8xf32>) -> tensor<16x8xf32>
    %132 = stablehlo.slice %19 [0:1, 0:8] : (tensor<32x8xf32>) -> tensor<1x8xf32>
    %133 = stablehlo.concatenate %132, %129, dim = 0 : (tensor<1x8xf32>, tensor<15x8xf32>) -> tensor<16x8xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %134 = stablehlo.pad %131, %cst_17, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<16x8xf32>, tensor<f32>) -> tensor<32x8xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %135 = stablehlo.pad %119, %cst_18, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<16x8xf32>, tensor<f32>) -> tensor<32x8xf32>
    %136 = stablehlo.add %134, %135 : tensor<32x8xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %137 = stablehlo.pad %133, %cst_19, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<16x8xf32>, tensor<f32>) -> tensor<32x8xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %138 = stablehlo.pad %122, %cst_20, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<16x8xf32>, tensor<f32>) -> tensor<32x8xf32>
    %139 = stablehlo.add %137, %138 : tensor<32x8xf32>
    %140 = stablehlo.slice %136 [0:31, 0:8] : (tensor<32x8xf32>) -> tensor<31x8xf32>
    %141 = stablehlo.slice %139 [0:31, 0:8] : (tensor<32x8xf32>) -> tensor<31x8xf32>
    %142 = stablehlo.slice %10 [2:64:2, 0:8] : (tensor<64x8xf32>) -> tensor<31x8xf32>
    %143 = stablehlo.slice %12 [2:64:2, 0:8] : (tensor<64x8xf32>) -> tensor<31x8xf32>
    %144 = stablehlo.multiply %140, %142 : tensor<31x8xf32>
    %145 = stablehlo.multiply %142, %141 : tensor<31x8xf32>
    %146 = stablehlo.add %145, %143 : tensor<31x8xf32>
    %147 = stablehlo.slice %10 [0:1, 0:8] : (tensor<64x8xf32>) -> tensor<1x8xf32>
    %148 = stablehlo.concatenate %147, %144, dim = 0 : (tensor<1x8xf32>, tensor<31x8xf32>) -> tensor<32x8xf32>
    %149 = stablehlo.slice %12 [0:1, 0:8] : (tensor<64x8xf32>) -> tensor<1x8xf32>
    %150 = stablehlo.concatenate %149, %146, dim = 0 : (tensor<1x8xf32>, tensor<31x8xf32>) -> tensor<32x8xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %151 = stablehlo.pad %148, %cst_21, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<32x8xf32>, tensor<f32>) -> tensor<64x8xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %152 = stablehlo.pad %136, %cst_22, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<32x8xf32>, tensor<f32>) -> tensor<64x8xf32>
    %153 = stablehlo.add %151, %152 : tensor<64x8xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %154 = stablehlo.pad %150, %cst_23, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<32x8xf32>, tensor<f32>) -> tensor<64x8xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %155 = stablehlo.pad %139, %cst_24, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<32x8xf32>, tensor<f32>) -> tensor<64x8xf32>
    %156 = stablehlo.add %154, %155 : tensor<64x8xf32>
    %157 = stablehlo.slice %153 [0:63, 0:8] : (tensor<64x8xf32>) -> tensor<63x8xf32>
    %158 = stablehlo.slice %156 [0:63, 0:8] : (tensor<64x8xf32>) -> tensor<63x8xf32>
    %159 = stablehlo.slice %5 [2:128:2, 0:8] : (tensor<128x8xf32>) -> tensor<63x8xf32>
    %160 = stablehlo.slice %arg1 [2:128:2, 0:8] : (tensor<128x8xf32>) -> tensor<63x8xf32>
    %161 = stablehlo.multiply %157, %159 : tensor<63x8xf32>
    %162 = stablehlo.multiply %159, %158 : tensor<63x8xf32>
    %163 = stablehlo.add %162, %160 : tensor<63x8xf32>
    %164 = stablehlo.slice %5 [0:1, 0:8] : (tensor<128x8xf32>) -> tensor<1x8xf32>
    %165 = stablehlo.concatenate %164, %161, dim = 0 : (tensor<1x8xf32>, tensor<63x8xf32>) -> tensor<64x8xf32>
    %166 = stablehlo.slice %arg1 [0:1, 0:8] : (tensor<128x8xf32>) -> tensor<1x8xf32>
    %167 = stablehlo.concatenate %166, %163, dim = 0 : (tensor<1x8xf32>, tensor<63x8xf32>) -> tensor<64x8xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %168 = stablehlo.pad %165, %cst_25, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<64x8xf32>, tensor<f32>) -> tensor<128x8xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %169 = stablehlo.pad %153, %cst_26, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<64x8xf32>, tensor<f32>) -> tensor<128x8xf32>
    %170 = stablehlo.add %168, %169 : tensor<128x8xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %171 = stablehlo.pad %167, %cst_27, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<64x8xf32>, tensor<f32>) -> tensor<128x8xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %172 = stablehlo.pad %156, %cst_28, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<64x8xf32>, tensor<f32>) -> tensor<128x8xf32>
    %173 = stablehlo.add %171, %172 : tensor<128x8xf32>
    return %173 : tensor<128x8xf32>
  }
}
