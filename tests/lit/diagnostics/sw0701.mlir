// RUN: not shardwright-opt %s --pases=cse 2>&1 | filecheck %s
// CHECK: error[SW0701]: shardwright-opt: unrecognized arguments: --pases=cse
// CHECK-NEXT: help: did you mean '--passes'?

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
