// A loss and its gradients for ten rows on four devices: 3, 3, 3 and 1. Sums over rows are masked, and reduced in one
// message: (4 * 8 + 8 * 2 + 1) * 4 bytes, twice 3/4 of them. What each row gives stays where it is.
// RUN: shardwright run %s --check | filecheck %s
// RUN: shardwright certify %s

// CHECK: ok: 4 results against the unsharded run
// CHECK-NEXT: sent per device: 294 bytes in 1 messages, as predicted
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%x: tensor<10x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> (tensor<10x2xf32>, tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<f32>) {
  %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<10x4xf32>, tensor<4x8xf32>) -> tensor<10x8xf32>
  %h = stablehlo.tanh %0 : tensor<10x8xf32>
  %y = stablehlo.dot_general %h, %b, contracting_dims = [1] x [0] : (tensor<10x8xf32>, tensor<8x2xf32>) -> tensor<10x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %square = stablehlo.multiply %y, %y : tensor<10x2xf32>
  %loss = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<10x2xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.add %y, %y : tensor<10x2xf32>
  %gb = stablehlo.dot_general %h, %g, contracting_dims = [0] x [0] : (tensor<10x8xf32>, tensor<10x2xf32>) -> tensor<8x2xf32>
  %gh = stablehlo.dot_general %g, %b, contracting_dims = [1] x [1] : (tensor<10x2xf32>, tensor<8x2xf32>) -> tensor<10x8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<10x8xf32>
  %hh = stablehlo.multiply %h, %h : tensor<10x8xf32>
  %slope = stablehlo.subtract %one, %hh : tensor<10x8xf32>
  %g0 = stablehlo.multiply %gh, %slope : tensor<10x8xf32>
  %ga = stablehlo.dot_general %x, %g0, contracting_dims = [0] x [0] : (tensor<10x4xf32>, tensor<10x8xf32>) -> tensor<4x8xf32>
  return %y, %ga, %gb, %loss : tensor<10x2xf32>, tensor<4x8xf32>, tensor<8x2xf32>, tensor<f32>
}
