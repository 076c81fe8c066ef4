module @jit_special_functions attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) -> (tensor<16x32xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, tensor<16x32xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, tensor<16x32xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, tensor<16x32xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, tensor<16x32xf32> {jax.result_info = "result[4]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, tensor<16x32xf32> {jax.result_info = "result[5]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) {
    %0 = stablehlo.abs %arg0 : tensor<16x32xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %2 = stablehlo.add %0, %1 : tensor<16x32xf32>
    %3 = chlo.lgamma %2 : tensor<16x32xf32> -> tensor<16x32xf32>
    %4 = chlo.digamma %2 : tensor<16x32xf32> -> tensor<16x32xf32>
    %5 = stablehlo.tanh %arg0 : tensor<16x32xf32>
    %cst_0 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %7 = stablehlo.multiply %5, %6 : tensor<16x32xf32>
    %8 = chlo.erf_inv %7 : tensor<16x32xf32> -> tensor<16x32xf32>
    %9 = chlo.bessel_i1e %arg0 : tensor<16x32xf32> -> tensor<16x32xf32>
    %10 = stablehlo.abs %arg0 : tensor<16x32xf32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %cst_3 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %14 = stablehlo.multiply %11, %10 : tensor<16x32xf32>
    %15 = stablehlo.subtract %14, %12 : tensor<16x32xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %19 = stablehlo.multiply %15, %16 : tensor<16x32xf32>
    %20 = stablehlo.subtract %19, %17 : tensor<16x32xf32>
    %cst_7 = stablehlo.constant dense<-1.30002498E-8> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %22 = stablehlo.add %20, %21 : tensor<16x32xf32>
    %23 = stablehlo.multiply %15, %22 : tensor<16x32xf32>
    %24 = stablehlo.subtract %23, %16 : tensor<16x32xf32>
    %cst_8 = stablehlo.constant dense<6.04699508E-8> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %26 = stablehlo.add %24, %25 : tensor<16x32xf32>
    %27 = stablehlo.multiply %15, %26 : tensor<16x32xf32>
    %28 = stablehlo.subtract %27, %22 : tensor<16x32xf32>
    %cst_9 = stablehlo.constant dense<-2.67079372E-7> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %30 = stablehlo.add %28, %29 : tensor<16x32xf32>
    %31 = stablehlo.multiply %15, %30 : tensor<16x32xf32>
    %32 = stablehlo.subtract %31, %26 : tensor<16x32xf32>
    %cst_10 = stablehlo.constant dense<1.11738757E-6> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %34 = stablehlo.add %32, %33 : tensor<16x32xf32>
    %35 = stablehlo.multiply %15, %34 : tensor<16x32xf32>
    %36 = stablehlo.subtract %35, %30 : tensor<16x32xf32>
    %cst_11 = stablehlo.constant dense<-4.41673819E-6> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %38 = stablehlo.add %36, %37 : tensor<16x32xf32>
    %39 = stablehlo.multiply %15, %38 : tensor<16x32xf32>
    %40 = stablehlo.subtract %39, %34 : tensor<16x32xf32>
    %cst_12 = stablehlo.constant dense<1.64484482E-5> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %42 = stablehlo.add %40, %41 : tensor<16x32xf32>
    %43 = stablehlo.multiply %15, %42 : tensor<16x32xf32>
    %44 = stablehlo.subtract %43, %38 : tensor<16x32xf32>
    %cst_13 = stablehlo.constant dense<-5.75419508E-5> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %46 = stablehlo.add %44, %45 : tensor<16x32xf32>
    %47 = stablehlo.multiply %15, %46 : tensor<16x32xf32>
    %48 = stablehlo.subtract %47, %42 : tensor<16x32xf32>
    %cst_14 = stablehlo.constant dense<1.88502891E-4> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %50 = stablehlo.add %48, %49 : tensor<16x32xf32>
    %51 = stablehlo.multiply %15, %50 : tensor<16x32xf32>
    %52 = stablehlo.subtract %51, %46 : tensor<16x32xf32>
    %cst_15 = stablehlo.constant dense<-5.76375576E-4> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %54 = stablehlo.add %52, %53 : tensor<16x32xf32>
    %55 = stablehlo.multiply %15, %54 : tensor<16x32xf32>
    %56 = stablehlo.subtract %55, %50 : tensor<16x32xf32>
    %cst_16 = stablehlo.constant dense<0.00163947558> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %58 = stablehlo.add %56, %57 : tensor<16x32xf32>
    %59 = stablehlo.multiply %15, %58 : tensor<16x32xf32>
    %60 = stablehlo.subtract %59, %54 : tensor<16x32xf32>
    %cst_17 = stablehlo.constant dense<-4.324310e-03> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %62 = stablehlo.add %60, %61 : tensor<16x32xf32>
    %63 = stablehlo.multiply %15, %62 : tensor<16x32xf32>
    %64 = stablehlo.subtract %63, %58 : tensor<16x32xf32>
    %cst_18 = stablehlo.constant dense<0.0105464607> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %66 = stablehlo.add %64, %65 : tensor<16x32xf32>
    %67 = stablehlo.multiply %15, %66 : tensor<16x32xf32>
    %68 = stablehlo.subtract %67, %62 : tensor<16x32xf32>
    %cst_19 = stablehlo.constant dense<-0.0237374157> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %70 = stablehlo.add %68, %69 : tensor<16x32xf32>
    %71 = stablehlo.multiply %15, %70 : tensor<16x32xf32>
    %72 = stablehlo.subtract %71, %66 : tensor<16x32xf32>
    %cst_20 = stablehlo.constant dense<0.0493052825> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %74 = stablehlo.add %72, %73 : tensor<16x32xf32>
    %75 = stablehlo.multiply %15, %74 : tensor<16x32xf32>
    %76 = stablehlo.subtract %75, %70 : tensor<16x32xf32>
    %cst_21 = stablehlo.constant dense<-9.490110e-02> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %78 = stablehlo.add %76, %77 : tensor<16x32xf32>
    %79 = stablehlo.multiply %15, %78 : tensor<16x32xf32>
    %80 = stablehlo.subtract %79, %74 : tensor<16x32xf32>
    %cst_22 = stablehlo.constant dense<0.171620905> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %82 = stablehlo.add %80, %81 : tensor<16x32xf32>
    %83 = stablehlo.multiply %15, %82 : tensor<16x32xf32>
    %84 = stablehlo.subtract %83, %78 : tensor<16x32xf32>
    %cst_23 = stablehlo.constant dense<-0.304682672> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %86 = stablehlo.add %84, %85 : tensor<16x32xf32>
    %87 = stablehlo.multiply %15, %86 : tensor<16x32xf32>
    %88 = stablehlo.subtract %87, %82 : tensor<16x32xf32>
    %cst_24 = stablehlo.constant dense<0.676795303> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %90 = stablehlo.add %88, %89 : tensor<16x32xf32>
    %91 = stablehlo.subtract %90, %82 : tensor<16x32xf32>
    %cst_25 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %93 = stablehlo.multiply %92, %91 : tensor<16x32xf32>
    %94 = stablehlo.divide %13, %10 : tensor<16x32xf32>
    %95 = stablehlo.subtract %94, %12 : tensor<16x32xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %99 = stablehlo.multiply %95, %96 : tensor<16x32xf32>
    %100 = stablehlo.subtract %99, %97 : tensor<16x32xf32>
    %cst_29 = stablehlo.constant dense<3.39623196E-9> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %102 = stablehlo.add %100, %101 : tensor<16x32xf32>
    %103 = stablehlo.multiply %95, %102 : tensor<16x32xf32>
    %104 = stablehlo.subtract %103, %96 : tensor<16x32xf32>
    %cst_30 = stablehlo.constant dense<2.26666899E-8> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %106 = stablehlo.add %104, %105 : tensor<16x32xf32>
    %107 = stablehlo.multiply %95, %106 : tensor<16x32xf32>
    %108 = stablehlo.subtract %107, %102 : tensor<16x32xf32>
    %cst_31 = stablehlo.constant dense<2.04891862E-7> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %110 = stablehlo.add %108, %109 : tensor<16x32xf32>
    %111 = stablehlo.multiply %95, %110 : tensor<16x32xf32>
    %112 = stablehlo.subtract %111, %106 : tensor<16x32xf32>
    %cst_32 = stablehlo.constant dense<2.89137051E-6> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %114 = stablehlo.add %112, %113 : tensor<16x32xf32>
    %115 = stablehlo.multiply %95, %114 : tensor<16x32xf32>
    %116 = stablehlo.subtract %115, %110 : tensor<16x32xf32>
    %cst_33 = stablehlo.constant dense<6.88975852E-5> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %118 = stablehlo.add %116, %117 : tensor<16x32xf32>
    %119 = stablehlo.multiply %95, %118 : tensor<16x32xf32>
    %120 = stablehlo.subtract %119, %114 : tensor<16x32xf32>
    %cst_34 = stablehlo.constant dense<0.00336911646> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %122 = stablehlo.add %120, %121 : tensor<16x32xf32>
    %123 = stablehlo.multiply %95, %122 : tensor<16x32xf32>
    %124 = stablehlo.subtract %123, %118 : tensor<16x32xf32>
    %cst_35 = stablehlo.constant dense<0.804490387> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %126 = stablehlo.add %124, %125 : tensor<16x32xf32>
    %127 = stablehlo.subtract %126, %118 : tensor<16x32xf32>
    %cst_36 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %129 = stablehlo.multiply %128, %127 : tensor<16x32xf32>
    %130 = stablehlo.sqrt %10 : tensor<16x32xf32>
    %131 = stablehlo.divide %129, %130 : tensor<16x32xf32>
    %cst_37 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %133 = stablehlo.compare LE, %10, %132, FLOAT : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xi1>
    %134 = stablehlo.select %133, %93, %131 : tensor<16x32xi1>, tensor<16x32xf32>
    %135 = stablehlo.add %9, %134 : tensor<16x32xf32>
    %136 = stablehlo.atan2 %arg0, %2 : tensor<16x32xf32>
    %137 = chlo.asinh %arg0 : tensor<16x32xf32> -> tensor<16x32xf32>
    %138 = stablehlo.add %136, %137 : tensor<16x32xf32>
    %139 = stablehlo.cbrt %arg0 : tensor<16x32xf32>
    %140 = stablehlo.add %138, %139 : tensor<16x32xf32>
    %141 = chlo.next_after %arg0, %2 : tensor<16x32xf32>, tensor<16x32xf32> -> tensor<16x32xf32>
    %142 = stablehlo.add %140, %141 : tensor<16x32xf32>
    %cst_38 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %143 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %144 = stablehlo.add %2, %143 : tensor<16x32xf32>
    %cst_39 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %145 = stablehlo.convert %cst_39 : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %145, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %147 = chlo.zeta %144, %146 : tensor<16x32xf32>, tensor<16x32xf32> -> tensor<16x32xf32>
    %cst_40 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<16x32xf32>
    %149 = chlo.polygamma %148, %2 : tensor<16x32xf32>, tensor<16x32xf32> -> tensor<16x32xf32>
    %150 = stablehlo.add %147, %149 : tensor<16x32xf32>
    return %3, %4, %8, %135, %142, %150 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
  }
}
