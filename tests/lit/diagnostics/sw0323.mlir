// RUN: not shardwright-opt %s -p inline --disable-verify 2>&1 | filecheck %s
// CHECK: sw0323.mlir:7:8: error[SW0323]: 'func.call' op does not fit @f
// CHECK: {{-+}} @f has type (tensor<4xf32>) -> tensor<4xf32>
// CHECK: help: give the call the callee's operand and result types

func.func public @main(%x: tensor<4xf32>) -> tensor<8xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
