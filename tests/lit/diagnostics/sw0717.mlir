// RUN: not shardwright run %s 2>&1 | filecheck %s
// CHECK: sw0717.mlir:5:24: error[SW0717]: tensor<99999999999999xf32> takes 363.8 TiB; this machine has {{.*}}
// CHECK: help: run a smaller program, or only partition it: shardwright-opt

func.func public @main(%x: tensor<99999999999999xf32>) -> tensor<99999999999999xf32> {
  %0 = stablehlo.negate %x : tensor<99999999999999xf32>
  return %0 : tensor<99999999999999xf32>
}
