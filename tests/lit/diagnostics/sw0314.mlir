// RUN: not shardwright-opt %s 2>&1 | filecheck %s
// CHECK: sw0314.mlir:7:24: error[SW0314]: a block argument has type tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>, but types in the local stage are per device, without layouts
// CHECK: help: localize drops them

module attributes {dtensor.stage = "local"} {
dtensor.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>> {
  return %x : tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
}
}
