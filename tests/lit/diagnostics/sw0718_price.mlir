// RUN: not shardwright price %s 2>&1 | filecheck %s
// RUN: not shardwright report %s -o - 2>&1 | filecheck %s
// CHECK: sw0718_price.mlir:6:24: error[SW0718]: in_0 has type i32, which is no array
// CHECK: help: arguments and results of a program are tensors of numbers or truth values

func.func public @main(%x: i32) -> i32 {
  return %x : i32
}
