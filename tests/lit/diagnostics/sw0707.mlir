// RUN: not shardwright-opt %s -p 'propagate-layouts{refined=true}' 2>&1 | filecheck %s
// CHECK: error[SW0707]: pass 'propagate-layouts' has no option 'refined'
// CHECK-NEXT: help: did you mean 'refine'?

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
