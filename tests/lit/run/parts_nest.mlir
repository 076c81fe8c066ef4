// RUN: shardwright run %s --check

// Two reshapes cut the same axis in two ways that do not nest: one of them goes another way.

sdy.mesh @mesh = <["y"=6]>
func.func public @main(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<2x6xf32>, tensor<3x4xf32>) {
  %0 = stablehlo.reshape %a : (tensor<12xf32>) -> tensor<2x6xf32>
  %1 = stablehlo.reshape %a : (tensor<12xf32>) -> tensor<3x4xf32>
  return %0, %1 : tensor<2x6xf32>, tensor<3x4xf32>
}
