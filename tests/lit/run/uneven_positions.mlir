// What partitioners get wrong with uneven shards: negative and interior pads, starts that are clamped, and scatters at
// indices that every device has. Windows that would reach into padding do not fit, so they write nothing.
// RUN: shardwright run %s --check | filecheck %s
// RUN: shardwright certify %s

// CHECK: ok: 8 results against the unsharded run, largest difference 0
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<10x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %v: tensor<f32>, %u: tensor<3x2xf32>) -> (tensor<7x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<28x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<13x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<3x2xf32>, tensor<10x2xf32>, tensor<10x2xf32>, tensor<10x2xf32>, tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.pad %a, %v, low = [-2, 0], high = [-1, 0], interior = [0, 0] : (tensor<10x2xf32>, tensor<f32>) -> tensor<7x2xf32>
  %1 = stablehlo.pad %a, %v, low = [0, 0], high = [0, 0], interior = [2, 0] : (tensor<10x2xf32>, tensor<f32>) -> tensor<28x2xf32>
  %2 = stablehlo.pad %a, %v, low = [-1, 0], high = [4, 0], interior = [0, 0] : (tensor<10x2xf32>, tensor<f32>) -> tensor<13x2xf32>
  %behind = stablehlo.constant dense<9> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %3 = stablehlo.dynamic_slice %a, %behind, %none, sizes = [3, 2] : (tensor<10x2xf32>, tensor<i32>, tensor<i32>) -> tensor<3x2xf32>
  %4 = stablehlo.dynamic_update_slice %a, %u, %behind, %none : (tensor<10x2xf32>, tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> tensor<10x2xf32>
  %rows = stablehlo.constant dense<[[9], [10], [9]]> : tensor<3x1xi32>
  %5 = "stablehlo.scatter"(%a, %rows, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %7 = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %7 : tensor<f32>
  }) : (tensor<10x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<10x2xf32>
  %start = stablehlo.constant dense<8> : tensor<1xi32>
  %6 = "stablehlo.scatter"(%a, %start, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    stablehlo.return %r : tensor<f32>
  }) : (tensor<10x2xf32>, tensor<1xi32>, tensor<3x2xf32>) -> tensor<10x2xf32>
  %picks = stablehlo.constant dense<[[11], [-3], [9], [0]]> : tensor<4x1xi32>
  %8 = "stablehlo.gather"(%a, %picks) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<10x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %8 : tensor<7x2xf32>, tensor<28x2xf32>, tensor<13x2xf32>, tensor<3x2xf32>, tensor<10x2xf32>, tensor<10x2xf32>, tensor<10x2xf32>, tensor<4x2xf32>
}
