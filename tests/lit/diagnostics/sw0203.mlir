// RUN: not shardwright-opt %s 2>&1 | filecheck %s
// CHECK: sw0203.mlir:8:8: error[SW0203]: 2 unknown operations
// CHECK: note: stablehlo.negated at line 8
// CHECK: note: tosa.add at line 9
// CHECK: help: did you mean 'stablehlo.negate'?

func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %0 = stablehlo.negated %x : tensor<16x64xf32>
  %1 = tosa.add %0, %x : tensor<16x64xf32>
  return %1 : tensor<16x64xf32>
}
