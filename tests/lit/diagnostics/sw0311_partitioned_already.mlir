// RUN: not shardwright-opt %s -p partition,partition 2>&1 | filecheck %s
// RUN: shardwright-opt %s -p partition > %t && not shardwright run %t 2>&1 | filecheck %s
// CHECK: error[SW0311]: import-sdy cannot run on a program that is in the local stage
// CHECK: help: it is partitioned already: give the program that it was made from

// RUN: not shardwright-opt %s -p import-sdy,propagate-layouts 2>&1 | filecheck %s --check-prefix=CALL
// CALL: sw0311_partitioned_already.mlir:11:8: error[SW0311]: a call of @half is left: layouts spread within one function
// CALL: help: inline calls first: -p import-sdy,inline,propagate-layouts, or -p propagate

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @half(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @half(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
