// Two slices at places that are computed: one gather of the 16 elements, 3/4 of 64 bytes, serves both. Each slice by itself
// would as well be cut where the elements lie and added up: 2 * 3/4 of 32 bytes, twice.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 48 bytes in 1 messages, as predicted
// CHECK-NEXT:   all_gather
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %at: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %then = stablehlo.add %at, %two : tensor<i32>
    %0 = stablehlo.dynamic_slice %a, %at, sizes = [8] : (tensor<16xf32>, tensor<i32>) -> tensor<8xf32>
    %1 = stablehlo.dynamic_slice %a, %then, sizes = [8] : (tensor<16xf32>, tensor<i32>) -> tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
}
