// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0113.mlir:6:24: error[SW0113]: a value of type index cannot have a layout
// CHECK: help: drop the sharding

sdy.mesh @mesh = <["x"=4]>
func.func public @main(%i: index {sdy.sharding = #sdy.sharding<@mesh, []>}) -> index {
  return %i : index
}
