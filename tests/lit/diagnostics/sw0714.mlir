// RUN: not shardwright explain %s --why 90 2>&1 | filecheck %s
// CHECK: sw0714.mlir:90:1: error[SW0714]: line 90 defines no value in the partitioned program
// CHECK-NEXT: note: values that nothing uses, and duplicates of others, are removed before partitioning
// CHECK-NEXT: help: lines nearby that define values: 6, 7

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
