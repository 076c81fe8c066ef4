// RUN: not shardwright run %s 2>&1 | filecheck %s
// CHECK: sw0716.mlir:6:1: error[SW0716]: the program has no function @main with a body
// CHECK: note: its functions: @start
// CHECK-NEXT: help: name the entry function: func.func public @main

func.func public @start(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
