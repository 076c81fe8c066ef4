// RUN: not shardwright-opt %s -p localize 2>&1 | filecheck %s
// CHECK: sw0311.mlir:1:1: error[SW0311]: localize cannot run on a program that is in no stage yet
// CHECK: help: it takes the planned stage; the pipelines run the passes in order

func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
