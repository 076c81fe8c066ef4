// RUN: shardwright-opt %s -p verify-locations | filecheck %s
// RUN: shardwright-opt %s -p import-sdy,inline,canonicalize,cse,dce,verify-locations

// CHECK-LABEL: @main
// CHECK: stablehlo.reduce
func.func @main(%x: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
  %0 = call @sum(%x, %init) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @sum(%x: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
