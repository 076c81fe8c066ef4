// RUN: not shardwright certify %s --verify %s 2>&1 | filecheck %s
// CHECK: sw0331.mlir:1:1: error[SW0331]: this is no certificate: it is no JSON
// CHECK: help: write it anew: shardwright certify FILE -o CERTIFICATE

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
