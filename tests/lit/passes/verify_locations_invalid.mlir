// RUN: shardwright-opt %s -p verify-locations --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @unknown {{'stablehlo.negate' has no source location}}
  %0 = stablehlo.negate %x : tensor<4xf32> loc(unknown)
  return %0 : tensor<4xf32>
}
