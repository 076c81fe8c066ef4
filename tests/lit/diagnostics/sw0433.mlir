// RUN: not shardwright-opt %s -p close-regions 2>&1 | filecheck %s
// CHECK: sw0433.mlir:11:8: error[SW0433]: the function of 'stablehlo.reduce' reads %t of type tensor<4xf32> from outside, which has an element of its own for each place
// CHECK: it is defined here
// CHECK: help: let it read its own arguments, constants, and what is made of them; apply all else before or after it
// CHECK: sw0433.mlir:18:8: error[SW0433]: the function of 'stablehlo.select_and_scatter' reads %s of type tensor<f32> from outside, which is computed in the program
// CHECK-NOT: error
// Both are named, the constant is not.


func.func public @main(%x: tensor<4x8xf32>, %t: tensor<4xf32>, %s: tensor<f32>, %w: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  %0 = stablehlo.reduce(%x init: %s) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %2 = stablehlo.reduce(%t init: %b) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %3 = stablehlo.add %a, %2 : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  %k = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = "stablehlo.select_and_scatter"(%x, %w, %k) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %s : tensor<f32>
    %3 = stablehlo.compare GE, %2, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    %3 = stablehlo.maximum %2, %k : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %0, %1 : tensor<4xf32>, tensor<4x8xf32>
}
