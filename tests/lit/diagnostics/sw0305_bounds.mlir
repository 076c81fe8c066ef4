// RUN: not shardwright-opt %s 2>&1 | filecheck %s
// CHECK: sw0305_bounds.mlir:5:28: error[SW0305]: tensor<?x8xf32, #stablehlo.bounds<4, ?>> has a dynamic dim, whose bounds say tensor<4x8xf32> at most
// CHECK: help: every shape is known before the run: export the program for that type, and mask what is beyond the true size

func.func public @main(%x: tensor<?x8xf32, #stablehlo.bounds<4, ?>>) {
  return
}
