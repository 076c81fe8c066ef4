// RUN: not shardwright-opt %s -p lower-relayouts 2>&1 | filecheck %s
// CHECK: sw0406.mlir:8:8: error[SW0406]: no relayout from <@mesh, [{}]> to <@mesh, [{}], unreduced=sum{"x"}>: no collective makes [{}] partial as in [{}], unreduced=sum{"x"}: "x" is not partial in [{}]
// CHECK: help: give the result another layout

module attributes {dtensor.stage = "aligned"} {
dtensor.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{}]>>) -> tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>> {
  %0 = dtensor.relayout %a : tensor<4xf32, #dtensor.layout<@mesh, [{}]>> -> tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>
  return %0 : tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>
}
}
