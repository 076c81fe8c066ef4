// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0431_comparator.mlir:13:10: error[SW0431]: the custom call @ApproxTopK gives @greater values of types tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>, but it takes tensor<f32>, tensor<f32>
// CHECK: --- it is here
// CHECK: help: let the function compare two elements of each operand: both of the first, both of the second, and so on

// A function that compares, but not what the call has.
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func public @main(%x: tensor<8xf32>, %low: tensor<f32>, %none: tensor<i32>) -> tensor<3xf32> {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %low, %none) {called_computations = [@greater], mhlo.backend_config = {reduction_dim = 0 : i64, top_k = 3 : i64}} : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
  return %0#0 : tensor<3xf32>
}
