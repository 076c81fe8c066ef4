// RUN: shardwright-opt %s | filecheck %s
// RUN: %roundtrip

// Pointwise ops of one operand.

// CHECK-LABEL: func.func @cbrt(
func.func @cbrt(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.cbrt %arg0 : tensor<4x8xf32>
  %0 = stablehlo.cbrt %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @ceil(
func.func @ceil(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.ceil %arg0 : tensor<4x8xf32>
  %0 = stablehlo.ceil %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @cosine(
func.func @cosine(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.cosine %arg0 : tensor<4x8xf32>
  %0 = stablehlo.cosine %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @exponential(
func.func @exponential(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.exponential %arg0 : tensor<4x8xf32>
  %0 = stablehlo.exponential %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @exponential_minus_one(
func.func @exponential_minus_one(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.exponential_minus_one %arg0 : tensor<4x8xf32>
  %0 = stablehlo.exponential_minus_one %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @floor(
func.func @floor(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.floor %arg0 : tensor<4x8xf32>
  %0 = stablehlo.floor %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @log(
func.func @log(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.log %arg0 : tensor<4x8xf32>
  %0 = stablehlo.log %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @log_plus_one(
func.func @log_plus_one(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.log_plus_one %arg0 : tensor<4x8xf32>
  %0 = stablehlo.log_plus_one %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @logistic(
func.func @logistic(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.logistic %arg0 : tensor<4x8xf32>
  %0 = stablehlo.logistic %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @negate(
func.func @negate(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.negate %arg0 : tensor<4x8xf32>
  %0 = stablehlo.negate %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @round_nearest_afz(
func.func @round_nearest_afz(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.round_nearest_afz %arg0 : tensor<4x8xf32>
  %0 = stablehlo.round_nearest_afz %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @round_nearest_even(
func.func @round_nearest_even(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.round_nearest_even %arg0 : tensor<4x8xf32>
  %0 = stablehlo.round_nearest_even %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @rsqrt(
func.func @rsqrt(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.rsqrt %arg0 : tensor<4x8xf32>
  %0 = stablehlo.rsqrt %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @sign(
func.func @sign(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.sign %arg0 : tensor<4x8xf32>
  %0 = stablehlo.sign %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @sine(
func.func @sine(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.sine %arg0 : tensor<4x8xf32>
  %0 = stablehlo.sine %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @sqrt(
func.func @sqrt(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.sqrt %arg0 : tensor<4x8xf32>
  %0 = stablehlo.sqrt %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @tan(
func.func @tan(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.tan %arg0 : tensor<4x8xf32>
  %0 = stablehlo.tan %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @tanh(
func.func @tanh(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.tanh %arg0 : tensor<4x8xf32>
  %0 = stablehlo.tanh %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @abs(
func.func @abs(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.abs %arg0 : tensor<4x8xf32>
  %0 = stablehlo.abs %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @count_leading_zeros(
func.func @count_leading_zeros(%arg0: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // CHECK: %0 = stablehlo.count_leading_zeros %arg0 : tensor<4x8xi32>
  %0 = stablehlo.count_leading_zeros %arg0 : tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @popcnt(
func.func @popcnt(%arg0: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // CHECK: %0 = stablehlo.popcnt %arg0 : tensor<4x8xi32>
  %0 = stablehlo.popcnt %arg0 : tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @not(
func.func @not(%arg0: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // CHECK: %0 = stablehlo.not %arg0 : tensor<4x8xi32>
  %0 = stablehlo.not %arg0 : tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @is_finite(
func.func @is_finite(%arg0: tensor<4x8xf32>) -> tensor<4x8xi1> {
  // CHECK: %0 = stablehlo.is_finite %arg0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %0 = stablehlo.is_finite %arg0 : (tensor<4x8xf32>) -> tensor<4x8xi1>
  return %0 : tensor<4x8xi1>
}

// CHECK-LABEL: func.func @real_of_complex(
func.func @real_of_complex(%arg0: tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.real %arg0 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
  %0 = stablehlo.real %arg0 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @imag_of_complex(
func.func @imag_of_complex(%arg0: tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.imag %arg0 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
  %0 = stablehlo.imag %arg0 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @abs_of_complex(
func.func @abs_of_complex(%arg0: tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.abs %arg0 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
  %0 = stablehlo.abs %arg0 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @convert(
func.func @convert(%arg0: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  // CHECK: %0 = stablehlo.convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %0 = stablehlo.convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// CHECK-LABEL: func.func @convert_to_itself(
func.func @convert_to_itself(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.convert %arg0 : tensor<4x8xf32>
  %0 = stablehlo.convert %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @bitcast_convert(
func.func @bitcast_convert(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.bitcast_convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8x2xi16>
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8x2xi16>
  // CHECK: %1 = stablehlo.bitcast_convert %0 : (tensor<4x8x2xi16>) -> tensor<4x8xf32>
  %1 = stablehlo.bitcast_convert %0 : (tensor<4x8x2xi16>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @reduce_precision(
func.func @reduce_precision(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4x8xf32>
  %0 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @result_accuracy(
func.func @result_accuracy(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x8xf32>
  %0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-05, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x8xf32>
  // CHECK: %1 = stablehlo.tanh %0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4x8xf32>
  %1 = stablehlo.tanh %0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
