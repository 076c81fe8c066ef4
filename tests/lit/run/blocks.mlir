// RUN: shardwright run %s --check
// RUN: shardwright-opt %s -p plan | filecheck %s

// What keeps blocks of a split dim in their places sends nothing: every second element, holes between all elements, a
// reshape whose shapes share only their leading factor, and a maximum that starts above its neutral element.
// CHECK-LABEL: func.func public @main
// CHECK-NOT: dtensor.{{(all_gather|all_to_all|collective_permute|exchange|window)}}
// CHECK: dtensor.all_reduce
// CHECK-NOT: dtensor.{{(all_gather|all_to_all|collective_permute|exchange|window)}}

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
    %a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %b: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
  ) -> (
    tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    tensor<6x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
  ) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %a [0:8, 1:12:2] : (tensor<8x12xf32>) -> tensor<8x6xf32>
  %1 = stablehlo.pad %a, %zero, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<8x12xf32>, tensor<f32>) -> tensor<16x12xf32>
  %2 = stablehlo.reshape %b : (tensor<4x3xf32>) -> tensor<6x2xf32>
  %3 = stablehlo.reduce(%a init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<8x12xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1, %2, %3 : tensor<8x6xf32>, tensor<16x12xf32>, tensor<6x2xf32>, tensor<8xf32>
}
