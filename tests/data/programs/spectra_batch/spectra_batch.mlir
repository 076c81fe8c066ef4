module @jit_spectra_batch attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["batch"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "batch", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, %arg1: tensor<8x10x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) -> (tensor<8x6xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, tensor<8x6x6xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, tensor<8x10x4xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}, tensor<8x4xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %0:2 = call @eigh(%arg0) : (tensor<8x6x6xf32>) -> (tensor<8x6xf32>, tensor<8x6x6xf32>)
    %1 = stablehlo.dot_general %0#1, %0#0, batching_dims = [0, 2] x [0, 1], contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<8x6x6xf32>, tensor<8x6xf32>) -> tensor<8x6x6xf32>
    %2 = stablehlo.transpose %1, dims = [0, 2, 1] : (tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %3 = stablehlo.dot_general %0#1, %2, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x6x6xf32>, tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %4:2 = call @qr(%arg1) : (tensor<8x10x4xf32>) -> (tensor<8x10x4xf32>, tensor<8x4x4xf32>)
    %5 = stablehlo.dot_general %4#0, %4#1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x10x4xf32>, tensor<8x4x4xf32>) -> tensor<8x10x4xf32>
    %6 = call @svd(%arg1) : (tensor<8x10x4xf32>) -> tensor<8x4xf32>
    return %0#0, %3, %5, %6 : tensor<8x6xf32>, tensor<8x6x6xf32>, tensor<8x10x4xf32>, tensor<8x4xf32>
  }
  func.func private @eigh(%arg0: tensor<8x6x6xf32>) -> (tensor<8x6xf32>, tensor<8x6x6xf32>) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<8x6x6xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x6x6xf32>
    %3 = stablehlo.divide %1, %2 : tensor<8x6x6xf32>
    %4:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%3) {backend_config = "", mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i]) {i=8, j=6, k=6, l=6, m=6, n=6}, custom>} : (tensor<8x6x6xf32>) -> (tensor<8x6x6xf32>, tensor<8x6xf32>, tensor<8xi32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %6 = stablehlo.compare EQ, %4#2, %5, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<8xi1>) -> tensor<8x1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x6x6xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<8x1x1xi1>) -> tensor<8x6x6xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<8x6x6xi1>, tensor<8x6x6xf32>
    %11 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<8xi1>) -> tensor<8x1xi1>
    %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<8x1xi1>) -> tensor<8x6xi1>
    %14 = stablehlo.select %13, %4#1, %12 : tensor<8x6xi1>, tensor<8x6xf32>
    return %14, %10 : tensor<8x6xf32>, tensor<8x6x6xf32>
  }
  func.func private @qr(%arg0: tensor<8x10x4xf32>) -> (tensor<8x10x4xf32>, tensor<8x4x4xf32>) {
    %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n]) {i=8, j=10, k=4, l=10, m=4, n=4}, custom>} : (tensor<8x10x4xf32>) -> (tensor<8x10x4xf32>, tensor<8x4xf32>)
    %1 = stablehlo.custom_call @lapack_sorgqr_ffi(%0#0, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l])->([i, m, n]) {i=8, j=10, k=4, l=4, m=10, n=4}, custom>} : (tensor<8x10x4xf32>, tensor<8x4xf32>) -> tensor<8x10x4xf32>
    %2 = stablehlo.slice %0#0 [0:8, 0:4, 0:4] : (tensor<8x10x4xf32>) -> tensor<8x4x4xf32>
    %3 = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %5 = stablehlo.add %3, %4 : tensor<4x4xi32>
    %6 = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1, 2] : (tensor<4x4xi1>) -> tensor<8x4x4xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x4xf32>
    %10 = stablehlo.select %8, %9, %2 : tensor<8x4x4xi1>, tensor<8x4x4xf32>
    return %1, %10 : tensor<8x10x4xf32>, tensor<8x4x4xf32>
  }
  func.func private @svd(%arg0: tensor<8x10x4xf32>) -> tensor<8x4xf32> {
    %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 78 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=8, j=10, k=4, l=10, m=4, n=4, o=10, p=10, q=4, r=4}, custom>} : (tensor<8x10x4xf32>) -> (tensor<8x10x4xf32>, tensor<8x4xf32>, tensor<8x10x10xf32>, tensor<8x4x4xf32>, tensor<8xi32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xi1>) -> tensor<8x1xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<8x1xi1>) -> tensor<8x4xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<8x4xi1>, tensor<8x4xf32>
    return %6 : tensor<8x4xf32>
  }
}
