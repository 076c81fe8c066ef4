// RUN: shardwright export %s --to stablehlo | filecheck %s
// RUN: shardwright export %s --to stablehlo -o %t && shardwright run %t --check

// What all devices get whole travels with what each gets a part of: a row for each device.
// CHECK-LABEL: func.func public @main
// CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<16xf32>) -> tensor<4x16xf32>
// CHECK: stablehlo.concatenate %{{.*}} : (tensor<4x16xf32>, tensor<4x6xf32>) -> tensor<4x22xf32>
// CHECK: stablehlo.all_to_all
// CHECK-NOT: stablehlo.all_{{gather|to_all}}
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
  %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  %1 = stablehlo.negate %b : tensor<8x12xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x12xf32>
}
