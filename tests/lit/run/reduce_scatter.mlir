// A sum whose result is split by the same axis is scattered: 3/4 of 64 bytes.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 48 bytes in 1 messages, as predicted
// CHECK-NEXT:   reduce_scatter
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
