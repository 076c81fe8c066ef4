// RUN: not shardwright-opt %s 2>&1 | filecheck %s
// CHECK: sw0302.mlir:6:8: error[SW0302]: 'stablehlo.transpose' op permuted dims [1, 1] name a dim twice
// CHECK: help: name each dim once

func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 1] : (tensor<16x64xf32>) -> tensor<64x16xf32>
  return %x : tensor<16x64xf32>
}
