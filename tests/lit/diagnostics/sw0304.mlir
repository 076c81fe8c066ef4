// RUN: not shardwright-opt %s 2>&1 | filecheck %s
// CHECK: sw0304.mlir:9:1: error[SW0304]: 'func.func' op defines @main again
// CHECK: note: it is defined at {{.*}}sw0304.mlir:6:1
// CHECK: help: give each function and mesh its own name

func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  return %x : tensor<16x64xf32>
}
