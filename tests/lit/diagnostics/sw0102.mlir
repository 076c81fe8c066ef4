// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0102.mlir:7:24: error[SW0102]: mesh @mesh has no axis 'data'
// CHECK: note: the tensor is tensor<16x64xf32>
// CHECK: help: its axes are batch=4, model=2

sdy.mesh @mesh = <["batch"=4, "model"=2]>
func.func public @main(%x: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
