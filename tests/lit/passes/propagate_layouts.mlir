// RUN: shardwright-opt %s -p 'propagate-layouts{refine=false}' --split-input-file | filecheck %s

// Forwards along an element-wise op; the mesh and the stage are recorded.
// CHECK-LABEL: module @forwards attributes {dtensor.stage = "propagated"}
module @forwards {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK: @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<4x8xf32> {
    // CHECK-NEXT: %0 = stablehlo.negate %a {dtensor.why = "from argument 0, its operand"} : tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
    // CHECK-NEXT: return %0
    %0 = stablehlo.negate %a : (tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}

// -----

// Backwards from a constraint, through an op, to an argument without a layout.
// CHECK-LABEL: module @backwards
module @backwards {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK: @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"y"}]>>)
  func.func public @main(%a: tensor<4x8xf32>) -> tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"y"}]>> {
    // CHECK-NEXT: %0 = stablehlo.negate %a {dtensor.why = "given by the user at {{.*}}propagate_layouts.mlir:26:10, for what is made of it"} : tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"y"}]>>
    %0 = stablehlo.negate %a : tensor<4x8xf32>
    %1 = dtensor.constraint %0 : tensor<4x8xf32> -> tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"y"}]>>
    return %1 : tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"y"}]>>
  }
}

// -----

// A relayout says nothing about its operand; a constraint on the other result does.
// CHECK-LABEL: module @relayout_is_one_way
module @relayout_is_one_way {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK: @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{}]>>, %b: tensor<4xf32, #dtensor.layout<@mesh, [{"y"}]>>)
  func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32, #dtensor.layout<@mesh, [{"y"}]>>) {
    // CHECK: %1 = stablehlo.negate %0 {dtensor.why = "from dtensor.relayout at {{.*}}, its operand"} : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
    %0 = dtensor.relayout %a : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
    %1 = stablehlo.negate %0 : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<4xf32>
    %2 = dtensor.constraint %b : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{"y"}]>>
    return %1, %2 : tensor<4xf32>, tensor<4xf32, #dtensor.layout<@mesh, [{"y"}]>>
  }
}

// -----

// Closed dims never change, not even where an axis is free; dims with `?` may be split further, after what they have.
// CHECK-LABEL: module @closed_and_open_dims
module @closed_and_open_dims {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK: @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>,
  // CHECK-SAME: %closed: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>,
  // CHECK-SAME: %half: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>,
  // CHECK-SAME: %more: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>)
  func.func public @main(
      %a: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>,
      %closed: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>,
      %half: tensor<4x8xf32, #dtensor.layout<@mesh, [{?}, {}]>>,
      %more: tensor<4x8xf32, #dtensor.layout<@mesh, [{?}, {"y", ?}]>>) -> tensor<4x8xf32> {
    %0 = stablehlo.add %a, %closed : (tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>, tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<4x8xf32>
    %1 = stablehlo.add %0, %half : (tensor<4x8xf32>, tensor<4x8xf32, #dtensor.layout<@mesh, [{?}, {}]>>) -> tensor<4x8xf32>
    // CHECK: %2 = stablehlo.add %1, %more {{.*}}#dtensor.layout<@mesh, [{"x"}, {"y"}]>
    %2 = stablehlo.add %1, %more : (tensor<4x8xf32>, tensor<4x8xf32, #dtensor.layout<@mesh, [{?}, {"y", ?}]>>) -> tensor<4x8xf32>
    return %2 : tensor<4x8xf32>
  }
}

// -----

// A value that the user gave may lack an axis that another one has, but never a different one: %b keeps y, and what is
// computed from it gets what more can be said.
// CHECK-LABEL: module @longer_lists_win
module @longer_lists_win {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK: %b: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
  func.func public @main(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x", "y"}]>>, %b: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32> {
    // CHECK: = stablehlo.add %a, %b {{.*}} -> tensor<8xf32, #dtensor.layout<@mesh, [{"x", "y"}]>>
    %0 = stablehlo.add %a, %b : (tensor<8xf32, #dtensor.layout<@mesh, [{"x", "y"}]>>, tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// Ops that only pass dims on come first: %0 takes y from its user, not x from the contraction that makes it.
// CHECK-LABEL: module @pass_through_first
module @pass_through_first {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %b: tensor<8x4xf32, #dtensor.layout<@mesh, [{}, {}]>>, %c: tensor<4x4xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>) -> tensor<4x4xf32> {
    // CHECK: %0 = stablehlo.dot_general {{.*}}dtensor.why = "from stablehlo.add at {{.*}}, which uses it"{{.*}} -> tensor<4x4xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<4x4xf32>
    %1 = stablehlo.add %0, %c : (tensor<4x4xf32>, tensor<4x4xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>) -> tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}

// -----

// Two operands split the same factor by different axes: the larger tensor (%a, 2048 bytes against 512) decides.
// CHECK-LABEL: module @conflict_in_a_factor
module @conflict_in_a_factor {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x8x16xf32, #dtensor.layout<@mesh, [{"y"}, {}, {}]>>, %b: tensor<4x16x2xf32, #dtensor.layout<@mesh, [{"x"}, {}, {}]>>) -> tensor<4x8x2xf32> {
    // CHECK: = stablehlo.dot_general {{.*}} -> tensor<4x8x2xf32, #dtensor.layout<@mesh, [{"y"}, {}, {}]>>
    %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x8x16xf32, #dtensor.layout<@mesh, [{"y"}, {}, {}]>>, tensor<4x16x2xf32, #dtensor.layout<@mesh, [{"x"}, {}, {}]>>) -> tensor<4x8x2xf32>
    return %0 : tensor<4x8x2xf32>
  }
}

// -----

// Two factors want the same axis in one result: that of the larger tensor (%b) gets it.
// CHECK-LABEL: module @conflict_in_a_tensor
module @conflict_in_a_tensor {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %b: tensor<8x32xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> tensor<4x32xf32> {
    // CHECK: = stablehlo.dot_general {{.*}}dtensor.why = "from argument 1, its operand; chosen over rows over x, from argument 0, of 128 bytes against 1,024"{{.*}} -> tensor<4x32xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<8x32xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> tensor<4x32xf32>
    return %0 : tensor<4x32xf32>
  }
}

// -----

// A contracted dim says nothing about the result, but where the other operand had better be split.
// CHECK-LABEL: module @contraction
module @contraction {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK: %w: tensor<8x6xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
    // CHECK: = stablehlo.dot_general {{.*}} -> tensor<4x6xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>, tensor<8x6xf32>) -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
}

// -----

// Transposes permute, broadcasts add dims, reductions drop them.
// CHECK-LABEL: module @dims_come_and_go
module @dims_come_and_go {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> (tensor<2x8x4xf32>, tensor<8xf32>) {
    // CHECK: = stablehlo.transpose {{.*}} -> tensor<8x4xf32, #dtensor.layout<@mesh, [{"y"}, {"x"}]>>
    %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<8x4xf32>
    // CHECK-NEXT: = stablehlo.broadcast_in_dim {{.*}} -> tensor<2x8x4xf32, #dtensor.layout<@mesh, [{}, {"y"}, {"x"}]>>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] : (tensor<8x4xf32>) -> tensor<2x8x4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    // CHECK: = stablehlo.reduce{{.*}} -> tensor<8xf32, #dtensor.layout<@mesh, [{"y"}]>>
    %2 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    return %1, %2 : tensor<2x8x4xf32>, tensor<8xf32>
  }
}

// -----

// A dim of size one has nothing to split: neither way.
// CHECK-LABEL: module @size_one
module @size_one {
  dtensor.mesh @mesh = <["x"=2]>
  // CHECK: %a: tensor<1x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
  func.func public @main(%a: tensor<1x8xf32>) -> tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> {
    %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>
    %1 = dtensor.constraint %0 : tensor<4x8xf32> -> tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %1 : tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  }
}

// -----

// A reshape splits a dim by less than an axis: the major part goes to the first dim, the rest to the second.
// CHECK-LABEL: module @parts_of_an_axis
module @parts_of_an_axis {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> (tensor<2x4xf32>, tensor<8xf32>) {
    // CHECK: = stablehlo.reshape {{.*}} -> tensor<2x4xf32, #dtensor.layout<@mesh, [{"x":(1)2}, {"x":(2)2}]>>
    %0 = stablehlo.reshape %a : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<2x4xf32>
    // Merged again it is the whole axis.
    // CHECK-NEXT: = stablehlo.reshape {{.*}} -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
    %1 = stablehlo.reshape %0 : (tensor<2x4xf32>) -> tensor<8xf32>
    return %0, %1 : tensor<2x4xf32>, tensor<8xf32>
  }
}

// -----

// Merging keeps the axes of the major dim; those of the minor one only when the major one is split to the end.
// CHECK-LABEL: module @merging_dims
module @merging_dims {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<2x4xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>, %b: tensor<2x4xf32, #dtensor.layout<@mesh, [{}, {"y"}]>>, %c: tensor<4x4xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> (tensor<8xf32>, tensor<8xf32>, tensor<16xf32>) {
    // CHECK: = stablehlo.reshape %a {{.*}} -> tensor<8xf32, #dtensor.layout<@mesh, [{"x", "y"}]>>
    %0 = stablehlo.reshape %a : (tensor<2x4xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<8xf32>
    // CHECK-NEXT: = stablehlo.reshape %b {{.*}} -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %1 = stablehlo.reshape %b : (tensor<2x4xf32, #dtensor.layout<@mesh, [{}, {"y"}]>>) -> tensor<8xf32>
    // CHECK-NEXT: = stablehlo.reshape %c {{.*}} -> tensor<16xf32, #dtensor.layout<@mesh, [{"x"}]>>
    %2 = stablehlo.reshape %c : (tensor<4x4xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<16xf32>
    return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<16xf32>
  }
}

// -----

// What does not split evenly is not split: 6 rows over an axis of size 4, nor the 4 columns, which are minor to them.
// CHECK-LABEL: module @uneven
module @uneven {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<24xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<6x4xf32> {
    // CHECK: = stablehlo.reshape {{.*}} -> tensor<6x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %0 = stablehlo.reshape %a : (tensor<24xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<6x4xf32>
    return %0 : tensor<6x4xf32>
  }
}

// -----

// A dim stays split when its elements move by a window (the devices exchange them).
// CHECK-LABEL: module @moved_dims
module @moved_dims {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<4x16xf32> {
    // CHECK: = stablehlo.reverse {{.*}} : tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
    %0 = stablehlo.reverse %a, dims = [1] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<4x8xf32>
    // CHECK-NEXT: = stablehlo.concatenate {{.*}} -> tensor<4x16xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
    %1 = stablehlo.concatenate %0, %0, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    return %1 : tensor<4x16xf32>
  }
}

// -----

// Constants and iotas are made wherever they are needed: no layout comes from them.
// CHECK-LABEL: module @free_values
module @free_values {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.iota dim = 0 : tensor<4xf32>
    // CHECK: = stablehlo.add %a, %0 : tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
    %1 = stablehlo.add %a, %0 : tensor<4xf32>
    // CHECK-NEXT: = stablehlo.add %b, %0 {{.*}} -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
    %2 = stablehlo.add %b, %0 : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<4xf32>) -> tensor<4xf32>
    return %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Operands of a barrier go through in pairs.
// CHECK-LABEL: module @pairs
module @pairs {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, %b: tensor<4x2xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> (tensor<4xf32>, tensor<4x2xf32>) {
    // CHECK: = stablehlo.optimization_barrier {{.*}} %a, %b : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<4x2xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
    %0, %1 = "stablehlo.optimization_barrier"(%a, %b) : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<4x2xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> (tensor<4xf32>, tensor<4x2xf32>)
    return %0, %1 : tensor<4xf32>, tensor<4x2xf32>
  }
}

// -----

// A program without layouts stays whole; one without a mesh gets one for a single device.
// CHECK-LABEL: module @one_device attributes {dtensor.stage = "propagated"}
// CHECK-NEXT: dtensor.mesh @mesh = <[]>
module @one_device {
  // CHECK: @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{}]>>) -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT: %0 = stablehlo.negate %a : tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
    %0 = stablehlo.negate %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// An open dim that is split by part of an axis goes on with the rest of it.
// CHECK-LABEL: module @rest_of_an_axis
module @rest_of_an_axis {
  dtensor.mesh @mesh = <["a"=4, "b"=2]>
  func.func public @main(%a: tensor<32x8xf32, #dtensor.layout<@mesh, [{"a", ?}, {}]>>) -> tensor<32x8xf32, #dtensor.layout<@mesh, [{"a":(1)2, ?}, {}]>> {
    // CHECK: = stablehlo.negate %a {{.*}} : tensor<32x8xf32, #dtensor.layout<@mesh, [{"a"}, {}]>>
    %0 = stablehlo.negate %a : (tensor<32x8xf32, #dtensor.layout<@mesh, [{"a", ?}, {}]>>) -> tensor<32x8xf32, #dtensor.layout<@mesh, [{"a":(1)2, ?}, {}]>>
    return %0 : tensor<32x8xf32, #dtensor.layout<@mesh, [{"a":(1)2, ?}, {}]>>
  }
}

// -----

// Of axes that one dim would take, those before one that another dim has.
// CHECK-LABEL: module @up_to_what_is_taken
module @up_to_what_is_taken {
  dtensor.mesh @mesh = <["a"=2, "b"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"a", "b"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{?}, {"b", ?}]>> {
    // CHECK: = stablehlo.negate %a {{.*}} -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"a"}, {"b"}]>>
    %0 = stablehlo.negate %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"a", "b"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{?}, {"b", ?}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{?}, {"b", ?}]>>
  }
}
