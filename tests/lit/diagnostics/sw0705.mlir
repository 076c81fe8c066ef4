// RUN: not shardwright-opt %s -p canonicalise 2>&1 | filecheck %s
// CHECK: error[SW0705]: no pass or pipeline is named 'canonicalise'
// CHECK-NEXT: help: did you mean 'canonicalize'?

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
