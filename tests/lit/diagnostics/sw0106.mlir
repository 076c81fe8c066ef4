// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0106.mlir:7:24: error[SW0106]: the layout [{"batch"}] has 1 dims, but the tensor has 2
// CHECK: note: the tensor is tensor<16x64xf32>
// CHECK: help: write one {...} for each of the 2 dims

sdy.mesh @mesh = <["batch"=4, "model"=2]>
func.func public @main(%x: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}]>}) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
