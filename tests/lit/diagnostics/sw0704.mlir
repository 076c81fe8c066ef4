// RUN: not shardwright-opt %s -o %S/no/such/folder 2>&1 | filecheck %s
// CHECK: error[SW0704]: cannot write '{{.*}}/no/such/folder': No such file or directory
// CHECK-NEXT: help: check that the directory exists and can be written

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
