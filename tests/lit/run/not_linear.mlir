// Their greatest value and their product are not those of the parts: both sums are reduced first, as one message.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 128 bytes in 1 messages, as predicted
// CHECK-NEXT:   all_reduce
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.dot_general %a, %c, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<4x4xf32>
    %3 = stablehlo.multiply %0, %1 : tensor<4x4xf32>
    return %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>
  }
}
