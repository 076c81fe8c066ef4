// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0110_one_device.mlir:9:8: error[SW0110]: mesh @only lists its devices by device_ids
// CHECK: --- and here each device has a number of its own

// A tensor that is said to be on one certain device, whose number goes into it.
sdy.mesh @only = <[], device_ids=[3]>
func.func public @main(%x: tensor<ui32>) -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.add %x, %0 {sdy.sharding = #sdy.sharding_per_value<[<@only, []>]>} : tensor<ui32>
  return %1 : tensor<ui32>
}
