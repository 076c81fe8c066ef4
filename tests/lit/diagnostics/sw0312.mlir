// RUN: not shardwright-opt %s 2>&1 | filecheck %s
// CHECK: sw0312.mlir:8:8: error[SW0312]: 'dtensor.relayout' op is not legal in the planned stage
// CHECK: help: legal are chlo.*, stablehlo.*, builtin.module, dtensor.all_gather, {{.*}}, func.func, func.return

module attributes {dtensor.stage = "planned"} {
dtensor.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>> {
  %0 = dtensor.relayout %x : tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>> -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  return %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
}
}
