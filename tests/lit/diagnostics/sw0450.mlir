// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0450.mlir:6:24: error[SW0450]: the sharding <@mesh, [{"batch"}p1, {}]> has priorities, which propagation does not follow
// CHECK: help: drop the priorities (p1, p2, ...), or fix the layouts that matter most with constraints

sdy.mesh @mesh = <["batch"=4, "model"=2]>
func.func public @main(%x: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}p1, {}]>}) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
