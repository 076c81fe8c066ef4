// RUN: shardwright-opt %s | filecheck %s
// RUN: %roundtrip

// dot_general and reduce.

// CHECK-LABEL: func.func @matmul(
func.func @matmul(%arg0: tensor<4x8xf32>, %arg1: tensor<8x2xf32>) -> tensor<4x2xf32> {
  // CHECK: %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @batched_with_precision(
func.func @batched_with_precision(%arg0: tensor<2x8x4xf32>) -> tensor<2x4x4xf32> {
  // CHECK: %0 = stablehlo.dot_general %arg0, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGHEST, DEFAULT] : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  %0 = stablehlo.dot_general %arg0, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGHEST, DEFAULT] : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}

// CHECK-LABEL: func.func @outer(
func.func @outer(%arg0: tensor<4x8xf32>) -> tensor<4x8x4x8xf32> {
  // CHECK: %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [] x [] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8x4x8xf32>
  %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [] x [] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8x4x8xf32>
  return %0 : tensor<4x8x4x8xf32>
}

// CHECK-LABEL: func.func @accumulates_in_f32(
func.func @accumulates_in_f32(%arg0: tensor<4x8xbf16>) -> tensor<f32> {
  // CHECK: %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [0, 1] x [0, 1] : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<f32>
  %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [0, 1] x [0, 1] : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @algorithm(
func.func @algorithm(%arg0: tensor<4x8xf32>) -> tensor<4x4xf32> {
  // CHECK: %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @reduce_applies(
func.func @reduce_applies(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) -> tensor<4xf32> {
  // CHECK: %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @reduce_all_with_attribute(
func.func @reduce_all_with_attribute(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) -> tensor<f32> {
  // CHECK: %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [0, 1] {note = "kept"} : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [0, 1] {note = "kept"} : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @reduce_of_region_is_applied(
func.func @reduce_of_region_is_applied(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) -> tensor<8xf32> {
  // CHECK: %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.multiply across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  %0 = "stablehlo.reduce"(%arg0, %arg1) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.multiply %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @reduce_of_swapped_arguments_is_not_applied(
func.func @reduce_of_swapped_arguments_is_not_applied(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) -> tensor<8xf32> {
  // CHECK: %0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  %0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
   // CHECK: reducer(%arg2: tensor<f32>, %arg3: tensor<f32>)  {
   reducer(%arg2: tensor<f32>, %arg3: tensor<f32>)  {
    // CHECK: %1 = stablehlo.add %arg3, %arg2 : tensor<f32>
    %1 = stablehlo.add %arg3, %arg2 : tensor<f32>
    // CHECK: stablehlo.return %1 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  // CHECK: }
  }
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @argmax(
func.func @argmax(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xi32>, %arg2: tensor<f32>, %arg3: tensor<i32>) -> tensor<4xi32> {
  // CHECK: %0:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  %0:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   // CHECK: reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
   reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
    // CHECK: %1 = stablehlo.compare GE, %arg4, %arg6, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.compare GE, %arg4, %arg6, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    // CHECK: %2 = stablehlo.select %1, %arg4, %arg6 : tensor<i1>, tensor<f32>
    %2 = stablehlo.select %1, %arg4, %arg6 : tensor<i1>, tensor<f32>
    // CHECK: %3 = stablehlo.select %1, %arg5, %arg7 : tensor<i1>, tensor<i32>
    %3 = stablehlo.select %1, %arg5, %arg7 : tensor<i1>, tensor<i32>
    // CHECK: stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
    stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
  // CHECK: }
  }
  return %0#1 : tensor<4xi32>
}
