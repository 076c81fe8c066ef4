// RUN: not shardwright-opt %s -p import 2>&1 | filecheck %s
// CHECK: sw0110.mlir:7:1: error[SW0110]: mesh @mesh lists its devices by device_ids
// CHECK: -- and here devices are numbered
// CHECK: note: a program refers to mesh axes only; which device stands where is for the run to say
// CHECK: help: drop device_ids, and give the devices to Mesh(devices=...)

sdy.mesh @mesh = <["batch"=4, "model"=2], device_ids=[1, 0, 2, 3, 4, 5, 6, 7]>
func.func public @main(%x: tensor<16x64xf32>) -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}
