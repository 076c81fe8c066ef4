// RUN: shardwright-opt %s -p import,propagate-layouts --split-input-file | filecheck %s
// RUN: shardwright-opt %s -p plan --split-input-file | filecheck %s --check-prefix=PLAN

// The rule that a program gives a custom call for Shardy says how layouts spread through it: here from the operand to
// the transposed result, and back from the constrained one.

// CHECK-LABEL: @main
// CHECK: stablehlo.custom_call @my.transpose(%x) {{.*}} -> tensor<8x4xf32, #dtensor.layout<@mesh, [{"y"}, {"x"}]>>
// PLAN-LABEL: @main
// PLAN-NOT: dtensor.all
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.custom_call @my.transpose(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) {i=4, j=8}, custom>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// What it reduces is summed over the devices; a factor that is needed whole is gathered; one that the result alone has
// is made whole by each device.

// CHECK-LABEL: @main
// PLAN-LABEL: @main
// PLAN: dtensor.all_gather @mesh [{}, {"y"}] %x
// PLAN: stablehlo.custom_call @my.norms
// PLAN: dtensor.all_reduce sum @mesh {"x"}
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.custom_call @my.norms(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k]) {i=4, j=8, k=8} reduction={i} need_replication={j}, custom>} : (tensor<4x8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A dim of two factors is split as far as its major one goes.

// CHECK-LABEL: @main
// CHECK: stablehlo.custom_call @my.merge(%x) {{.*}} -> tensor<32xf32, #dtensor.layout<@mesh, [{"x", "y"}]>>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%x: tensor<2x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<32xf32> {
  %0 = stablehlo.custom_call @my.merge(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([ij]) {i=2, j=16}, custom>} : (tensor<2x16xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
