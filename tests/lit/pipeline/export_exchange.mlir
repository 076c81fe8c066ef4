// RUN: shardwright export %s --to stablehlo | filecheck %s
// RUN: shardwright export %s --to stablehlo -o %t && shardwright run %t --check

// Pieces keep their shape on the way, and dims that stay side by side move as one: kernels divide for few indices.
// CHECK-LABEL: func.func public @main
// CHECK: stablehlo.transpose %{{.*}}, dims = [0, 2, 1, 3] : (tensor<2x8x2x16xf32>) -> tensor<2x2x8x16xf32>
// CHECK: stablehlo.all_to_all{{.*}} : (tensor<4x1x2x4x4x4xf32>) -> tensor<4x1x2x4x4x4xf32>
// CHECK: stablehlo.transpose %{{.*}}, dims = [2, 0, 3, 1, 4] : (tensor<2x2x2x16x4xf32>) -> tensor<2x2x16x2x4xf32>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
  %a: tensor<4x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {"y"}]>}
) -> (tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.reshape %a : (tensor<4x8x8x8xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}
