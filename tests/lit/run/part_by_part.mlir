// A device may not hold all rows of the second factor (16 KiB), nor all columns of the third one, besides what it has to:
// both come in four parts, one by one, in as many bytes as gathering takes (3/4 of 16 KiB each).
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: 1 results against the unsharded run
// CHECK-NEXT: sent per device: 24,576 bytes in 6 messages, as predicted
// CHECK-NOT: all_gather
module attributes {dtensor.memory_limit = 30000 : i64} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.tanh %0 : tensor<64x64xf32>
    %2 = stablehlo.dot_general %1, %c, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return %2 : tensor<64x64xf32>
  }
}
