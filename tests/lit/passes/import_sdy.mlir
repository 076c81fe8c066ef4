// RUN: shardwright-opt %s -p import-sdy --split-input-file | filecheck %s

// CHECK-LABEL: module @annotations
// CHECK-SAME: attributes {dtensor.stage = "traced"}
// CHECK-NEXT: dtensor.mesh @mesh = <["x"=4, "y"=2]>{{$}}
module @annotations attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}

  // CHECK: func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {?}]>> {tf.aliasing_output = 0 : i32},
  // CHECK-SAME: %b: tensor<8x8xf32>)
  // CHECK-SAME: -> (tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"y"}]>> {jax.result_info = "out"}, tensor<8x8xf32, #dtensor.layout<@mesh, [{"x":(1)2}, {"y"}]>>)
  func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>, tf.aliasing_output = 0 : i32}, %b: tensor<8x8xf32>)
      -> (tensor<8x8xf32> {jax.result_info = "out", sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, tensor<8x8xf32>) {
    // CHECK-NEXT: %0 = stablehlo.add %a, %b
    // CHECK-SAME: -> tensor<8x8xf32>{{$}}
    %0 = stablehlo.add %a, %b : tensor<8x8xf32>
    // CHECK-NEXT: %1 = dtensor.constraint %0 : tensor<8x8xf32> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x", "y"}, {}]>>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x", "y"}, {}]> : tensor<8x8xf32>
    // CHECK-NEXT: %2 = stablehlo.negate %1
    // CHECK-SAME: -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x":(1)2}, {"y"}]>>
    %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2}, {"y"}]>]>} : tensor<8x8xf32>
    // CHECK-NEXT: %3 = dtensor.constraint %2 {reason = "layout of result 0"}
    // CHECK-NEXT: return %3, %2
    return %2, %2 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// What a private function says about its arguments and results holds wherever it is called.
// CHECK-LABEL: module @private_functions
module @private_functions {
  sdy.mesh @mesh = <["x"=2]>
  // CHECK: func.func public @main(%x: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
  // CHECK-NEXT: call @f(%x)
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
    %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // CHECK: func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
  // CHECK-NEXT: %[[A:.*]] = dtensor.constraint %a : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
  // CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[A]]
  // CHECK-NEXT: %[[R:.*]] = dtensor.constraint %[[N]]
  // CHECK-NEXT: return %[[R]]
  func.func private @f(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = stablehlo.negate %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// CHECK-LABEL: module @one_mesh_with_two_names
// CHECK-NEXT: dtensor.mesh @mesh = <["x"=2]>
// CHECK-NEXT: func.func @main(%x: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, %y: tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
module @one_mesh_with_two_names {
  sdy.mesh @empty_mesh = <[]>
  sdy.mesh @mesh = <["x"=2]>
  sdy.mesh @again = <["x"=2], device_ids=[0, 1]>
  func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@again, [{"x"}]>}, %y: tensor<4xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) {
    return
  }
}

// -----

// CHECK-LABEL: module @partial_replicated_and_merged
// CHECK: %x: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
// CHECK-SAME: %y: tensor<8xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"y"}>>
module @partial_replicated_and_merged {
  sdy.mesh @mesh = <["x"=8, "y"=2]>
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, "x":(2)4}], replicated={"y"}>}, %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}p0], unreduced={"y"}>}) {
    return
  }
}

// -----

// The returned value has the layout already: no second constraint.
// CHECK-LABEL: module @result_with_its_layout
// CHECK: func.func @main(%x: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
// CHECK-NEXT: return %x
module @result_with_its_layout {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    return %x : tensor<4xf32>
  }
}

// -----

// The one result of an op may have one sharding instead of a list of one; a mesh written out is the one of its axes.
// CHECK-LABEL: func.func public @one_sharding(
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @one_sharding(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = stablehlo.negate %x : {{.*}} -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
  // CHECK-NEXT: dtensor.constraint %[[A]] : {{.*}} -> tensor<4xf32, #dtensor.layout<@mesh, [{"y"}]>>
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} : tensor<4xf32>
  %1 = sdy.sharding_constraint %0 <mesh<["x"=2, "y"=2]>, [{"y"}]> : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// JAX says on which one device a call into Python happens: that is no layout.
// CHECK-LABEL: module @one_device
// CHECK-NEXT: dtensor.mesh @mesh
// CHECK-NOT: maximal
module @one_device {
  sdy.mesh @mesh = <["x"=2]>
  sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    stablehlo.custom_call @say(%x) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<4xf32>) -> ()
    return %x : tensor<4xf32>
  }
}

// -----

// A value that is said to be on one device is whole, of whatever rank: its sharding has no dims.
// CHECK-LABEL: module @on_one_device
// CHECK-NEXT: dtensor.mesh @mesh = <["x"=2]>
// CHECK-NOT: only
// CHECK: func.func public @main(%x: tensor<4x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %y: tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>)
// CHECK-NEXT: stablehlo.add {{.*}} -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
// CHECK-NEXT: dtensor.relayout {{.*}} -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
module @on_one_device {
  sdy.mesh @only = <[], device_ids=[1]>
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@only, []>}) -> tensor<4x4xf32> {
    %0 = stablehlo.add %x, %y {sdy.sharding = #sdy.sharding_per_value<[<mesh<[], device_ids=[0]>, []>]>} : tensor<4x4xf32>
    %1 = sdy.reshard %0 <@only, []> : tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}

// -----

// Of what gives nothing Shardy says that it is whole.
// CHECK-LABEL: func.func public @nothing
// CHECK: stablehlo.custom_call @say(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
sdy.mesh @mesh = <["x"=2]>
func.func public @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  stablehlo.custom_call @say(%x) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<4xf32>) -> ()
  return %x : tensor<4xf32>
}

// -----

// What Shardy records for who looks for errors says nothing of layouts, nor does a function that is called inside of a
// manual computation of its own axes; partial results that are no sums are finished as they are.
// CHECK-LABEL: module @records
// CHECK: func.func public @main(%x: tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=max{"y"}>>)
// CHECK-NEXT: dtensor.relayout %x {reason = "the program's sdy.all_reduce"} : {{.*}} -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
// CHECK-NOT: {{#sdy|sdy.func}}
// CHECK: func.func private @inner(%x: tensor<2xf32>) -> tensor<2xf32> {
module @records {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"y"}>}) -> (tensor<4xf32> {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>}) {
    %0 = sdy.all_reduce max {"y"} %x out_sharding=<@mesh, [{}]> : tensor<4xf32>
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<2xf32>) {
      %2 = func.call @inner(%y) : (tensor<2xf32>) -> tensor<2xf32>
      sdy.return %2 : tensor<2xf32>
    } {sdy.block_arg_propagation_edges = [#sdy.propagation_edges<[]>]} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @inner(%x: tensor<2xf32>) -> tensor<2xf32> attributes {sdy.func_manual_axes = #sdy<manual_axes{"x"}>} {
    %0 = stablehlo.negate %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
