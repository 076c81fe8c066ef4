// RUN: shardwright-opt %s -p settle-calls --split-input-file | filecheck %s

// In a manual computation over all axes, and in a function that is called from there alone, calls are not to be split.

// CHECK-LABEL: @main
// CHECK: stablehlo.custom_call @kernel(%y) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k], []) {i=2, j=3, k=2} need_replication={i, j, k}, custom>}
// CHECK: func.call @inner
// CHECK: func.call @outer
// CHECK-LABEL: func private @inner
// CHECK: stablehlo.custom_call @kernel(%y) {sdy.sharding_rule
// CHECK-LABEL: func private @outer
// CHECK-NOT: sdy.sharding_rule
sdy.mesh @mesh = <["x"=2, "y"=4, "one"=1]>
func.func public @main(%x: tensor<16x3xf32>) -> (tensor<16xf32>, tensor<2x3xf32>) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x", "y"}]>] manual_axes={"x", "y"} (%y: tensor<2x3xf32>) {
    %1, %2 = stablehlo.custom_call @kernel(%y) : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<i32>)
    %3 = func.call @inner(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %4 = func.call @outer(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    sdy.return %1 : tensor<2xf32>
  } : (tensor<16x3xf32>) -> tensor<16xf32>
  %5 = stablehlo.slice %x [0:2, 0:3] : (tensor<16x3xf32>) -> tensor<2x3xf32>
  %6 = func.call @outer(%5) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %6 : tensor<16xf32>, tensor<2x3xf32>
}
func.func private @inner(%y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.custom_call @kernel(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func private @outer(%y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.custom_call @kernel(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Where an axis is left, where a call has effects or is one back into Python, or where it stands outside, nothing is said.

// CHECK-LABEL: @left
// CHECK-NOT: sdy.sharding_rule
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<2xf32>) {
    %1 = stablehlo.custom_call @kernel(%y) : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x", ?}]>] out_shardings=[<@mesh, [{"x", ?}]>] manual_axes={"x", "y"} (%y: tensor<2xf32>) {
    %3 = stablehlo.custom_call @kernel(%y) {has_side_effect = true} : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %3 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %4 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x", ?}]>] out_shardings=[<@mesh, [{"x", ?}]>] manual_axes={"x", "y"} (%y: tensor<2xf32>) {
    %5 = stablehlo.custom_call @xla_ffi_python_gpu_callback(%y) : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %5 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %6 = stablehlo.custom_call @kernel(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %6 : tensor<4xf32>
}

// -----

// One device has all of it.

// CHECK-LABEL: @alone
// CHECK: sdy.sharding_rule
sdy.mesh @mesh = <["x"=1]>
func.func public @alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The program says that one device makes the call, or gives one of its results; of a call with effects that says nothing.

// CHECK-LABEL: @there
// CHECK: stablehlo.custom_call @kernel(%x) {{.*}}sdy.sharding_rule = {{.*}}need_replication={i, j, k}
// CHECK: stablehlo.custom_call @kernel(%x) {{.*}}sdy.sharding_rule
// CHECK-NOT: sdy.sharding_rule
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @only = <[], device_ids=[1]>
func.func public @there(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:2 = stablehlo.custom_call @kernel(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@only, []>]>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1 = stablehlo.custom_call @kernel(%x) {sdy.sharding = #sdy.sharding_per_value<[<mesh<[], device_ids=[0]>, []>]>} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @kernel(%x) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@only, []>]>} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.custom_call @kernel(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0#0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
