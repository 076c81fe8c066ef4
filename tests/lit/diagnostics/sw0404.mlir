// RUN: not shardwright-opt %s -p propagate 2>&1 | filecheck %s
// CHECK: sw0404.mlir:5:1: error[SW0404]: the module has no function @main
// CHECK: help: name the entry function @main and make it public

func.func public @start(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
