// RUN: not shardwright-opt %s 2>&1 | filecheck %s
// CHECK: sw0201.mlir:6:6: error[SW0201]: expected '=' behind the names of the results, not 'stablehlo.negate'
// CHECK: help: correct the text here

func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %0 stablehlo.negate %x : tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
