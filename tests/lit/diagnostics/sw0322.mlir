// RUN: not shardwright-opt %s -p inline --disable-verify 2>&1 | filecheck %s
// CHECK: sw0322.mlir:6:8: error[SW0322]: there is no function @f
// CHECK: help: the module must hold the whole program; it has @main

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
