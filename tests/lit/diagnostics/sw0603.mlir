// RUN: not shardwright-opt %s --emit=python 2>&1 | filecheck %s
// CHECK: sw0603.mlir:1:1: error[SW0603]: the program runs on several different meshes: @mesh, @other
// CHECK: help: express all layouts on one mesh

dtensor.mesh @mesh = <["x"=12]>
dtensor.mesh @other = <["x"=2]>
func.func public @main(%a: tensor<6xf32> {dtensor.layout = #dtensor.layout<@mesh, [{"x":(1)2}]>, dtensor.global_type = tensor<12xf32>}, %b: tensor<6xf32> {dtensor.layout = #dtensor.layout<@other, [{"x"}]>, dtensor.global_type = tensor<12xf32>}) -> tensor<6xf32> {
  return %a : tensor<6xf32>
}
