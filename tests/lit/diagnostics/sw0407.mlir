// RUN: not shardwright-opt %s -p propagate 2>&1 | filecheck %s
// CHECK: sw0407.mlir:7:8: error[SW0407]: partial results of type f32 do not combine by and
// CHECK: help: ask for another kind, such as sum, or drop `unreduced` from the layout

dtensor.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dtensor.constraint %a : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=and{"x"}>>
  %1 = stablehlo.negate %0 : (tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=and{"x"}>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
