// RUN: not shardwright-opt %s -p propagate 2>&1 | filecheck %s
// CHECK: sw0407.mlir:8:8: error[SW0407]: a value cannot be made partial over x
// CHECK: note: only arguments of the program can hold partial results
// CHECK: help: drop `unreduced` from the layout

dtensor.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dtensor.constraint %a : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>
  %1 = stablehlo.negate %0 : (tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
