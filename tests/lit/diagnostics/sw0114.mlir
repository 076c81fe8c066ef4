// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0114.mlir:5:1: error[SW0114]: @main has sdy.sharding = "batch", which is no sharding
// CHECK: help: write #sdy.sharding<@mesh, [{...}, ...]>, one {...} for each dim

func.func public @main(%x: tensor<16x64xf32> {sdy.sharding = "batch"}) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
