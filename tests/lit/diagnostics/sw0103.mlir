// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0103.mlir:6:24: error[SW0103]: there is no mesh @grid
// CHECK: help: the module declares @mesh

sdy.mesh @mesh = <["batch"=4, "model"=2]>
func.func public @main(%x: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{}, {}]>}) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
