// The layout of %x does not go through a barrier that lets layouts through backwards only, whatever that sends: each device
// gathers the three quarters of 8 x 8 numbers that it lacks.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 192 bytes in 1 messages, as predicted
// CHECK-NEXT:   all_gather
module {
  sdy.mesh @mesh = <["a"=4]>
  func.func public @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x8xf32> {
    %0 = sdy.propagation_barrier %x allowed_direction=BACKWARD : tensor<8x8xf32>
    %1 = stablehlo.tanh %0 : tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
}
