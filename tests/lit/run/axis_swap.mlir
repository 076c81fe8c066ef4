// Two axes change places: half of the devices send their 64 bytes to another one, on average 32.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 32 bytes in 1 messages, as predicted
// CHECK-NEXT:   collective_permute
module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
    %0 = stablehlo.negate %a : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
