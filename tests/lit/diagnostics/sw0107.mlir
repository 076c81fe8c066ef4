// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0107.mlir:8:24: error[SW0107]: "batch":(1)3 is no part of axis 'batch', which has size 4
// CHECK: note: in (pre)size, pre times size must divide the size of the axis, and size must be at least 2
// CHECK: note: the tensor is tensor<16x64xf32>
// CHECK: help: sizes that divide 4: 2

sdy.mesh @mesh = <["batch"=4, "model"=2]>
func.func public @main(%x: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch":(1)3}, {}]>}) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
