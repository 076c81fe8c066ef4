module @jit_cholesky_grad_columns attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, %arg1: tensor<8x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {"model"}]>}) -> (tensor<8x8x8xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, tensor<8x8x4xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {"model"}]>}) {
    %0:7 = call @cholesky(%arg0) : (tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x8x8xf32>, tensor<8x8x8xi1>, tensor<8x8x8xf32>, tensor<1x8x8xf32>, tensor<8x8x8xi1>, tensor<8x8x8xf32>)
    %1 = stablehlo.custom_call @lapack_strsm_ffi(%0#0, %arg1) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=8, j=8, k=8, l=8, m=4, n=8, o=4}, custom>} : (tensor<8x8x8xf32>, tensor<8x8x4xf32>) -> tensor<8x8x4xf32>
    %2 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %4 = stablehlo.add %2, %3 : tensor<8x8xi32>
    %5 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [1, 2] : (tensor<8x8xi1>) -> tensor<8x8x8xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8x8xf32>
    %9 = stablehlo.multiply %1, %1 : tensor<8x8x4xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8x4xf32>
    %11 = stablehlo.multiply %10, %1 : tensor<8x8x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x8x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x8x4xf32>
    %14 = stablehlo.multiply %13, %11 : tensor<8x8x4xf32>
    %15 = stablehlo.custom_call @lapack_strsm_ffi(%0#0, %14) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=8, j=8, k=8, l=8, m=4, n=8, o=4}, custom>} : (tensor<8x8x8xf32>, tensor<8x8x4xf32>) -> tensor<8x8x4xf32>
    %16 = stablehlo.custom_call @lapack_strsm_ffi(%0#0, %14) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=8, j=8, k=8, l=8, m=4, n=8, o=4}, custom>} : (tensor<8x8x8xf32>, tensor<8x8x4xf32>) -> tensor<8x8x4xf32>
    %17 = stablehlo.dot_general %16, %1, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [HIGHEST, HIGHEST] : (tensor<8x8x4xf32>, tensor<8x8x4xf32>) -> tensor<8x8x8xf32>
    %18 = stablehlo.negate %17 : tensor<8x8x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x8x8xf32>
    %20 = stablehlo.select %7, %18, %19 : tensor<8x8x8xi1>, tensor<8x8x8xf32>
    %21 = call @cholesky_0(%0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %20) : (tensor<8x8x8xf32>, tensor<8x8x8xi1>, tensor<8x8x8xf32>, tensor<1x8x8xf32>, tensor<8x8x8xi1>, tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
    return %21, %15 : tensor<8x8x8xf32>, tensor<8x8x4xf32>
  }
  func.func private @cholesky(%arg0: tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x8x8xf32>, tensor<8x8x8xi1>, tensor<8x8x8xf32>, tensor<1x8x8xf32>, tensor<8x8x8xi1>, tensor<8x8x8xf32>) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<8x8x8xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8x8xf32>
    %3 = stablehlo.divide %1, %2 : tensor<8x8x8xf32>
    %4:2 = stablehlo.custom_call @lapack_spotrf_ffi(%3) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i]) {i=8, j=8, k=8, l=8, m=8}, custom>} : (tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8xi32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %6 = stablehlo.compare EQ, %4#1, %5, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8x8xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x8x8xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<8x8x8xi1>, tensor<8x8x8xf32>
    %11 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %13 = stablehlo.add %11, %12 : tensor<8x8xi32>
    %14 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %15 = stablehlo.compare GE, %13, %14, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %16 = stablehlo.broadcast_in_dim %15, dims = [1, 2] : (tensor<8x8xi1>) -> tensor<8x8x8xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x8x8xf32>
    %18 = stablehlo.select %16, %10, %17 : tensor<8x8x8xi1>, tensor<8x8x8xf32>
    %19 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %21 = stablehlo.add %19, %20 : tensor<8x8xi32>
    %22 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %23 = stablehlo.compare GE, %21, %22, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %24 = stablehlo.broadcast_in_dim %23, dims = [1, 2] : (tensor<8x8xi1>) -> tensor<8x8x8xi1>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x8x8xf32>
    %26 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %27 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %28 = stablehlo.add %26, %27 : tensor<8x8xi32>
    %29 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %30 = stablehlo.compare EQ, %28, %29, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %31 = stablehlo.convert %30 : (tensor<8x8xi1>) -> tensor<8x8xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %33 = stablehlo.add %32, %31 : tensor<8x8xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
    %35 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %36 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %37 = stablehlo.add %35, %36 : tensor<8x8xi32>
    %38 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %39 = stablehlo.compare GE, %37, %38, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %40 = stablehlo.broadcast_in_dim %39, dims = [1, 2] : (tensor<8x8xi1>) -> tensor<8x8x8xi1>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x8x8xf32>
    %42 = stablehlo.select %40, %18, %41 : tensor<8x8x8xi1>, tensor<8x8x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x8x8xf32>
    return %42, %18, %24, %25, %34, %40, %43 : tensor<8x8x8xf32>, tensor<8x8x8xf32>, tensor<8x8x8xi1>, tensor<8x8x8xf32>, tensor<1x8x8xf32>, tensor<8x8x8xi1>, tensor<8x8x8xf32>
  }
  func.func private @cholesky_0(%arg0: tensor<8x8x8xf32>, %arg1: tensor<8x8x8xi1>, %arg2: tensor<8x8x8xf32>, %arg3: tensor<1x8x8xf32>, %arg4: tensor<8x8x8xi1>, %arg5: tensor<8x8x8xf32>, %arg6: tensor<8x8x8xf32>) -> tensor<8x8x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8x8xf32>
    %1 = stablehlo.select %arg4, %arg6, %0 : tensor<8x8x8xi1>, tensor<8x8x8xf32>
    %2 = stablehlo.dot_general %1, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
    %3 = stablehlo.transpose %2, dims = [0, 2, 1] : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
    %4 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1, 2] : (tensor<1x8x8xf32>) -> tensor<8x8x8xf32>
    %5 = stablehlo.divide %3, %4 : tensor<8x8x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8x8xf32>
    %7 = stablehlo.select %arg1, %5, %6 : tensor<8x8x8xi1>, tensor<8x8x8xf32>
    %8 = stablehlo.custom_call @lapack_strsm_ffi(%arg0, %7) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=8, j=8, k=8, l=8, m=8, n=8, o=8}, custom>} : (tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
    %9 = stablehlo.custom_call @lapack_strsm_ffi(%arg0, %8) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=8, j=8, k=8, l=8, m=8, n=8, o=8}, custom>} : (tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x8x8xf32>
    %11 = stablehlo.divide %9, %10 : tensor<8x8x8xf32>
    %12 = stablehlo.transpose %11, dims = [0, 2, 1] : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
    %13 = stablehlo.add %11, %12 : tensor<8x8x8xf32>
    return %13 : tensor<8x8x8xf32>
  }
}
