// RUN: not shardwright run %s 2>&1 | filecheck %s
// RUN: not shardwright-opt %s -p partition 2>&1 | filecheck %s

// CHECK: sw0324.mlir:9:1: error[SW0324]: a module stands inside of the program's module
// CHECK: help: give each module as a program of its own, or drop the inner one

module @outer {
sdy.mesh @mesh = <["x"=4]>
module @inner { func.func @g(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> } }
func.func public @main(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<16xf32>
  return %0 : tensor<16xf32>
}
}
