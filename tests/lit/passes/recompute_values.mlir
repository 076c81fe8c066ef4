// RUN: shardwright-opt %s -p recompute-values --split-input-file | filecheck %s

// What is read long after it was made is made again there, and so is what it is made of, if that is gone by then.
// CHECK-LABEL: module @chain
module @chain attributes {dtensor.memory_limit = 96 : i64, dtensor.recompute, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<8xf32, #dtensor.layout<@mesh, [{}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>> {
    // CHECK: %0 = stablehlo.negate %x
    // CHECK-NEXT: %1 = stablehlo.exponential %0
    // CHECK-NEXT: %2 = stablehlo.tanh %1
    // CHECK-NEXT: %3 = stablehlo.sine %2
    // CHECK-NEXT: %4 = stablehlo.negate %x {dtensor.recompute}
    // CHECK-NEXT: %5 = stablehlo.exponential %4 {dtensor.recompute}
    // CHECK-NEXT: %6 = stablehlo.add %3, %5
    %0 = stablehlo.negate %x : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %1 = stablehlo.exponential %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %2 = stablehlo.tanh %1 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %3 = stablehlo.sine %2 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %4 = stablehlo.add %3, %1 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    return %4 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  }
}

// -----

// A value that is seen in another shape in between is made in both again.
// CHECK-LABEL: module @seen
module @seen attributes {dtensor.memory_limit = 96 : i64, dtensor.recompute, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<8xf32, #dtensor.layout<@mesh, [{}]>>) -> tensor<2x4xf32, #dtensor.layout<@mesh, [{}, {}]>> {
    // CHECK: %0 = stablehlo.negate %x
    // CHECK-NEXT: %1 = stablehlo.reshape %0
    // CHECK-NEXT: %2 = stablehlo.tanh %1
    // CHECK-NEXT: %3 = stablehlo.sine %2
    // CHECK-NEXT: %4 = stablehlo.negate %x {dtensor.recompute}
    // CHECK-NEXT: %5 = stablehlo.reshape %4 {dtensor.recompute}
    // CHECK-NEXT: %6 = stablehlo.add %3, %5
    %0 = stablehlo.negate %x : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %1 = stablehlo.reshape %0 : (tensor<8xf32, #dtensor.layout<@mesh, [{}]>>) -> tensor<2x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %2 = stablehlo.tanh %1 : tensor<2x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %3 = stablehlo.sine %2 : tensor<2x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %4 = stablehlo.add %3, %1 : tensor<2x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
    return %4 : tensor<2x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
  }
}

// -----

// There is room for all of it.
// CHECK-LABEL: module @room
module @room attributes {dtensor.memory_limit = 4096 : i64, dtensor.recompute, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<8xf32, #dtensor.layout<@mesh, [{}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>> {
    // CHECK-NOT: {dtensor.recompute}
    %0 = stablehlo.negate %x : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %1 = stablehlo.exponential %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %2 = stablehlo.tanh %1 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %3 = stablehlo.add %2, %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    return %3 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  }
}

// -----

// Nobody asked for it.
// CHECK-LABEL: module @unasked
module @unasked attributes {dtensor.memory_limit = 1 : i64, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<8xf32, #dtensor.layout<@mesh, [{}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>> {
    // CHECK-NOT: {dtensor.recompute}
    %0 = stablehlo.negate %x : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %1 = stablehlo.exponential %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %2 = stablehlo.tanh %1 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %3 = stablehlo.add %2, %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    return %3 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  }
}

// -----

// What was sent is not sent again, nor is a part of a sum computed again: it stays, and so does what is as large.
// CHECK-LABEL: module @sent
module @sent attributes {dtensor.memory_limit = 1 : i64, dtensor.recompute, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>> {
    // CHECK-COUNT-1: dtensor.relayout
    // CHECK-NOT: {dtensor.recompute}
    %0 = dtensor.relayout %x {reason = "gathered"} : tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>> -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %1 = stablehlo.negate %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %2 = stablehlo.tanh %1 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %3 = stablehlo.sine %2 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %4 = stablehlo.add %3, %1 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    return %4 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  }
}
