// RUN: shardwright-opt %s | filecheck %s
// RUN: %roundtrip

// Literals of every element type.

// CHECK-LABEL: func.func @constant_f32(
func.func @constant_f32() -> tensor<2x3xf32> {
  // CHECK: %cst = stablehlo.constant dense<1.500000e+00> : tensor<2x3xf32>
  %0 = stablehlo.constant dense<1.5> : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @constant_minus_infinity(
func.func @constant_minus_infinity() -> tensor<f32> {
  // CHECK: %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @constant_nan(
func.func @constant_nan() -> tensor<f32> {
  // CHECK: %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @constant_minus_infinity_bf16(
func.func @constant_minus_infinity_bf16() -> tensor<bf16> {
  // CHECK: %cst = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %0 = stablehlo.constant dense<0xFF80> : tensor<bf16>
  return %0 : tensor<bf16>
}

// CHECK-LABEL: func.func @constant_minus_infinity_f16(
func.func @constant_minus_infinity_f16() -> tensor<f16> {
  // CHECK: %cst = stablehlo.constant dense<0xFC00> : tensor<f16>
  %0 = stablehlo.constant dense<0xFC00> : tensor<f16>
  return %0 : tensor<f16>
}

// CHECK-LABEL: func.func @constant_minus_infinity_f64(
func.func @constant_minus_infinity_f64() -> tensor<f64> {
  // CHECK: %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
  %0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
  return %0 : tensor<f64>
}

// CHECK-LABEL: func.func @constant_shortest_digits(
func.func @constant_shortest_digits() -> tensor<3xf32> {
  // CHECK: %cst = stablehlo.constant dense<[9.99999974E-6, 1.000000e-01, 123456.789]> : tensor<3xf32>
  %0 = stablehlo.constant dense<[1.0e-5, 0.1, 123456.789]> : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @constant_bf16(
func.func @constant_bf16() -> tensor<4xbf16> {
  // CHECK: %cst = stablehlo.constant dense<1.000980e-01> : tensor<4xbf16>
  %0 = stablehlo.constant dense<0.1> : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @constant_f8(
func.func @constant_f8() -> tensor<2xf8E4M3FN> {
  // CHECK: %cst = stablehlo.constant dense<3.000000e+00> : tensor<2xf8E4M3FN>
  %0 = stablehlo.constant dense<3.0> : tensor<2xf8E4M3FN>
  return %0 : tensor<2xf8E4M3FN>
}

// CHECK-LABEL: func.func @constant_matrix(
func.func @constant_matrix() -> tensor<2x2xf32> {
  // CHECK: %cst = stablehlo.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
  %0 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @constant_blob(
func.func @constant_blob() -> tensor<2xf32> {
  // CHECK: %cst = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @constant_equal_elements(
func.func @constant_equal_elements() -> tensor<3xi32> {
  // CHECK: %c = stablehlo.constant dense<7> : tensor<3xi32>
  %0 = stablehlo.constant dense<[7, 7, 7]> : tensor<3xi32>
  return %0 : tensor<3xi32>
}

// CHECK-LABEL: func.func @constant_truth(
func.func @constant_truth() -> tensor<2xi1> {
  // CHECK: %c = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %0 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func.func @constant_always(
func.func @constant_always() -> tensor<64x64xi1> {
  // CHECK: %c = stablehlo.constant dense<true> : tensor<64x64xi1>
  %0 = stablehlo.constant dense<true> : tensor<64x64xi1>
  return %0 : tensor<64x64xi1>
}

// CHECK-LABEL: func.func @constant_i4(
func.func @constant_i4() -> tensor<2xi4> {
  // CHECK: %c = stablehlo.constant dense<-3> : tensor<2xi4>
  %0 = stablehlo.constant dense<-3> : tensor<2xi4>
  return %0 : tensor<2xi4>
}

// CHECK-LABEL: func.func @constant_ui8(
func.func @constant_ui8() -> tensor<2xui8> {
  // CHECK: %c = stablehlo.constant dense<[0, 255]> : tensor<2xui8>
  %0 = stablehlo.constant dense<[0, 255]> : tensor<2xui8>
  return %0 : tensor<2xui8>
}

// CHECK-LABEL: func.func @constant_i64(
func.func @constant_i64() -> tensor<i64> {
  // CHECK: %c = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
  %0 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
  return %0 : tensor<i64>
}

// CHECK-LABEL: func.func @constant_complex(
func.func @constant_complex() -> tensor<2xcomplex<f32>> {
  // CHECK: %cst = stablehlo.constant dense<(1.000000e+00,-2.000000e+00)> : tensor<2xcomplex<f32>>
  %0 = stablehlo.constant dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}

// CHECK-LABEL: func.func @constant_complexes(
func.func @constant_complexes() -> tensor<2xcomplex<f64>> {
  // CHECK: %cst = stablehlo.constant dense<[(1.000000e+00,-2.000000e+00), (5.000000e-01,0.000000e+00)]> : tensor<2xcomplex<f64>>
  %0 = stablehlo.constant dense<[(1.0, -2.0), (0.5, 0.0)]> : tensor<2xcomplex<f64>>
  return %0 : tensor<2xcomplex<f64>>
}

// CHECK-LABEL: func.func @constant_empty(
func.func @constant_empty() -> tensor<0x2xf32> {
  // CHECK: %cst = stablehlo.constant dense<> : tensor<0x2xf32>
  %0 = stablehlo.constant dense<> : tensor<0x2xf32>
  return %0 : tensor<0x2xf32>
}
