// RUN: not shardwright run %s 2>&1 | filecheck %s
// RUN: not shardwright-opt %s -p partition 2>&1 | filecheck %s
// RUN: not shardwright-opt %s --disable-verify 2>&1 | filecheck %s
// CHECK: sw0305.mlir:8:31: error[SW0305]: tensor<?x8xf32> has a dynamic dim
// CHECK-NEXT: | func.func public @main(%arg0: tensor<?x8xf32>)
// CHECK: help: every shape is known before the run: export the program for the sizes it is to run with

func.func public @main(%arg0: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.negate %arg0 : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
