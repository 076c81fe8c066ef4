// RUN: not shardwright-opt %s 2>&1 | filecheck %s
// CHECK: sw0304.mlir:10:1: error[SW0304]: 'func.func' op defines @main again
// CHECK: 7 | func.func public @main
// CHECK-NEXT: --------- first defined here
// CHECK: help: give each function and mesh its own name

func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
