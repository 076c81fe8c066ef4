// RUN: not shardwright-opt %s 2>&1 | filecheck %s
// CHECK: sw0313.mlir:6:24: error[SW0313]: a block argument has type tensor<16x64xf32>, which carries no closed layout
// CHECK: help: in the aligned stage every tensor has one; propagate-layouts decides what is left open

module attributes {dtensor.stage = "aligned"} {
func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
}
