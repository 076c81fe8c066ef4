// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0405.mlir:6:1: error[SW0405]: one program uses several meshes: @mesh is Mesh(batch=4, model=2), @grid is Mesh(batch=8, model=2)
// CHECK: help: put all layouts on one mesh

sdy.mesh @mesh = <["batch"=4, "model"=2]>
sdy.mesh @grid = <["batch"=8, "model"=2]>
func.func public @main(%x: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@grid, [{"batch"}, {}]>}) {
  return %x : tensor<16x64xf32>
}
