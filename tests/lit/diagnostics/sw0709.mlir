// RUN: not shardwright run %s --inputs %s 2>&1 | filecheck %s
// CHECK: sw0709.mlir:1:1: error[SW0709]: cannot read arrays from '{{.*}}sw0709.mlir': {{.+}}
// CHECK: help: write it with numpy.savez(path, in_0=..., in_1=...)

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
