// An axis moves from rows to columns: of 64 local bytes half stay.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 32 bytes in 1 messages, as predicted
// CHECK-NEXT:   all_to_all
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
    %0 = stablehlo.negate %a : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
