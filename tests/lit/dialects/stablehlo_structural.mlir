// RUN: shardwright-opt %s | filecheck %s
// RUN: %roundtrip

// Ops that move elements.

// CHECK-LABEL: func.func @iota(
func.func @iota() -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.iota dim = 1 : tensor<4x8xf32>
  %0 = stablehlo.iota dim = 1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @broadcast_in_dim(
func.func @broadcast_in_dim(%arg0: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @broadcast_scalar(
func.func @broadcast_scalar(%arg0: tensor<f32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @reshape(
func.func @reshape(%arg0: tensor<4x8xf32>) -> tensor<32xf32> {
  // CHECK: %0 = stablehlo.reshape %arg0 : (tensor<4x8xf32>) -> tensor<32xf32>
  %0 = stablehlo.reshape %arg0 : (tensor<4x8xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}

// CHECK-LABEL: func.func @transpose(
func.func @transpose(%arg0: tensor<4x8xf32>) -> tensor<8x4xf32> {
  // CHECK: %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @slice(
func.func @slice(%arg0: tensor<4x8xf32>) -> tensor<2x7xf32> {
  // CHECK: %0 = stablehlo.slice %arg0 [0:4:2, 1:8] : (tensor<4x8xf32>) -> tensor<2x7xf32>
  %0 = stablehlo.slice %arg0 [0:4:2, 1:8] : (tensor<4x8xf32>) -> tensor<2x7xf32>
  return %0 : tensor<2x7xf32>
}

// CHECK-LABEL: func.func @slice_of_scalar(
func.func @slice_of_scalar(%arg0: tensor<f32>) -> tensor<f32> {
  // CHECK: %0 = stablehlo.slice %arg0 [] : (tensor<f32>) -> tensor<f32>
  %0 = stablehlo.slice %arg0 [] : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @pad(
func.func @pad(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) -> tensor<3x18xf32> {
  // CHECK: %0 = stablehlo.pad %arg0, %arg1, low = [0, 1], high = [-1, 2], interior = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x18xf32>
  %0 = stablehlo.pad %arg0, %arg1, low = [0, 1], high = [-1, 2], interior = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x18xf32>
  return %0 : tensor<3x18xf32>
}

// CHECK-LABEL: func.func @concatenate(
func.func @concatenate(%arg0: tensor<4x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %0 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %0 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @reverse(
func.func @reverse(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.reverse %arg0, dims = [0, 1] : tensor<4x8xf32>
  %0 = stablehlo.reverse %arg0, dims = [0, 1] : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @optimization_barrier(
func.func @optimization_barrier(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) -> tensor<4x8xf32> {
  // CHECK: %0 = stablehlo.optimization_barrier %arg0 : tensor<4x8xf32>
  %0 = stablehlo.optimization_barrier %arg0 : tensor<4x8xf32>
  // CHECK: %1:2 = stablehlo.optimization_barrier %0, %arg1 : tensor<4x8xf32>, tensor<f32>
  %1:2 = stablehlo.optimization_barrier %0, %arg1 : tensor<4x8xf32>, tensor<f32>
  // CHECK: %2 = stablehlo.negate %1#0 : tensor<4x8xf32>
  %2 = stablehlo.negate %1#0 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @empty_dims(
func.func @empty_dims(%arg0: tensor<0x3xf32>) -> tensor<3x0x2xf32> {
  // CHECK: %0 = stablehlo.reshape %arg0 : (tensor<0x3xf32>) -> tensor<3x0x2xf32>
  %0 = stablehlo.reshape %arg0 : (tensor<0x3xf32>) -> tensor<3x0x2xf32>
  return %0 : tensor<3x0x2xf32>
}
