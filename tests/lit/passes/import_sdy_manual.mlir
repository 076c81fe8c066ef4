// RUN: shardwright-opt %s -p import-sdy --split-input-file | filecheck %s

// Manual computations are inlined between casts; their collectives name mesh axes.

// CHECK-LABEL: func.func public @main(
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[A:.*]] = dtensor.constraint %a {reason = "operand 0 of the manual computation at {{.*}}"} : tensor<8x8xf32> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x", ?}, {?}]>>
  // CHECK-NEXT: %[[B:.*]] = dtensor.to_manual @mesh [{"x"}, {}] manual {"x"} %[[A]] : {{.*}} -> tensor<2x8xf32>
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", ?}, {?}]>] out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%b: tensor<2x8xf32>) {
    // CHECK-NEXT: %[[C:.*]] = "stablehlo.all_reduce"(%[[B]]) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> ({
    %1 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%c: tensor<f32>, %d: tensor<f32>):
      %s = stablehlo.add %c, %d : tensor<f32>
      // A reducer's scalars have no layouts.
      // CHECK-NOT: dtensor.constraint
      %t = sdy.sharding_constraint %s <@mesh, []> : tensor<f32>
      // CHECK: stablehlo.return
      stablehlo.return %t : tensor<f32>
    }) : (tensor<2x8xf32>) -> tensor<2x8xf32>
    // CHECK: %[[D:.*]] = dtensor.constraint %[[C]] : {{.*}} -> tensor<2x8xf32, #dtensor.layout<@mesh, [{?}, {"y"}]>>
    %2 = sdy.sharding_constraint %1 <@mesh, [{?}, {"y"}]> : tensor<2x8xf32>
    // CHECK-NEXT: %[[E:.*]] = dtensor.from_manual @mesh [{"x"}, {}] manual {"x"} %[[D]] : {{.*}} -> tensor<8x8xf32>
    // CHECK-NEXT: dtensor.constraint %[[E]] {reason = "result 0 of the manual computation at {{.*}}"} : {{.*}} [{"x", ?}, {?}]>>
    sdy.return %2 : tensor<2x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Axes along which an operand is not split are kept out of its open dims.
// CHECK-LABEL: func.func public @main(
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: dtensor.constraint %a {{.*}} -> tensor<8xf32, #dtensor.layout<@mesh, [{?}], replicated={"x"}>>
  // CHECK-NEXT: dtensor.to_manual @mesh [{}] manual {"x"} %{{.*}} -> tensor<8xf32>
  // CHECK-NEXT: dtensor.from_manual @mesh [{}] manual {"x"}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{?}]>] out_shardings=[<@mesh, [{?}]>] manual_axes={"x"} (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Along its own axes a manual computation sees even parts; axes that are free in it may leave a rest.
// CHECK-LABEL: func.func public @main(
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<6x5xf32>) -> tensor<6x5xf32> {
  // CHECK-NEXT: dtensor.constraint %a {{.*}} -> tensor<6x5xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
  // CHECK-NEXT: dtensor.to_manual @mesh [{"x"}, {}] manual {"x"} %{{.*}} -> tensor<3x5xf32>
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%b: tensor<3x5xf32>) {
    sdy.return %b : tensor<3x5xf32>
  } : (tensor<6x5xf32>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}

// -----

// What takes and gives nothing says not on which mesh its axes are.
// CHECK-LABEL: func.func public @main(
// CHECK-NEXT: return
func.func public @main() {
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"x"} () {
    sdy.return
  } : () -> ()
  return
}

// -----

// Pairs and numbers of devices along the axes that they are about; a ring is one fetch.
// CHECK-LABEL: func.func public @main(
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<ui32>, tensor<ui32>) {
  %0, %1, %2 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x", "y"}]>, <@mesh, []>, <@mesh, []>] manual_axes={"x", "y"} (%b: tensor<1xf32>) {
    // CHECK: dtensor.fetch @mesh {"x"} [3, 0, 1, 2] %{{.*}} {reason = "stablehlo.collective_permute written by the user at {{.*}}"} : (tensor<1xf32>) -> tensor<1xf32>
    %3 = "stablehlo.collective_permute"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 4], [4, 6], [6, 0], [1, 3], [3, 5], [5, 7], [7, 1]]> : tensor<8x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
    // CHECK: dtensor.fetch @mesh {"y"} [1, 1]
    %4 = "stablehlo.collective_broadcast"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[1, 0], [3, 2], [5, 4], [7, 6]]> : tensor<4x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
    %c2 = stablehlo.constant dense<2> : tensor<ui32>
    %c4 = stablehlo.constant dense<4> : tensor<ui32>
    %id = stablehlo.partition_id : tensor<ui32>
    %q = stablehlo.divide %id, %c2 : tensor<ui32>
    // CHECK: %[[X:.*]] = dtensor.axis_index @mesh {"x"} : tensor<i32>
    // CHECK-NEXT: stablehlo.convert %[[X]] : (tensor<i32>) -> tensor<ui32>
    %5 = stablehlo.remainder %q, %c4 : tensor<ui32>
    // CHECK: stablehlo.constant dense<0> : tensor<ui32>
    %6 = stablehlo.replica_id : tensor<ui32>
    sdy.return %4, %5, %6 : tensor<1xf32>, tensor<ui32>, tensor<ui32>
  } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<ui32>, tensor<ui32>)
  return %0, %1, %2 : tensor<8xf32>, tensor<ui32>, tensor<ui32>
}

// -----

// A named computation is its body; its shardings are constraints.
// CHECK-LABEL: func.func public @main(
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[A:.*]] = dtensor.constraint %a : tensor<8xf32> -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.negate %[[A]]
  // CHECK-NEXT: dtensor.constraint %[[B]] : {{.*}} -> tensor<8xf32, #dtensor.layout<@mesh, [{"y"}]>>
  %0 = sdy.named_computation<"f">(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"y"}]>] (%b: tensor<8xf32>) {
    %1 = stablehlo.negate %b : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: stablehlo.constant dense<1.000000e+00>
  %2 = sdy.constant dense<1.0> : tensor<8xf32>
  // CHECK-NEXT: dtensor.constraint %{{.*}} : tensor<8xf32> -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
  %3 = sdy.data_flow_edge %2 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK-NEXT: stablehlo.add
  %4 = sdy.data_flow_edge %3 : tensor<8xf32>
  %5 = stablehlo.add %0, %4 : tensor<8xf32>
  return %5 : tensor<8xf32>
}

// -----

// One replica in all with a channel means every device; what fills a shorter group up is no device: the last one receives nothing.
// CHECK-LABEL: func.func public @main(
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x", "y"}]>] manual_axes={"x", "y"} (%b: tensor<1xf32>) {
    // CHECK: "stablehlo.all_reduce"(%{{.*}}) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "y">]>}>
    %1 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>}> ({
    ^bb0(%c: tensor<f32>, %d: tensor<f32>):
      %s = stablehlo.add %c, %d : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<1xf32>) -> tensor<1xf32>
    // CHECK: dtensor.fetch @mesh {"x", "y"} [1, 1, 2, -1]
    %2 = "stablehlo.collective_broadcast"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[1, 0], [2, -1]]> : tensor<2x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
    sdy.return %2 : tensor<1xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What is said of a collective's result counts as for any other op.

// CHECK-LABEL: @said
// CHECK: "stablehlo.all_gather"
// CHECK-SAME: -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {"y"}]>>
// CHECK-NOT: sdy.sharding
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @said(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%y: tensor<2x4xf32>) {
    %1 = "stablehlo.all_gather"(%y) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<2x4xf32>) -> tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
