// RUN: not shardwright-opt %s -p 'propagate-layouts{refine=true together=false refine=false}' 2>&1 | filecheck %s
// CHECK: error[SW0707]: pass 'propagate-layouts' is given the option 'refine' twice
// CHECK-NEXT: help: leave one of them out

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
