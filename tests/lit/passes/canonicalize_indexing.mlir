// RUN: shardwright-opt %s -p canonicalize,dce | filecheck %s

// x[jnp.arange(8), i], as JAX exports it: the first index counts along with the indices, also behind the wrap of
// negative ones, so rows pair up and nothing has to be looked up among them.
// CHECK-LABEL: @rows_by_their_number
// CHECK: [[i:%.*]] = stablehlo.reshape %i
// CHECK: "stablehlo.gather"(%x, [[i]]) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>
// CHECK-SAME: (tensor<8x16x4xf32>, tensor<8x1xi32>) -> tensor<8x4xf32>
func.func @rows_by_their_number(%x: tensor<8x16x4xf32>, %i: tensor<8xi32>) -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<8xi32>
  %eight = stablehlo.constant dense<8> : tensor<8xi32>
  %0 = stablehlo.iota dim = 0 : tensor<8xi32>
  %1 = stablehlo.compare LT, %0, %zero, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  %2 = stablehlo.add %0, %eight : tensor<8xi32>
  %3 = stablehlo.select %1, %2, %0 : tensor<8xi1>, tensor<8xi32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
  %5 = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
  %6 = stablehlo.concatenate %4, %5, dim = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
  %7 = "stablehlo.gather"(%x, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<8x16x4xf32>, tensor<8x2xi32>) -> tensor<8x4xf32>
  return %7 : tensor<8x4xf32>
}

// Two that count: both dims of the operand become batching dims, in the operand's order.
// CHECK-LABEL: @two_count
// CHECK: "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [1, 0], start_index_map = [2], index_vector_dim = 2>
func.func @two_count(%x: tensor<4x8x16xf32>, %i: tensor<8x4x1xi32>) -> tensor<8x4xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<8x4x1xi32>
  %1 = stablehlo.iota dim = 1 : tensor<8x4x1xi32>
  %2 = stablehlo.concatenate %0, %i, %1, dim = 2 : (tensor<8x4x1xi32>, tensor<8x4x1xi32>, tensor<8x4x1xi32>) -> tensor<8x4x3xi32>
  %3 = "stablehlo.gather"(%x, %2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2], start_index_map = [1, 2, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x8x16xf32>, tensor<8x4x3xi32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// x.at[np.arange(4), i].add(u)
// CHECK-LABEL: @updates
// CHECK: "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>
func.func @updates(%x: tensor<4x8xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.constant dense<[[0], [1], [2], [3]]> : tensor<4x1xi32>
  %1 = stablehlo.concatenate %0, %i, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %2 = "stablehlo.scatter"(%x, %1, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x2xi32>, tensor<4xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// The first four of eight rows do not pair up with them; nor do rows in another order, or counted beyond their type.
// CHECK-LABEL: @stay
// CHECK-COUNT-3: collapsed_slice_dims = [0, 1]
func.func @stay(%x: tensor<8x16xf32>, %y: tensor<4x16xf32>, %z: tensor<256x2xf32>, %i: tensor<4x1xi32>, %j: tensor<256x1xi8>) -> (tensor<4xf32>, tensor<4xf32>, tensor<256xf32>) {
  %0 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %1 = stablehlo.concatenate %0, %i, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %2 = "stablehlo.gather"(%x, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x16xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  %3 = stablehlo.constant dense<[[0], [2], [1], [3]]> : tensor<4x1xi32>
  %4 = stablehlo.concatenate %3, %i, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %5 = "stablehlo.gather"(%y, %4) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  %6 = stablehlo.iota dim = 0 : tensor<256x1xi8>
  %7 = stablehlo.concatenate %6, %j, dim = 1 : (tensor<256x1xi8>, tensor<256x1xi8>) -> tensor<256x2xi8>
  %8 = "stablehlo.gather"(%z, %7) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<256x2xf32>, tensor<256x2xi8>) -> tensor<256xf32>
  return %2, %5, %8 : tensor<4xf32>, tensor<4xf32>, tensor<256xf32>
}

// What counts still does broadcast along other dims, converted, and clamped to no less than there is.
// CHECK-LABEL: @counts_behind
// CHECK-COUNT-3: operand_batching_dims = [0]
func.func @counts_behind(%x: tensor<4x16xf32>, %i: tensor<4x3x1xi32>, %j: tensor<4x1xi32>) -> (tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %least = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xi32>) -> tensor<4x3x1xi32>
  %2 = stablehlo.concatenate %1, %i, dim = 2 : (tensor<4x3x1xi32>, tensor<4x3x1xi32>) -> tensor<4x3x2xi32>
  %3 = "stablehlo.gather"(%x, %2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x3x2xi32>) -> tensor<4x3xf32>
  %4 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %5 = stablehlo.clamp %zero, %4, %three : (tensor<i32>, tensor<4x1xi32>, tensor<i32>) -> tensor<4x1xi32>
  %6 = stablehlo.concatenate %5, %j, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %7 = "stablehlo.gather"(%x, %6) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  %8 = stablehlo.compare LT, %4, %least, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
  %9 = stablehlo.select %8, %j, %4 : tensor<4x1xi1>, tensor<4x1xi32>
  %10 = stablehlo.concatenate %9, %j, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %11 = "stablehlo.gather"(%x, %10) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %3, %7, %11 : tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>
}

// Clamped to some of the rows, or one row for all: neither counts.
// CHECK-LABEL: @does_not_count
// CHECK-COUNT-3: collapsed_slice_dims = [0, 1]
func.func @does_not_count(%x: tensor<4x16xf32>, %j: tensor<4x1xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %1 = stablehlo.clamp %one, %0, %three : (tensor<i32>, tensor<4x1xi32>, tensor<i32>) -> tensor<4x1xi32>
  %2 = stablehlo.concatenate %1, %j, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %3 = "stablehlo.gather"(%x, %2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  %4 = stablehlo.clamp %zero, %0, %two : (tensor<i32>, tensor<4x1xi32>, tensor<i32>) -> tensor<4x1xi32>
  %5 = stablehlo.concatenate %4, %j, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %6 = "stablehlo.gather"(%x, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  %7 = stablehlo.iota dim = 0 : tensor<1xi32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<1xi32>) -> tensor<4x1xi32>
  %9 = stablehlo.concatenate %8, %j, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %10 = "stablehlo.gather"(%x, %9) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x16xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %3, %6, %10 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Whole rows that stand evenly spaced are a slice: numbered by constants, by a count, with an offset, along another dim.
// CHECK-LABEL: @rows_in_a_run
// CHECK-NEXT: %0 = stablehlo.slice %x [2:9:2, 0:8] : (tensor<16x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %1 = stablehlo.transpose %x, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: %2 = stablehlo.slice %x [0:16, 2:5] : (tensor<16x8xf32>) -> tensor<16x3xf32>
// CHECK-NEXT: %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<16x3xf32>) -> tensor<3x16xf32>
// CHECK-NEXT: return %0, %x, %1, %3
func.func @rows_in_a_run(%x: tensor<16x8xf32>) -> (tensor<4x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>, tensor<3x16xf32>) {
  %i = stablehlo.constant dense<[2, 4, 6, 8]> : tensor<4xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  %n = stablehlo.iota dim = 0 : tensor<16x1xi32>
  %1 = "stablehlo.gather"(%x, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<16x1xi32>) -> tensor<16x8xf32>
  %2 = "stablehlo.gather"(%x, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<16x1xi32>) -> tensor<8x16xf32>
  %m = stablehlo.iota dim = 0 : tensor<3xi32>
  %two = stablehlo.constant dense<2> : tensor<3xi32>
  %k = stablehlo.add %m, %two : tensor<3xi32>
  %3 = "stablehlo.gather"(%x, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 16, 1>}> : (tensor<16x8xf32>, tensor<3xi32>) -> tensor<3x16xf32>
  return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>, tensor<3x16xf32>
}

// Rows beyond the last are the last one, rows from below zero the first; others come in no order, or not whole.
// CHECK-LABEL: @rows_in_no_run
// CHECK-COUNT-4: "stablehlo.gather"
func.func @rows_in_no_run(%x: tensor<16x8xf32>) -> (tensor<17x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<16x4xf32>) {
  %i = stablehlo.iota dim = 0 : tensor<17xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<17xi32>) -> tensor<17x8xf32>
  %j = stablehlo.constant dense<[-1, 0, 1]> : tensor<3xi32>
  %1 = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
  %k = stablehlo.constant dense<[0, 1, 3]> : tensor<3xi32>
  %2 = "stablehlo.gather"(%x, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
  %n = stablehlo.iota dim = 0 : tensor<16xi32>
  %3 = "stablehlo.gather"(%x, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<16x8xf32>, tensor<16xi32>) -> tensor<16x4xf32>
  return %0, %1, %2, %3 : tensor<17x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<16x4xf32>
}

// A dynamic slice from starts that are known is a slice, from where it does not reach over an edge.
// CHECK-LABEL: @known_starts
// CHECK: stablehlo.slice %x [0:4, 6:8]
// CHECK: stablehlo.slice %x [12:16, 3:5]
// CHECK: stablehlo.dynamic_slice %x, %i
func.func @known_starts(%x: tensor<16x8xf32>, %i: tensor<i32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %a = stablehlo.constant dense<-3> : tensor<i32>
  %b = stablehlo.constant dense<7> : tensor<i32>
  %c = stablehlo.constant dense<200> : tensor<ui8>
  %d = stablehlo.constant dense<3> : tensor<ui8>
  %0 = stablehlo.dynamic_slice %x, %a, %b, sizes = [4, 2] : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %1 = stablehlo.dynamic_slice %x, %c, %d, sizes = [4, 2] : (tensor<16x8xf32>, tensor<ui8>, tensor<ui8>) -> tensor<4x2xf32>
  %2 = stablehlo.dynamic_slice %x, %i, %b, sizes = [4, 2] : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  return %0, %1, %2 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}

// A scatter of one window to a known place that replaces what is there is an update of a slice; one that does not fit
// writes nothing, and one that adds stays.
// CHECK-LABEL: @known_place
// CHECK: [[three:%.*]] = stablehlo.constant dense<3> : tensor<i32>
// CHECK: [[zero:%.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK: stablehlo.dynamic_update_slice %x, %u, [[three]], [[zero]]
// CHECK: [[row:%.*]] = stablehlo.reshape %r : (tensor<8xf32>) -> tensor<1x8xf32>
// CHECK: stablehlo.dynamic_update_slice %x, [[row]]
// CHECK-COUNT-2: "stablehlo.scatter"
func.func @known_place(%x: tensor<16x8xf32>, %u: tensor<4x8xf32>, %r: tensor<8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) {
  %i = stablehlo.constant dense<3> : tensor<1xi32>
  %j = stablehlo.constant dense<13> : tensor<1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<1xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  %1 = "stablehlo.scatter"(%x, %j, %r) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<16x8xf32>
  %2 = "stablehlo.scatter"(%x, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<1xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  %3 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<1xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  return %0, %1, %2, %3 : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}
