// RUN: not shardwright run %s 2>&1 | filecheck %s
// CHECK: sw0718.mlir:5:24: error[SW0718]: in_0 has type index, which is no array
// CHECK: help: arguments and results of a program to run are tensors of numbers or truth values

func.func public @main(%x: index) -> index {
  return %x : index
}
