// RUN: shardwright-opt %s -p import-sdy --split-input-file | filecheck %s

// What Shardy leaves in modules that it has worked on.

// Its collectives are relayouts: how a value gets to a layout is ours to plan.
// CHECK-LABEL: @collectives
// CHECK-NEXT: %0 = dtensor.relayout %a {reason = "the program's sdy.all_gather"} : {{.*}} -> tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
// CHECK-NEXT: dtensor.relayout %0 {reason = "the program's sdy.all_to_all"} : {{.*}} -> tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @collectives(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x8xf32> {
  %0 = sdy.all_gather [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// A mesh that no sharding names is not there; one that is written in place is declared. The order of devices is for the run.
// CHECK-NOT: @other
// CHECK: dtensor.mesh @mesh = <["x"=4]>
// CHECK-NOT: @other
// CHECK-LABEL: @meshes
// CHECK-SAME: %a: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
sdy.mesh @other = <["x"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
func.func public @meshes(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=4], device_ids=[3, 2, 1, 0]>, [{"x"}]>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// Edges of functions are the values themselves, in the layout that is said of them; records of whose a sharding was go.
// CHECK-LABEL: @edges
// CHECK-SAME: (%a: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<4xf32
// CHECK-NEXT: %0 = dtensor.constraint %a : {{.*}} -> tensor<4xf32, #dtensor.layout<@mesh, [{?}]>>
// CHECK-NEXT: stablehlo.negate %0 : (
// CHECK-NOT: sdy
sdy.mesh @mesh = <["x"=2]>
func.func public @edges(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, sdy.sharding_origins = {x = "self"}}) -> tensor<4xf32> attributes {sdy.original_func_name = "edges"} {
  %0 = sdy.func_data_flow_edge %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>]>} : tensor<4xf32>
  %1 = stablehlo.negate %0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4}>} : tensor<4xf32>
  %2 = sdy.func_data_flow_edge %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// What an op's own result is left unreduced by, the placement of partial sums decides; the dims stay as they are said.
// CHECK-LABEL: @unreduced
// CHECK: stablehlo.dot_general {{.*}} -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {"y"}]>>
// CHECK: %x: tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=max{"x"}>>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @unreduced(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}], unreduced={"x"}>]>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func public @maxima(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
