// A roll by a number that is computed: a slice of the array laid twice end to end. The array is gathered, 3/4 of 64 bytes, and
// laid end to end by each device. Laid end to end in parts, it would take two windows, and then the sum of all slices.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 48 bytes in 1 messages, as predicted
// CHECK-NEXT:   all_gather
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %at: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %twice = stablehlo.concatenate %a, %a, dim = 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
    %0 = stablehlo.dynamic_slice %twice, %at, sizes = [16] : (tensor<32xf32>, tensor<i32>) -> tensor<16xf32>
    return %0 : tensor<16xf32>
  }
}
