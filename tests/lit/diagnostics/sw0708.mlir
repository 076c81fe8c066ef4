// RUN: not shardwright-opt %s --verify-diagnostics 2>&1 | filecheck %s
// CHECK: sw0708.mlir:7:1: error[SW0708]: expected error "a fault" on line 7 was not produced
// CHECK: help: correct the comment, or the program


func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32> // expected-error {{a fault}}
}
