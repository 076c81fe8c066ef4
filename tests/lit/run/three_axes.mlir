// Three axes in one program: batch, rows and the contracted dim.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 64 bytes in 1 messages, as predicted
// CHECK-NEXT:   all_reduce           over k
module {
  sdy.mesh @mesh = <["b"=2, "i"=2, "k"=2]>
  func.func public @main(%a: tensor<4x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"i"}, {"k"}]>}, %w: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"k"}, {}]>}) -> (tensor<4x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"i"}, {}]>}) {
    %0 = stablehlo.dot_general %a, %w, contracting_dims = [2] x [0] : (tensor<4x4x8xf32>, tensor<8x4xf32>) -> tensor<4x4x4xf32>
    return %0 : tensor<4x4x4xf32>
  }
}
