// RUN: not shardwright rnu %s 2>&1 | filecheck %s
// CHECK: error[SW0715]: shardwright has no command 'rnu'
// CHECK-NEXT: help: did you mean 'run'?

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
