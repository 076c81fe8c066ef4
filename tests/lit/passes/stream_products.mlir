// RUN: shardwright-opt %s -p stream-products --split-input-file | filecheck %s

// The columns of the first factor that meet the rows which a device holds, then those that meet the rows which it is sent.
// CHECK-LABEL: module @summed
module @summed attributes {dtensor.memory_limit = 1 : i64, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<2x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %b: tensor<16x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> {
    // CHECK: %0 = stablehlo.reshape %b
    // CHECK: %3 = stablehlo.iota
    // CHECK-NEXT: %4 = "stablehlo.gather"(%2, %3)
    // CHECK-NEXT: %5 = stablehlo.dot_general %4, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    // CHECK-NEXT: %6:2 = stablehlo.optimization_barrier %0, %5
    // CHECK-NEXT: %7 = dtensor.window @mesh [{"x"}, {}, {}] [1, 0, 0] by [-1, 1, 1] %6#0 {reason = "asked; it comes in 2 parts, one by one, as a device would hold too much otherwise"}
    // CHECK: %8 = stablehlo.xor %3
    // CHECK-NEXT: %9 = "stablehlo.gather"(%2, %8)
    // CHECK-NEXT: %10 = stablehlo.dot_general %9, %7
    // CHECK-NEXT: %11 = stablehlo.add %6#1, %10
    // CHECK-NEXT: %12 = stablehlo.reshape %11
    // CHECK-NEXT: return %12
    %0 = dtensor.relayout %b {reason = "asked"} : tensor<16x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> -> tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] : (tensor<2x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %1 : tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  }
}

// -----

// Columns that a device holds give columns of the result; in the end all are put in order.
// CHECK-LABEL: module @side_by_side
module @side_by_side attributes {dtensor.memory_limit = 1 : i64, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<2x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %b: tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> {
    // CHECK: %2 = stablehlo.dot_general %1, %0, batching_dims = [0] x [1], contracting_dims = [2] x [0]
    // CHECK-NEXT: %3:2 = stablehlo.optimization_barrier %0, %2
    // CHECK-NEXT: %4 = dtensor.window @mesh [{}, {"x"}, {}] [0, 1, 0] by [1, -1, 1] %3#0
    // CHECK-NEXT: %5 = stablehlo.dot_general %1, %4
    // CHECK: stablehlo.concatenate
    // CHECK: %11 = stablehlo.xor
    // CHECK-NEXT: %12 = "stablehlo.gather"(%8, %11)
    // CHECK-NEXT: %13 = stablehlo.reshape %12
    // CHECK-NEXT: return %13
    %0 = dtensor.relayout %b {reason = "asked"} : tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>> -> tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] : (tensor<2x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %1 : tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  }
}

// -----

// An odd number of parts goes round and round: each place is sent the part behind it, or the first one.
// CHECK-LABEL: module @round_and_round
module @round_and_round attributes {dtensor.memory_limit = 1 : i64, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=3]>
  func.func public @main(%a: tensor<3x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %b: tensor<16x24xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> tensor<3x24xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> {
    // CHECK: dtensor.window @mesh [{}, {"x"}, {}] [0, 1, 0]
    // CHECK-NEXT: dtensor.window @mesh [{}, {"x"}, {}] [0, -2, 0]
    // CHECK: stablehlo.select
    // CHECK: dtensor.window @mesh [{}, {"x"}, {}] [0, 2, 0]
    // CHECK-NEXT: dtensor.window @mesh [{}, {"x"}, {}] [0, -1, 0]
    // CHECK: stablehlo.select
    %0 = dtensor.relayout %b : tensor<16x24xf32, #dtensor.layout<@mesh, [{}, {"x"}]>> -> tensor<16x24xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] : (tensor<3x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<16x24xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<3x24xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %1 : tensor<3x24xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  }
}

// -----

// There is room for all of it.
// CHECK-LABEL: module @room
module @room attributes {dtensor.memory_limit = 4096 : i64, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<2x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %b: tensor<16x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> {
    // CHECK: %0 = dtensor.relayout %b
    // CHECK-NEXT: %1 = stablehlo.dot_general %a, %0
    // CHECK-NEXT: return %1
    %0 = dtensor.relayout %b {reason = "asked"} : tensor<16x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> -> tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] : (tensor<2x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %1 : tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  }
}

// -----

// Nobody asks for less memory.
// CHECK-LABEL: module @no_limit
module @no_limit attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<2x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %b: tensor<16x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> {
    // CHECK: dtensor.relayout
    // CHECK-NOT: dtensor.window
    %0 = dtensor.relayout %b {reason = "asked"} : tensor<16x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> -> tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] : (tensor<2x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %1 : tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  }
}

// -----

// Who reads all of it besides has it whole anyway.
// CHECK-LABEL: module @read_whole
module @read_whole attributes {dtensor.memory_limit = 1 : i64, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<2x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %b: tensor<16x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> (tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) {
    // CHECK: dtensor.relayout
    // CHECK-NOT: dtensor.window
    %0 = dtensor.relayout %b {reason = "asked"} : tensor<16x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> -> tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] : (tensor<2x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    %2 = stablehlo.negate %0 : tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    return %1, %2 : tensor<2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
  }
}

// -----

// What it is multiplied with is split by other axes: all devices along these need all of it.
// CHECK-LABEL: module @alike
module @alike attributes {dtensor.memory_limit = 1 : i64, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<2x16xf32, #dtensor.layout<@mesh, [{}, {}]>>, %b: tensor<16x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<2x8xf32, #dtensor.layout<@mesh, [{}, {}]>> {
    // CHECK: dtensor.relayout
    // CHECK-NOT: dtensor.window
    %0 = dtensor.relayout %b {reason = "asked"} : tensor<16x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> -> tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] : (tensor<2x16xf32, #dtensor.layout<@mesh, [{}, {}]>>, tensor<16x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<2x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    return %1 : tensor<2x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
  }
}
