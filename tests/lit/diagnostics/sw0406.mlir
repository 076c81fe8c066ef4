// RUN: not shardwright-opt %s -p lower-relayouts 2>&1 | filecheck %s
// CHECK: sw0406.mlir:9:8: error[SW0406]: no relayout from <@mesh, [{}]> to <@other, [{}]>: the layouts are on different meshes: @mesh and @other
// CHECK: help: give the result another layout

module attributes {dtensor.stage = "aligned"} {
dtensor.mesh @mesh = <["x"=4]>
dtensor.mesh @other = <["x"=4]>
func.func public @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{}]>>) -> tensor<4xf32, #dtensor.layout<@other, [{}]>> {
  %0 = dtensor.relayout %a : tensor<4xf32, #dtensor.layout<@mesh, [{}]>> -> tensor<4xf32, #dtensor.layout<@other, [{}]>>
  return %0 : tensor<4xf32, #dtensor.layout<@other, [{}]>>
}
}
