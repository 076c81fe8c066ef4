// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0112.mlir:5:1: error[SW0112]: @main carries mhlo.sharding, GSPMD's shardings, instead of Shardy's
// CHECK: help: export the program with Shardy: jax.config.update('jax_use_shardy_partitioner', True)

func.func public @main(%x: tensor<16x64xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"}) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
