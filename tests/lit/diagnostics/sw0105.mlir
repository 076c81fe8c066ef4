// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0105.mlir:8:24: error[SW0105]: axis 'batch' is used twice: by dim 0 and by dim 1
// CHECK: note: the layout is [{"batch"}, {"batch"}]
// CHECK: note: the tensor is tensor<16x64xf32>
// CHECK: help: an axis can split one dim once; drop one of the two uses, or split the axis into sub-axes

sdy.mesh @mesh = <["batch"=4, "model"=2]>
func.func public @main(%x: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"batch"}]>}) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
