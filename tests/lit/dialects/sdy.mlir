// RUN: shardwright-opt %s | filecheck %s
// RUN: %roundtrip

// Shardy's meshes, shardings and constraints.

// CHECK: sdy.mesh @mesh = <["x"=8, "y"=2, "z"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
sdy.mesh @mesh = <["x"=8, "y"=2, "z"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
// CHECK-NEXT: sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @one = <[], device_ids=[3]>
// CHECK-NEXT: sdy.mesh @other = <["a"=4], device_ids=[3, 2, 1, 0]>
sdy.mesh @other = <["a"=4], device_ids=[3, 2, 1, 0]>

// CHECK-LABEL: func.func @arguments(
// CHECK-SAME: %arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}], replicated={"y"}>}
// CHECK-SAME: -> (tensor<16x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>})
func.func @arguments(
    %arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {}], replicated={"y"}>}
  ) -> (tensor<16x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}) {
  return %arg0 : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @sub_axes_and_partial_sums(
// CHECK-SAME: #sdy.sharding<@mesh, [{"x":(1)2, "x":(4)2}p1], unreduced={"z"}>
func.func @sub_axes_and_partial_sums(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, "x":(4)2}p1], unreduced={"z"}>}) {
  return
}

// CHECK-LABEL: func.func @constraint(
func.func @constraint(%arg0: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // CHECK-NEXT: %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}p0, {?}p2]> : tensor<16x8xf32>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}p0, {?}p2]> : tensor<16x8xf32>
  // CHECK-NEXT: %1 = sdy.sharding_constraint %0 <mesh<["a"=2, "b"=2]>, [{"a"}, {"b"}]> : tensor<16x8xf32>
  %1 = sdy.sharding_constraint %0 <mesh<["a"=2, "b"=2]>, [{"a"}, {"b"}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @sharding_of_results(
func.func @sharding_of_results(%arg0: tensor<16x8xf32>) {
  // CHECK-NEXT: %0 = stablehlo.add %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<16x8xf32>
  %0 = stablehlo.add %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<16x8xf32>
  // CHECK-NEXT: %cst = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1.000000e+00> : tensor<f32>
  %cst = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1.0> : tensor<f32>
  return
}
