// RUN: shardwright-opt %s | filecheck %s
// RUN: %roundtrip

// Pointwise ops of two and three operands.

// CHECK-LABEL: func.func @add(
func.func @add(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.add %arg0, %arg1 : tensor<4x8xf32>
  %0 = stablehlo.add %arg0, %arg1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @atan2(
func.func @atan2(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.atan2 %arg0, %arg1 : tensor<4x8xf32>
  %0 = stablehlo.atan2 %arg0, %arg1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @divide(
func.func @divide(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.divide %arg0, %arg1 : tensor<4x8xf32>
  %0 = stablehlo.divide %arg0, %arg1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @maximum(
func.func @maximum(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.maximum %arg0, %arg1 : tensor<4x8xf32>
  %0 = stablehlo.maximum %arg0, %arg1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @minimum(
func.func @minimum(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.minimum %arg0, %arg1 : tensor<4x8xf32>
  %0 = stablehlo.minimum %arg0, %arg1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @multiply(
func.func @multiply(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.multiply %arg0, %arg1 : tensor<4x8xf32>
  %0 = stablehlo.multiply %arg0, %arg1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @power(
func.func @power(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.power %arg0, %arg1 : tensor<4x8xf32>
  %0 = stablehlo.power %arg0, %arg1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @remainder(
func.func @remainder(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.remainder %arg0, %arg1 : tensor<4x8xf32>
  %0 = stablehlo.remainder %arg0, %arg1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @subtract(
func.func @subtract(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.subtract %arg0, %arg1 : tensor<4x8xf32>
  %0 = stablehlo.subtract %arg0, %arg1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @and(
func.func @and(%arg0: tensor<4x8xi32>, %arg1: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // CHECK: %0 = stablehlo.and %arg0, %arg1 : tensor<4x8xi32>
  %0 = stablehlo.and %arg0, %arg1 : tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @or(
func.func @or(%arg0: tensor<4x8xi32>, %arg1: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // CHECK: %0 = stablehlo.or %arg0, %arg1 : tensor<4x8xi32>
  %0 = stablehlo.or %arg0, %arg1 : tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @xor(
func.func @xor(%arg0: tensor<4x8xi32>, %arg1: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // CHECK: %0 = stablehlo.xor %arg0, %arg1 : tensor<4x8xi32>
  %0 = stablehlo.xor %arg0, %arg1 : tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @shift_left(
func.func @shift_left(%arg0: tensor<4x8xi32>, %arg1: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // CHECK: %0 = stablehlo.shift_left %arg0, %arg1 : tensor<4x8xi32>
  %0 = stablehlo.shift_left %arg0, %arg1 : tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @shift_right_arithmetic(
func.func @shift_right_arithmetic(%arg0: tensor<4x8xi32>, %arg1: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // CHECK: %0 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<4x8xi32>
  %0 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @shift_right_logical(
func.func @shift_right_logical(%arg0: tensor<4x8xi32>, %arg1: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // CHECK: %0 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<4x8xi32>
  %0 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @complex(
func.func @complex(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>> {
  // CHECK: %0 = stablehlo.complex %arg0, %arg1 : tensor<4x8xcomplex<f32>>
  %0 = stablehlo.complex %arg0, %arg1 : tensor<4x8xcomplex<f32>>
  return %0 : tensor<4x8xcomplex<f32>>
}

// CHECK-LABEL: func.func @compare_gt(
func.func @compare_gt(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xi1> {
  // CHECK: %0 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %0 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  return %0 : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @compare_eq(
func.func @compare_eq(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xi1> {
  // CHECK: %0 = stablehlo.compare EQ, %arg0, %arg1, TOTALORDER : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %0 = stablehlo.compare EQ, %arg0, %arg1, TOTALORDER : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  return %0 : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @compare_ne(
func.func @compare_ne(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xi1> {
  // CHECK: %0 = stablehlo.compare NE, %arg0, %arg1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %0 = stablehlo.compare NE, %arg0, %arg1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  return %0 : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @compare_integers(
func.func @compare_integers(%arg0: tensor<4x8xi32>, %arg1: tensor<4x8xi32>) -> tensor<4x8xi1> {
  // CHECK: %0 = stablehlo.compare LE, %arg0, %arg1, SIGNED : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
  %0 = stablehlo.compare LE, %arg0, %arg1, SIGNED : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
  return %0 : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @select(
func.func @select(%arg0: tensor<4x8xi1>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.select %arg0, %arg1, %arg1 : tensor<4x8xi1>, tensor<4x8xf32>
  %0 = stablehlo.select %arg0, %arg1, %arg1 : tensor<4x8xi1>, tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @select_by_scalar(
func.func @select_by_scalar(%arg0: tensor<i1>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.select %arg0, %arg1, %arg1 : tensor<i1>, tensor<4x8xf32>
  %0 = stablehlo.select %arg0, %arg1, %arg1 : tensor<i1>, tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @clamp(
func.func @clamp(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.clamp %arg0, %arg0, %arg0 : tensor<4x8xf32>
  %0 = stablehlo.clamp %arg0, %arg0, %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @clamp_by_scalars(
func.func @clamp_by_scalars(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.clamp %arg1, %arg0, %arg1 : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %0 = stablehlo.clamp %arg1, %arg0, %arg1 : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @discardable_attributes(
func.func @discardable_attributes(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.add %arg0, %arg0 {note = "kept"} : tensor<4x8xf32>
  %0 = stablehlo.add %arg0, %arg0 {note = "kept"} : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @types_are_written_out_when_encodings_differ(
func.func @types_are_written_out_when_encodings_differ(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32, "layout">) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.add %arg0, %arg1 : (tensor<4x8xf32>, tensor<4x8xf32, "layout">) -> tensor<4x8xf32, "layout">
  %0 = stablehlo.add %arg0, %arg1 : (tensor<4x8xf32>, tensor<4x8xf32, "layout">) -> tensor<4x8xf32, "layout">
  // CHECK: %1 = stablehlo.add %0, %0 : tensor<4x8xf32, "layout">
  %1 = stablehlo.add %0, %0 : tensor<4x8xf32, "layout">
  // CHECK: %2 = stablehlo.negate %1 : (tensor<4x8xf32, "layout">) -> tensor<4x8xf32>
  %2 = stablehlo.negate %1 : (tensor<4x8xf32, "layout">) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
