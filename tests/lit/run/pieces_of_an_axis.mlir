// A reshape splits a dim by less than an axis, and merges it again: nothing moves.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 0 bytes in 0 messages, as predicted
module {
  sdy.mesh @mesh = <["x"=8]>
  func.func public @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = stablehlo.reshape %a : (tensor<16xf32>) -> tensor<2x2x4xf32>
    %2 = stablehlo.tanh %0 : tensor<2x2x4xf32>
    %1 = stablehlo.reshape %2 : (tensor<2x2x4xf32>) -> tensor<16xf32>
    return %1 : tensor<16xf32>
  }
}
