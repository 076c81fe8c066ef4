// RUN: not shardwright-opt %s 2>&1 | filecheck %s

// A file that ends too early is an error at its end, and the exit code is 1.

// CHECK: invalid_truncated.mlir:10:1: error[SW0201]: expected an operation or
// CHECK-NOT: Traceback

func.func @main(%x: tensor<4xf32>) {
  %0 = stablehlo.negate %x : tensor<4xf32>
