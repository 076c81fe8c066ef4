// RUN: shardwright-opt %s -p decompose --split-input-file | filecheck %s

// Ops that other ops make up are taken apart.

// A composite is a call of its decomposition; what it says of its sharding stays.

// CHECK-LABEL: func.func public @composite
sdy.mesh @mesh = <["x"=2]>
func.func public @composite(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %0 = call @double(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = stablehlo.composite "my.double" %x {decomposition = @double, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The sums that only one operand needs come first; the result is put in order.

// CHECK-LABEL: func.func public @einsum
func.func public @einsum(%x: tensor<2x4x8xf32>, %y: tensor<8x2x6xf32>) -> tensor<6x2xf32> {
  // CHECK: %0 = stablehlo.reduce(%x init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  // CHECK-NEXT: %1 = stablehlo.dot_general %0, %y, batching_dims = [0] x [1], contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x2x6xf32>) -> tensor<2x6xf32>
  // CHECK-NEXT: %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x6xf32>) -> tensor<6x2xf32>
  %0 = stablehlo.einsum %x, %y, config = "bij,jbk->kb" : (tensor<2x4x8xf32>, tensor<8x2x6xf32>) -> tensor<6x2xf32>
  return %0 : tensor<6x2xf32>
}

// -----

// CHECK-LABEL: func.func public @unary_einsum
func.func public @unary_einsum(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  // CHECK: stablehlo.reduce(%x init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  %0 = stablehlo.unary_einsum %x, config = "ij->j" : (tensor<4x8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func public @dot
func.func public @dot(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<4xf32> {
  // CHECK: stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [HIGH, HIGH] : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  %0 = stablehlo.dot %x, %y, precision = [HIGH, HIGH] : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func public @map
func.func public @map(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK: %cst = stablehlo.constant dense<2.000000e+00> : tensor<4xf32>
  // CHECK-NEXT: %0 = stablehlo.multiply %x, %cst : tensor<4xf32>
  // CHECK-NEXT: %1 = stablehlo.compare LT, %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %1 = stablehlo.multiply %a, %two : tensor<f32>
    %2 = stablehlo.compare LT, %1, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func public @sizes
func.func public @sizes(%x: tensor<4x8xf32>) -> (tensor<i32>, tensor<4x8xf32>) {
  // CHECK-NEXT: %c = stablehlo.constant dense<8> : tensor<i32>
  // CHECK-NEXT: return %c, %x
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<4x8xf32>) -> tensor<i32>
  %1 = stablehlo.tuple %x, %0 : tuple<tensor<4x8xf32>, tensor<i32>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<4x8xf32>, tensor<i32>>) -> tensor<4x8xf32>
  %3 = stablehlo.get_tuple_element %1[1] : (tuple<tensor<4x8xf32>, tensor<i32>>) -> tensor<i32>
  return %3, %2 : tensor<i32>, tensor<4x8xf32>
}

// -----

// Custom calls that stand for ops.

// CHECK-LABEL: func.func public @calls
func.func public @calls(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>) {
  // CHECK-NEXT: %0 = chlo.erf %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %0 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.custom_call @annotate_device_placement(%0) {has_side_effect = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: chlo.top_k(%0, k = 2) : tensor<4x8xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %2:2 = stablehlo.custom_call @mhlo.topk(%1) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %1, %2#0, %2#1 : tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x2xi32>
}

// -----

// A value in another memory is the same value; a barrier says which memory.

// CHECK-LABEL: func.func public @put_aside
func.func public @put_aside(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %0 = stablehlo.optimization_barrier {dtensor.memory = "pinned_host"} %x : tensor<8xf32>
  %0 = stablehlo.custom_call @annotate_device_placement(%x) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A comparator becomes a region, and goes.

// CHECK-NOT: @greater
// CHECK-LABEL: func.func public @largest
func.func @greater(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}
func.func public @largest(%x: tensor<8xf32>, %i: tensor<8xi32>, %low: tensor<f32>, %none: tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>) {
  // CHECK-NEXT: %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  // CHECK-NEXT: ^bb0(%1: tensor<f32>, %2: tensor<f32>, %3: tensor<i32>, %4: tensor<i32>):
  // CHECK-NEXT: %5 = stablehlo.compare GT, %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // CHECK-NEXT: stablehlo.return %5 : tensor<i1>
  // CHECK-NEXT: }) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  // CHECK-NEXT: stablehlo.slice %0#0 [0:3] : (tensor<8xf32>) -> tensor<3xf32>
  // CHECK-NEXT: stablehlo.slice %0#1 [0:3] : (tensor<8xi32>) -> tensor<3xi32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %low, %none) {called_computations = [@greater], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64}} : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xi32>
}

// -----

// The first half of XLA's way on TPUs, which has its options in JSON, asks for more than are wanted: the first ones.

// CHECK-LABEL: func.func public @bins
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func public @bins(%x: tensor<2x8xf32>, %i: tensor<2x8xi32>, %low: tensor<f32>, %none: tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  // CHECK: "stablehlo.sort"(%x, %i) <{dimension = 1 : i64, is_stable = true}>
  // CHECK: stablehlo.slice %0#0 [0:2, 0:3] : (tensor<2x8xf32>) -> tensor<2x3xf32>
  %0:2 = stablehlo.custom_call @PartialReduce(%x, %i, %low, %none) {backend_config = "{\22log2_reduction\22: 5, \22reduction_dim\22: 1, \22top_k\22: 2}", called_computations = [@greater]} : (tensor<2x8xf32>, tensor<2x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}

// -----

// A sparse matrix by its rows: starts are counted up to each element, which is added to its row.

// CHECK-LABEL: func.func public @sparse_rows
func.func public @sparse_rows(%elements: tensor<5xf32>, %starts: tensor<4xi32>, %columns: tensor<5xi32>, %x: tensor<6x2xf32>) -> tensor<3x2xf32> {
  // CHECK: %[[BEGUN:.*]] = "stablehlo.scatter"(%{{.*}}, %starts, %{{.*}})
  // CHECK: %[[COUNTED:.*]] = "stablehlo.reduce_window"(%[[BEGUN]], %{{.*}})
  // CHECK: %[[ROW:.*]] = stablehlo.subtract %[[COUNTED]], %{{.*}} : tensor<5xi32>
  // CHECK: %[[TAKEN:.*]] = "stablehlo.gather"(%x, %columns)
  // CHECK: %[[SPREAD:.*]] = stablehlo.broadcast_in_dim %elements, dims = [0]
  // CHECK: %[[EACH:.*]] = stablehlo.multiply %[[SPREAD]], %[[TAKEN]] : tensor<5x2xf32>
  // CHECK: "stablehlo.scatter"(%{{.*}}, %[[ROW]], %[[EACH]])
  %0 = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%elements, %starts, %columns, %x) : (tensor<5xf32>, tensor<4xi32>, tensor<5xi32>, tensor<6x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// What says where a value is to be goes on as it is: the import reads it.

// CHECK-LABEL: func.func public @partitioning
func.func public @partitioning(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: stablehlo.custom_call @Sharding(%x)
  %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "", mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Scale and offset, each along the features.

// CHECK-LABEL: func.func public @normalised
func.func public @normalised(%x: tensor<8x3xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>, %mean: tensor<3xf32>, %variance: tensor<3xf32>) -> tensor<8x3xf32> {
  // CHECK-DAG: %[[S:.*]] = stablehlo.broadcast_in_dim %scale, dims = [1]
  // CHECK-DAG: %[[O:.*]] = stablehlo.broadcast_in_dim %offset, dims = [1]
  // CHECK-DAG: %[[M:.*]] = stablehlo.multiply %{{.*}}, %[[S]]
  // CHECK: stablehlo.add %[[M]], %[[O]]
  %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %variance) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
