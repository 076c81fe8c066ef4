// RUN: not shardwright-opt %s 2>&1 | filecheck %s
// CHECK: sw0303.mlir:7:8: error[SW0303]: 'stablehlo.negate' op uses as operand 0 a value that is not defined before it
// CHECK: {{-+}} it is defined here
// CHECK: help: define each value above its uses, in reach of them

func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %0 = stablehlo.negate %1 : tensor<16x64xf32>
  %1 = stablehlo.negate %x : tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
