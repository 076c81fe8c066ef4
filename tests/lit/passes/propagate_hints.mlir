// RUN: shardwright-opt %s -p 'import-sdy,propagate-layouts{refine=false}' --split-input-file | filecheck %s

// Barriers, groups, priorities and axes that a value may not be split by.

// CHECK-LABEL: func.func public @main(
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: dtensor.barrier none %a : {{.*}} -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  %0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<8xf32>
  // CHECK-NEXT: dtensor.barrier forward %a {{.*}} -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
  %1 = sdy.propagation_barrier %a allowed_direction=FORWARD : tensor<8xf32>
  // CHECK-NEXT: dtensor.barrier backward %a : {{.*}} -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  %2 = sdy.propagation_barrier %a allowed_direction=BACKWARD : tensor<8xf32>
  // CHECK-NEXT: return
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Backwards: from the constraint behind the barrier to the argument before it, and not forwards.
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: %a: tensor<8xf32, #dtensor.layout<@mesh, [{"y"}]>>, %b: tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.propagation_barrier %a allowed_direction=BACKWARD : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}]> : tensor<8xf32>
  %2 = sdy.propagation_barrier %b allowed_direction=FORWARD : tensor<8xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{"y"}]> : tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// -----

// All members of a group get the layout of one; the group is gone.
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: %a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>, %b: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>, %c: tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
// CHECK-NOT: group
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>, %c: tensor<8xf32>) {
  sdy.sharding_group %a group_id=7 : tensor<8xf32>
  sdy.sharding_group %b group_id=7 : tensor<8xf32>
  sdy.sharding_group %c group_id=8 : tensor<8xf32>
  return
}

// -----

// One member has part of an axis in an open dim, the other all of it.
// CHECK-LABEL: func.func public @main(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>, %b: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>)
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  sdy.sharding_group %a group_id=7 : tensor<8xf32>
  sdy.sharding_group %b group_id=7 : tensor<8xf32>
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Members whose layouts the compiler chose take that of the first of them; nobody asked for the second one's.
// CHECK-LABEL: func.func public @main(
// CHECK: stablehlo.negate %a {{.*}} : tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
// CHECK: stablehlo.negate %b {{.*}} -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.negate %b : tensor<8xf32>
  sdy.sharding_group %0 group_id=7 : tensor<8xf32>
  sdy.sharding_group %1 group_id=7 : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Of two layouts that meet the larger tensor's wins; with priorities, the one that comes first.
// CHECK-LABEL: func.func public @main(
// CHECK: stablehlo.dot_general {{.*}} -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
sdy.mesh @mesh = <["x"=2]>
func.func public @main(
    %a: tensor<4x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {}]>},
    %b: tensor<64x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func public @main(
// CHECK: stablehlo.dot_general {{.*}} -> tensor<4x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
sdy.mesh @mesh = <["x"=2]>
func.func public @main(
    %a: tensor<4x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<64x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}p2]>}) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// An open dim may gain any axis but those that the user wants replicated.
// CHECK-LABEL: func.func public @main(
// CHECK: dtensor.constraint {{.*}} -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"y"}]>>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{?}, {?}], replicated={"x"}> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A reshard says nothing about its operand.
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: %a: tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
// CHECK: dtensor.relayout %a {reason = "the user's reshard"} : {{.*}} -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A member that any device can make, as a constant, follows the others, wherever it stands.
// CHECK-LABEL: func.func public @main(
// CHECK: stablehlo.constant {{.*}} -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
// CHECK: stablehlo.negate %a {{.*}} : tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<8xf32>
  %0 = stablehlo.negate %a : tensor<8xf32>
  sdy.sharding_group %c group_id=0 : tensor<8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8xf32>
  return %0, %c : tensor<8xf32>, tensor<8xf32>
}

// -----

// Members agree before anything spreads: %b is closed as %a is, so that %w, which is split, does not split it.
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: %b: tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>},
    %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  sdy.sharding_group %a group_id=0 : tensor<8x8xf32>
  sdy.sharding_group %b group_id=0 : tensor<8x8xf32>
  %0 = stablehlo.add %b, %w : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// What one member gains, all have at once: %0 hears of columns and %1 of rows in one round, and one of the two wins.
// CHECK-LABEL: func.func public @main(
// CHECK: stablehlo.negate %a {{.*}} : tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
// CHECK: stablehlo.negate %b {{.*}} -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
sdy.mesh @mesh = <["x"=2]>
func.func public @main(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  %1 = stablehlo.negate %b : tensor<8x8xf32>
  sdy.sharding_group %0 group_id=7 : tensor<8x8xf32>
  sdy.sharding_group %1 group_id=7 : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// A member inside of a manual computation is not split by its axes, and so the others are not.
// CHECK-LABEL: func.func public @main(
// CHECK: stablehlo.negate %b {{.*}} -> tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
// CHECK: stablehlo.tanh %in : tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<4x8xf32>) {
  %n = stablehlo.negate %b : tensor<4x8xf32>
  sdy.sharding_group %n group_id=1 : tensor<4x8xf32>
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%in: tensor<4x8xf32>) {
    %1 = stablehlo.tanh %in : tensor<4x8xf32>
    sdy.sharding_group %1 group_id=1 : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %n : tensor<8x8xf32>, tensor<4x8xf32>
}
