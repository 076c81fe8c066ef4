// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0107_whole.mlir:7:24: error[SW0107]: "y":(1)2 is all of axis 'y', and no part of it
// CHECK: note: the tensor is tensor<16x8xf32>
// CHECK: help: write "y"

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(1)2}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.tanh %a : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
