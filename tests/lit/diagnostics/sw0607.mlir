// RUN: not shardwright-opt %s --emit=python 2>&1 | filecheck %s
// CHECK: sw0607.mlir:7:8: error[SW0607]: dtensor.relayout is left in a program that runs on a mesh
// CHECK: help: run the pipeline up to the local stage, which turns relayouts into collectives

dtensor.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<4xf32> {dtensor.layout = #dtensor.layout<@mesh, [{"x"}]>, dtensor.global_type = tensor<16xf32>}) -> tensor<4xf32> {
  %0 = dtensor.relayout %a : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
  return %a : tensor<4xf32>
}
