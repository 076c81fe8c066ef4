// Partial sums that meet are reduced once: 2 * 1/2 of 64 bytes.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 64 bytes in 1 messages, as predicted
// CHECK-NEXT:   all_reduce
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.negate %0 : tensor<4x4xf32>
    %3 = stablehlo.add %0, %1 : tensor<4x4xf32>
    %4 = stablehlo.subtract %3, %2 : tensor<4x4xf32>
    return %4 : tensor<4x4xf32>
  }
}
