// RUN: not shardwright run %s 2>&1 | filecheck %s
// RUN: not shardwright price %s 2>&1 | filecheck %s
// RUN: not shardwright check %s --max-bytes 1GB 2>&1 | filecheck %s
// CHECK: sw0403_elements.mlir:8:8: error[SW0403]: a value of type tensor<4xf80> cannot be partitioned
// CHECK: help: use elements that NumPy or ml_dtypes has a type for

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf80>
  %1 = stablehlo.convert %0 : (tensor<4xf80>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
