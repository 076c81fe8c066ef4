// RUN: not shardwright-opt %s -p propagate 2>&1 | filecheck %s
// CHECK: sw0403.mlir:6:24: error[SW0403]: a value of type index cannot be partitioned
// CHECK: help: use tensors only

sdy.mesh @mesh = <["x"=4]>
func.func public @main(%i: index) -> index {
  return %i : index
}
