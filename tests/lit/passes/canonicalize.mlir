// RUN: shardwright-opt %s -p canonicalize | filecheck %s

// CHECK-LABEL: @identity_ops
// CHECK-NEXT: return %x, %x, %x, %x, %x, %x, %x
func.func @identity_ops(%x: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = stablehlo.transpose %x, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %2 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %3 = stablehlo.convert %x : tensor<4x1xf32>
  %4 = stablehlo.slice %x [0:4, 0:1] : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = stablehlo.concatenate %x, dim = 0 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %6 = stablehlo.pad %x, %c, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>
}

// CHECK-LABEL: @reverse_of_one_element
// CHECK-NEXT: return %x
func.func @reverse_of_one_element(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = stablehlo.reverse %x, dims = [1] : tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// CHECK-LABEL: @pad_that_cuts_and_grows_stays
// CHECK: stablehlo.pad
func.func @pad_that_cuts_and_grows_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %c, low = [1], high = [-1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @reshape_of_reshape
// CHECK-NEXT: %0 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<8x3xf32>
// CHECK-NEXT: return %0, %x
func.func @reshape_of_reshape(%x: tensor<4x6xf32>) -> (tensor<8x3xf32>, tensor<4x6xf32>) {
  %0 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>
  %1 = stablehlo.reshape %0 : (tensor<24xf32>) -> tensor<8x3xf32>
  %2 = stablehlo.reshape %0 : (tensor<24xf32>) -> tensor<4x6xf32>
  return %1, %2 : tensor<8x3xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: @transpose_of_transpose
// CHECK-NEXT: %0 = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
// CHECK-NEXT: return %0, %x
func.func @transpose_of_transpose(%x: tensor<2x3x4xf32>) -> (tensor<4x3x2xf32>, tensor<2x3x4xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<3x4x2xf32>) -> tensor<4x3x2xf32>
  %2 = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  return %1, %2 : tensor<4x3x2xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: @broadcast_that_adds_unit_dims
// CHECK-NEXT: stablehlo.reshape %x : (tensor<4xf32>) -> tensor<1x4x1xf32>
func.func @broadcast_that_adds_unit_dims(%x: tensor<4xf32>) -> tensor<1x4x1xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<1x4x1xf32>
  return %0 : tensor<1x4x1xf32>
}

// CHECK-LABEL: @broadcast_that_transposes_stays
// CHECK-NEXT: stablehlo.broadcast_in_dim %x, dims = [1, 0]
func.func @broadcast_that_transposes_stays(%x: tensor<4x2xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: @broadcast_of_broadcast
// CHECK-NEXT: stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<4x2xf32>) -> tensor<2x3x4x5xf32>
func.func @broadcast_of_broadcast(%x: tensor<4x2xf32>) -> tensor<2x3x4x5xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<4x2xf32>) -> tensor<2x3x4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<2x3x4x5xf32>
  return %1 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: @broadcast_of_inserted_unit_dims
// CHECK-NEXT: stablehlo.broadcast_in_dim %x, dims = [2] : (tensor<4xf32>) -> tensor<8x3x4xf32>
func.func @broadcast_of_inserted_unit_dims(%x: tensor<4xf32>) -> tensor<8x3x4xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [2] : (tensor<4xf32>) -> tensor<1x1x4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<8x3x4xf32>
  return %1 : tensor<8x3x4xf32>
}

// CHECK-LABEL: @broadcast_of_split_dim_stays
// CHECK-NEXT: stablehlo.reshape
// CHECK-NEXT: stablehlo.broadcast_in_dim
func.func @broadcast_of_split_dim_stays(%x: tensor<8xf32>) -> tensor<2x4x3xf32> {
  %0 = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x3xf32>
  return %1 : tensor<2x4x3xf32>
}

// CHECK-LABEL: @splats_move_freely
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<3x8xf32>
// CHECK-NEXT: return %[[C]]
func.func @splats_move_freely() -> tensor<3x8xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4x12xf32>
  %1 = stablehlo.slice %0 [0:3, 0:8] : (tensor<4x12xf32>) -> tensor<3x8xf32>
  %2 = stablehlo.reverse %1, dims = [1] : tensor<3x8xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
  %4 = stablehlo.reshape %3 : (tensor<8x3xf32>) -> tensor<3x8xf32>
  return %4 : tensor<3x8xf32>
}

// CHECK-LABEL: @empty_splat
// CHECK-NEXT: stablehlo.constant dense<> : tensor<0x4xf32>
func.func @empty_splat() -> tensor<0x4xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}

// CHECK-LABEL: @neutral_operands
// CHECK-NEXT: return %x, %x, %x, %x, %x, %x, %x
func.func @neutral_operands(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %minus_zero = stablehlo.constant dense<-0.0> : tensor<4xf32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<4xf32>
  %highest = stablehlo.constant dense<0x7F800000> : tensor<4xf32>
  %0 = stablehlo.multiply %one, %x : tensor<4xf32>
  %1 = stablehlo.divide %x, %one : tensor<4xf32>
  %2 = stablehlo.add %minus_zero, %x : tensor<4xf32>
  %3 = stablehlo.subtract %x, %zero : tensor<4xf32>
  %4 = stablehlo.maximum %lowest, %x : tensor<4xf32>
  %5 = stablehlo.minimum %x, %highest : tensor<4xf32>
  %n = stablehlo.negate %x : tensor<4xf32>
  %6 = stablehlo.negate %n : tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -0.0 + 0.0 is 0.0, and -0.0 - -0.0 is 0.0.
// CHECK-LABEL: @not_neutral_for_minus_zero
// CHECK: stablehlo.add
// CHECK: stablehlo.subtract
// CHECK: stablehlo.subtract
func.func @not_neutral_for_minus_zero(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %minus_zero = stablehlo.constant dense<-0.0> : tensor<4xf32>
  %0 = stablehlo.add %x, %zero : tensor<4xf32>
  %1 = stablehlo.subtract %x, %minus_zero : tensor<4xf32>
  %2 = stablehlo.subtract %zero, %x : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @integers
// CHECK-NEXT: return %x, %x, %x, %x, %x, %y
func.func @integers(%x: tensor<4xi32>, %y: tensor<4xui8>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xui8>) {
  %zero = stablehlo.constant dense<0> : tensor<4xi32>
  %ones = stablehlo.constant dense<-1> : tensor<4xi32>
  %low = stablehlo.constant dense<-2147483648> : tensor<4xi32>
  %high = stablehlo.constant dense<255> : tensor<4xui8>
  %0 = stablehlo.add %x, %zero : tensor<4xi32>
  %1 = stablehlo.or %zero, %x : tensor<4xi32>
  %2 = stablehlo.xor %x, %zero : tensor<4xi32>
  %3 = stablehlo.and %x, %ones : tensor<4xi32>
  %4 = stablehlo.maximum %x, %low : tensor<4xi32>
  %5 = stablehlo.minimum %high, %y : tensor<4xui8>
  return %0, %1, %2, %3, %4, %5 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xui8>
}

// CHECK-LABEL: @bfloat16
// CHECK-NEXT: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4xbf16>
// CHECK-NEXT: %[[S:.*]] = stablehlo.add %x, %[[Z]]
// CHECK-NEXT: return %x, %x, %[[S]]
func.func @bfloat16(%x: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>) {
  %zero = stablehlo.constant dense<0.0> : tensor<4xbf16>
  %one = stablehlo.constant dense<1.0> : tensor<4xbf16>
  %lowest = stablehlo.constant dense<0xFF80> : tensor<4xbf16>
  %0 = stablehlo.multiply %x, %one : tensor<4xbf16>
  %1 = stablehlo.maximum %x, %lowest : tensor<4xbf16>
  %2 = stablehlo.add %x, %zero : tensor<4xbf16>
  return %0, %1, %2 : tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>
}

// CHECK-LABEL: @truth_values
// CHECK-NEXT: return %p, %p, %p, %p
func.func @truth_values(%p: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %true = stablehlo.constant dense<true> : tensor<4xi1>
  %false = stablehlo.constant dense<false> : tensor<4xi1>
  %0 = stablehlo.and %p, %true : tensor<4xi1>
  %1 = stablehlo.or %p, %false : tensor<4xi1>
  %n = stablehlo.not %p : tensor<4xi1>
  %2 = stablehlo.not %n : tensor<4xi1>
  %3 = stablehlo.select %p, %true, %false : tensor<4xi1>, tensor<4xi1>
  return %0, %1, %2, %3 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: @select_that_is_decided
// CHECK-NEXT: return %x, %y, %x
func.func @select_that_is_decided(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %false = stablehlo.constant dense<false> : tensor<4xi1>
  %0 = stablehlo.select %true, %x, %y : tensor<i1>, tensor<4xf32>
  %1 = stablehlo.select %false, %x, %y : tensor<4xi1>, tensor<4xf32>
  %2 = stablehlo.select %p, %x, %x : tensor<4xi1>, tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// 3 * 2 + 0.5 = 6.5, -(6.5) = -6.5; max(1, NaN) is NaN.
// CHECK-LABEL: @constants_fold
// CHECK-DAG: %[[A:.*]] = stablehlo.constant dense<-6.500000e+00> : tensor<4xf32>
// CHECK-DAG: %[[B:.*]] = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// CHECK-DAG: %[[C:.*]] = stablehlo.constant dense<true> : tensor<i1>
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
func.func @constants_fold() -> (tensor<4xf32>, tensor<f32>, tensor<i1>) {
  %three = stablehlo.constant dense<3.0> : tensor<4xf32>
  %two = stablehlo.constant dense<2> : tensor<4xi32>
  %half = stablehlo.constant dense<0.5> : tensor<4xf32>
  %0 = stablehlo.convert %two : (tensor<4xi32>) -> tensor<4xf32>
  %1 = stablehlo.multiply %three, %0 : tensor<4xf32>
  %2 = stablehlo.add %1, %half : tensor<4xf32>
  %3 = stablehlo.negate %2 : tensor<4xf32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %4 = stablehlo.maximum %one, %nan : tensor<f32>
  %5 = stablehlo.compare LT, %one, %4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %6 = stablehlo.not %5 : tensor<i1>
  return %3, %4, %6 : tensor<4xf32>, tensor<f32>, tensor<i1>
}

// Integers wrap: 127 + 1 = -128 in i8. Integer division by a constant zero is left to the run.
// CHECK-LABEL: @integer_constants
// CHECK-DAG: stablehlo.constant dense<-128> : tensor<i8>
// CHECK-DAG: stablehlo.divide
func.func @integer_constants() -> (tensor<i8>, tensor<i8>) {
  %a = stablehlo.constant dense<127> : tensor<i8>
  %b = stablehlo.constant dense<1> : tensor<i8>
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %0 = stablehlo.add %a, %b : tensor<i8>
  %1 = stablehlo.divide %a, %zero : tensor<i8>
  return %0, %1 : tensor<i8>, tensor<i8>
}

// CHECK-LABEL: @reduction_of_unit_dims
// CHECK-NEXT: stablehlo.reshape %x : (tensor<4x1xf32>) -> tensor<4xf32>
func.func @reduction_of_unit_dims(%x: tensor<4x1xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @reduction_from_a_value
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG: %[[SUM:.*]] = stablehlo.reduce(%x init: %[[ZERO]]) applies stablehlo.add across dimensions = [1]
// CHECK-DAG: %[[START:.*]] = stablehlo.broadcast_in_dim %init, dims = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK: stablehlo.add %[[SUM]], %[[START]] : tensor<4xf32>
func.func @reduction_from_a_value(%x: tensor<4x8xf32>, %init: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @reduction_from_a_constant
// CHECK-DAG: %[[LOW:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-DAG: %[[MAX:.*]] = stablehlo.reduce(%x init: %[[LOW]]) applies stablehlo.maximum across dimensions = [0]
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: stablehlo.maximum %[[MAX]], %[[ZERO]]
func.func @reduction_from_a_constant(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The new constant does not take the init value's layout.
// CHECK-LABEL: @reduction_from_an_argument_with_a_layout
// CHECK: stablehlo.constant dense<0.000000e+00> : tensor<f32>{{$}}
func.func @reduction_from_an_argument_with_a_layout(%x: tensor<4xf32>, %init: tensor<f32, #dtensor.layout<@mesh, []>>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32, #dtensor.layout<@mesh, []>>) -> tensor<f32>
  return %0 : tensor<f32>
}

// A user's layout is no identity, and nothing folds through it.
// CHECK-LABEL: @layouts_stay
// CHECK-NEXT: %0 = stablehlo.reshape %x
// CHECK-NEXT: %1 = dtensor.constraint %0
// CHECK-NEXT: %2 = stablehlo.reshape %1
func.func @layouts_stay(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
  %1 = dtensor.constraint %0 : tensor<2x2xf32> -> tensor<2x2xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  %2 = stablehlo.reshape %1 : (tensor<2x2xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @an_argument_keeps_its_layout_to_itself
// CHECK-NEXT: stablehlo.reshape %x
func.func @an_argument_keeps_its_layout_to_itself(%x: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<4xf32> {
  %0 = stablehlo.reshape %x : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What has no layout of its own may be a value that has one, except where a function says what it gives.
// CHECK-LABEL: @an_argument_with_a_layout_stands_for_what_is_equal
// CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant
// CHECK-NEXT: %[[READ:.*]] = stablehlo.negate %x
// CHECK-NEXT: %[[GIVEN:.*]] = stablehlo.multiply %x, %[[ONE]]
// CHECK-NEXT: return %[[READ]], %[[GIVEN]]
func.func @an_argument_with_a_layout_stands_for_what_is_equal(%x: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.multiply %x, %one : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  %2 = stablehlo.multiply %x, %one : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

dtensor.mesh @mesh = <["x"=2]>

// Floats are converted to floats; to integers only where the program runs, since backends differ out of range.
// CHECK-LABEL: @conversions
// CHECK-DAG: %[[I:.*]] = stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xi32>
// CHECK-DAG: %[[D:.*]] = stablehlo.constant dense<1.500000e+00> : tensor<4xf64>
// CHECK: return %[[D]], %[[I]]
func.func @conversions() -> (tensor<4xf64>, tensor<4xi32>) {
  %c = stablehlo.constant dense<1.5> : tensor<4xf32>
  %0 = stablehlo.convert %c : (tensor<4xf32>) -> tensor<4xf64>
  %1 = stablehlo.convert %c : (tensor<4xf32>) -> tensor<4xi32>
  return %0, %1 : tensor<4xf64>, tensor<4xi32>
}

// A slice of a pad is a pad by less, or what was padded; one that takes steps, or lies in the padding, is none.
// CHECK-LABEL: @slices_of_pads
// CHECK-DAG: %[[A:.*]] = stablehlo.pad %x, %v, low = [1], high = [-1], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-DAG: %[[C:.*]] = stablehlo.slice %{{.*}} [0:2] : (tensor<19xf32>) -> tensor<2xf32>
// CHECK-DAG: %[[D:.*]] = stablehlo.slice %{{.*}} [1:5] : (tensor<16xf32>) -> tensor<4xf32>
// CHECK: return %[[A]], %x, %[[C]], %[[D]]
func.func @slices_of_pads(%x: tensor<8xf32>, %v: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2xf32>, tensor<4xf32>) {
  %0 = stablehlo.pad %x, %v, low = [2], high = [1], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<11xf32>
  %1 = stablehlo.slice %0 [1:9] : (tensor<11xf32>) -> tensor<8xf32>
  %2 = stablehlo.slice %0 [2:10] : (tensor<11xf32>) -> tensor<8xf32>
  %3 = stablehlo.pad %x, %v, low = [9], high = [2], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<19xf32>
  %4 = stablehlo.slice %3 [0:2] : (tensor<19xf32>) -> tensor<2xf32>
  %5 = stablehlo.pad %x, %v, low = [1], high = [0], interior = [1] : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
  %6 = stablehlo.slice %5 [1:5] : (tensor<16xf32>) -> tensor<4xf32>
  return %1, %2, %4, %6 : tensor<8xf32>, tensor<8xf32>, tensor<2xf32>, tensor<4xf32>
}
