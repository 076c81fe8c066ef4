// RUN: shardwright run %s --check | filecheck %s

// The product does not depend on the rows that "x" splits, but the result is split by "x": every part of it holds the
// same rows. A tensor without elements is split like any other.

// CHECK: ok: 2 results against the unsharded run

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %e: tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<8x0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %one = stablehlo.constant dense<1.0> : tensor<16x8xf32>
  %0 = stablehlo.dot_general %one, %a, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %1 = stablehlo.transpose %e, dims = [1, 0] : (tensor<0x8xf32>) -> tensor<8x0xf32>
  %2 = stablehlo.add %1, %1 : tensor<8x0xf32>
  return %0, %2 : tensor<16x4xf32>, tensor<8x0xf32>
}
