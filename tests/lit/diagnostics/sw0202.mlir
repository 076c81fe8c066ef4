// RUN: not shardwright-opt %s 2>&1 | filecheck %s
// CHECK: sw0202.mlir:6:26: error[SW0202]: %y is used, but never defined
// CHECK: help: define the name before this use, or correct its spelling

func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %0 = stablehlo.add %x, %y : tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
