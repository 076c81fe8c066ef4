// RUN: not shardwright-opt %s 2>&1 | filecheck %s
// CHECK: sw0310.mlir:5:1: error[SW0310]: there is no stage 'late'
// CHECK: help: the stages are traced, propagated, aligned, planned, local

module attributes {dtensor.stage = "late"} {
func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
}
