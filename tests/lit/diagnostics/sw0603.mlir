// RUN: not shardwright-opt %s --emit=python 2>&1 | filecheck %s
// CHECK: sw0603.mlir:1:1: error[SW0603]: parts of axis 'x' cross: one ends after 2 digits and another after 3, and 2 does not divide 3
// CHECK: note: the mesh is Mesh(x=12)
// CHECK: help: use parts of the axis that nest, such as (1)2 and (2)4

dtensor.mesh @mesh = <["x"=12]>
func.func public @main(%a: tensor<6xf32> {dtensor.layout = #dtensor.layout<@mesh, [{"x":(1)2}]>, dtensor.global_type = tensor<12xf32>}, %b: tensor<4xf32> {dtensor.layout = #dtensor.layout<@mesh, [{"x":(1)3}]>, dtensor.global_type = tensor<12xf32>}) -> tensor<6xf32> {
  return %a : tensor<6xf32>
}
