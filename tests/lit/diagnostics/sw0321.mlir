// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0321.mlir:10:8: error[SW0321]: @f calls itself: @f -> @f
// CHECK: help: write the repetition as a loop (stablehlo.while)

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
