// RUN: not shardwright-opt %s -p propagate-layouts 2>&1 | filecheck %s
// CHECK: sw0311_not_imported.mlir:5:1: error[SW0311]: propagate-layouts cannot run on a program with Shardy's annotations, as at this sdy.mesh
// CHECK: help: import them first: -p import-sdy,propagate-layouts, or -p propagate

sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.tanh %a : tensor<16xf32>
  return %0 : tensor<16xf32>
}
