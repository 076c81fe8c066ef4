// RUN: shardwright export %s --to stablehlo | filecheck %s
// RUN: shardwright export %s --to stablehlo -o %t && shardwright run %t --check

// Of four pieces that a device needs it gets two, one of which some have, and gathers the others from its neighbour, who
// needs the same. Both tensors, whatever their sizes and types, go by the same three messages.
// CHECK-LABEL: func.func public @main
// CHECK-COUNT-2: stablehlo.collective_permute
// CHECK-NOT: stablehlo.collective_permute
// CHECK: stablehlo.all_gather
// CHECK-NOT: stablehlo.all_gather
// CHECK: return
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(
    %a: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %b: tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
        tensor<4x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  return %a, %b : tensor<16x32xf32>, tensor<4x8xi32>
}
