// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0110_one_device.mlir:7:8: error[SW0110]: mesh @only lists its devices by device_ids

// A tensor that is said to be on one certain device.
sdy.mesh @only = <[], device_ids=[3]>
func.func public @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@only, [{}]>]>} : tensor<16xf32>
  return %0 : tensor<16xf32>
}
