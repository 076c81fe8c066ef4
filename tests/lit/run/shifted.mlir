// A shift by one along a split dim: each device but the last needs one row (16 bytes) of its neighbour, 12 on average.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 12 bytes in 1 messages, as predicted
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.pad %a, %zero, low = [-1, 0], high = [1, 0], interior = [0, 0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
}
