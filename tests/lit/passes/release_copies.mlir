// RUN: shardwright-opt %s -p release-copies --split-input-file | filecheck %s

// Nobody reads the gathered rows while the exponential is made, so they need not be there; at the sum, they must.
// CHECK-LABEL: module @gathered
module @gathered attributes {dtensor.memory_limit = 100 : i64, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%w: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>> {
    // CHECK: %0 = dtensor.relayout %w
    // CHECK-NEXT: %1 = stablehlo.negate %0
    // CHECK-NEXT: %2 = stablehlo.tanh %1
    // CHECK-NEXT: %3 = stablehlo.exponential %2
    // CHECK-NEXT: %4 = dtensor.relayout %w {reason = "gathered"}
    // CHECK-NEXT: %5 = stablehlo.multiply %3, %4
    %0 = dtensor.relayout %w {reason = "gathered"} : tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>> -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %1 = stablehlo.negate %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %2 = stablehlo.tanh %1 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %3 = stablehlo.exponential %2 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %4 = stablehlo.multiply %3, %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    return %4 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  }
}

// -----

// There is room for all of it.
// CHECK-LABEL: module @room
module @room attributes {dtensor.memory_limit = 4096 : i64, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%w: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>> {
    // CHECK: dtensor.relayout
    // CHECK-NOT: dtensor.relayout
    %0 = dtensor.relayout %w {reason = "gathered"} : tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>> -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %1 = stablehlo.negate %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %2 = stablehlo.tanh %1 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %3 = stablehlo.exponential %2 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %4 = stablehlo.multiply %3, %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    return %4 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  }
}

// -----

// A sum is not made again, nor what is smaller than that of which it would be made.
// CHECK-LABEL: module @kept
module @kept attributes {dtensor.memory_limit = 1 : i64, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%p: tensor<8xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>, %q: tensor<8xf32, #dtensor.layout<@mesh, [{}]>>) -> (tensor<8xf32, #dtensor.layout<@mesh, [{}]>>, tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) {
    // CHECK: %0 = dtensor.relayout %p
    // CHECK-NEXT: %1 = stablehlo.negate %q
    // CHECK-NEXT: %2 = dtensor.relayout %1
    // CHECK-NOT: dtensor.relayout
    %0 = dtensor.relayout %p {reason = "summed"} : tensor<8xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>> -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %1 = stablehlo.negate %q : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %2 = dtensor.relayout %1 {reason = "sliced"} : tensor<8xf32, #dtensor.layout<@mesh, [{}]>> -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
    %3 = stablehlo.tanh %q : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %4 = stablehlo.exponential %3 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %5 = stablehlo.multiply %4, %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %6 = stablehlo.negate %2 : tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
    return %5, %6 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>, tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
  }
}

// -----

// Of two copies one has to go, and that which sends less when it is made again does: from two devices, not from eight.
// CHECK-LABEL: module @cheaper
module @cheaper attributes {dtensor.memory_limit = 130 : i64, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%v: tensor<8xf32, #dtensor.layout<@mesh, [{"x", "y"}]>>, %w: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>> {
    // CHECK: %0 = dtensor.relayout %v
    // CHECK-NEXT: %1 = dtensor.relayout %w
    // CHECK-NEXT: stablehlo.add %0, %1
    // CHECK-NEXT: stablehlo.tanh
    // CHECK-NEXT: stablehlo.exponential
    // CHECK-NEXT: stablehlo.multiply %{{.*}}, %0
    // CHECK-NEXT: %[[AGAIN:.*]] = dtensor.relayout %w
    // CHECK-NEXT: stablehlo.multiply %{{.*}}, %[[AGAIN]]
    %0 = dtensor.relayout %v {reason = "gathered"} : tensor<8xf32, #dtensor.layout<@mesh, [{"x", "y"}]>> -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %1 = dtensor.relayout %w {reason = "gathered"} : tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>> -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %2 = stablehlo.add %0, %1 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %3 = stablehlo.tanh %2 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %4 = stablehlo.exponential %3 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %5 = stablehlo.multiply %4, %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %6 = stablehlo.multiply %5, %1 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    return %6 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  }
}

// -----

// One of two copies is enough: the one of which a device lacks half, not the one of which it lacks three quarters.
// CHECK-LABEL: module @cheaper
module @cheaper attributes {dtensor.memory_limit = 150 : i64, dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"y"}]>>, %b: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>> {
    // CHECK: dtensor.relayout %a
    // CHECK-NEXT: dtensor.relayout %b
    // CHECK-NOT: dtensor.relayout %a
    // CHECK: dtensor.relayout %b
    // CHECK-NOT: dtensor.relayout
    %0 = dtensor.relayout %a {reason = "gathered"} : tensor<8xf32, #dtensor.layout<@mesh, [{"y"}]>> -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %1 = dtensor.relayout %b {reason = "gathered"} : tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>> -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %2 = stablehlo.add %0, %1 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %3 = stablehlo.tanh %2 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %4 = stablehlo.exponential %3 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %5 = stablehlo.multiply %4, %0 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    %6 = stablehlo.multiply %5, %1 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
    return %6 : tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  }
}
