// RUN: not shardwright-opt %s 2>&1 | filecheck %s
// CHECK: sw0315.mlir:6:24: error[SW0315]: argument 0 of the local function needs dtensor.layout and dtensor.global_type
// CHECK: help: localize records the global type and layout of each argument and result

module attributes {dtensor.stage = "local"} {
func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
}
