// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0111.mlir:7:8: error[SW0111]: 'stablehlo.negate' op has 1 results, which sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>]> does not fit
// CHECK: help: give #sdy.sharding_per_value<[...]> one entry for each result

sdy.mesh @mesh = <["batch"=4, "model"=2]>
func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>]>} : tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
