// RUN: shardwright-opt %s -p optimize-collectives --split-input-file | filecheck %s
// RUN: shardwright-opt %s -p 'optimize-collectives{message_bytes=64}' --split-input-file | filecheck %s --check-prefix=SMALL

// Two that do not need each other travel as one message. A message of 64 bytes is full with one.
// CHECK-LABEL: module @independent
!x = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
!r = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
module @independent attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: !x, %b: !x) -> (!r) {
    // CHECK: %first:2 = dtensor.all_reduce sum @mesh {"x"} %a, %b {reason = "one; two"}
    // CHECK-NEXT: stablehlo.multiply %first#0, %first#1
    // SMALL-LABEL: module @independent
    // SMALL: dtensor.all_reduce sum @mesh {"x"} %b {reason = "two"} :
    // SMALL-NEXT: dtensor.all_reduce sum @mesh {"x"} %a {reason = "one"} :
    %first = dtensor.all_reduce sum @mesh {"x"} %a {reason = "one"} : (!x) -> !r
    %second = dtensor.all_reduce sum @mesh {"x"} %b {reason = "two"} : (!x) -> !r
    %1 = stablehlo.multiply %first, %second : !r
    return %1 : !r
  }
}

// -----

// Nobody waits for them but the end.
// CHECK-LABEL: module @returned
!x = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
!r = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
module @returned attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: !x, %b: !x) -> (!r, !r) {
    // CHECK: %first:2 = dtensor.all_reduce sum @mesh {"x"} %a, %b
    // CHECK-NEXT: return %first#0, %first#1
    %first = dtensor.all_reduce sum @mesh {"x"} %a : (!x) -> !r
    %second = dtensor.all_reduce sum @mesh {"x"} %b : (!x) -> !r
    return %first, %second : !r, !r
  }
}

// -----

// What is computed from a result cannot travel with it.
// CHECK-LABEL: module @dependent
// SMALL-LABEL: module @dependent
!x = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
!r = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
module @dependent attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: !x, %b: !x) -> (!r) {
    // CHECK-COUNT-2: dtensor.all_reduce
    %0 = dtensor.all_reduce sum @mesh {"x"} %a : (!x) -> !r
    %1 = stablehlo.exponential %0 : !r
    %2 = stablehlo.multiply %b, %1 : (!x, !r) -> !x
    %3 = dtensor.all_reduce sum @mesh {"x"} %2 : (!x) -> !r
    return %3 : !r
  }
}

// -----

// Other axes are other groups of devices, other kinds other sums.
// CHECK-LABEL: module @other_axes
!x = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
!y = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"y"}>>
!m = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=max{"x"}>>
!r = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
module @other_axes attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: !x, %b: !y, %c: !m) -> (!r, !r, !r) {
    // CHECK: dtensor.all_reduce sum @mesh {"x"} %a :
    // CHECK: dtensor.all_reduce sum @mesh {"y"} %b :
    // CHECK: dtensor.all_reduce max @mesh {"x"} %c :
    %0 = dtensor.all_reduce sum @mesh {"x"} %a : (!x) -> !r
    %1 = dtensor.all_reduce sum @mesh {"y"} %b : (!y) -> !r
    %2 = dtensor.all_reduce max @mesh {"x"} %c : (!m) -> !r
    return %0, %1, %2 : !r, !r, !r
  }
}

// -----

// Ops that only pass a result on wait with it, as in gradient descent: all gradients are one message.
// CHECK-LABEL: module @cheap_users
!x = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
!r = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
module @cheap_users attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: !x, %b: !x, %p: !r, %q: !r) -> (!r, !r) {
    // CHECK: stablehlo.negate %q
    // CHECK-NEXT: [[sums:%[^: ]+]]:2 = dtensor.all_reduce sum @mesh {"x"} %a, %b
    // CHECK-NEXT: stablehlo.subtract %p, [[sums]]#0
    // CHECK-NEXT: stablehlo.subtract %{{.*}}, [[sums]]#1
    %0 = dtensor.all_reduce sum @mesh {"x"} %a : (!x) -> !r
    %1 = stablehlo.subtract %p, %0 : !r
    %other = stablehlo.negate %q : !r
    %2 = dtensor.all_reduce sum @mesh {"x"} %b : (!x) -> !r
    %3 = stablehlo.subtract %other, %2 : !r
    return %1, %3 : !r, !r
  }
}

// -----

// A contraction needs its operand at once: what comes later has a message of its own.
// CHECK-LABEL: module @dear_users
!x = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
!r = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
module @dear_users attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: !x, %b: !x, %p: !r) -> (!r, !r) {
    // CHECK: dtensor.all_reduce sum @mesh {"x"} %a :
    // CHECK-NEXT: stablehlo.dot_general
    // CHECK-NEXT: dtensor.all_reduce sum @mesh {"x"} %b :
    %0 = dtensor.all_reduce sum @mesh {"x"} %a : (!x) -> !r
    %1 = stablehlo.dot_general %0, %p, contracting_dims = [1] x [0] : (!r, !r) -> !r
    %2 = dtensor.all_reduce sum @mesh {"x"} %b : (!x) -> !r
    %3 = stablehlo.negate %2 : !r
    return %1, %3 : !r, !r
  }
}

// -----

// An all-reduce of something that waits settles it: the two stay apart.
// CHECK-LABEL: module @through_cheap_users
!x = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
!r = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
module @through_cheap_users attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: !x, %b: !x) -> (!r, !r) {
    // CHECK: [[first:%.*]] = dtensor.all_reduce sum @mesh {"x"} %a :
    // CHECK-NEXT: stablehlo.multiply [[first]], %b
    // CHECK-NEXT: dtensor.all_reduce
    %0 = dtensor.all_reduce sum @mesh {"x"} %a : (!x) -> !r
    %1 = stablehlo.multiply %0, %b : (!r, !x) -> !x
    %2 = dtensor.all_reduce sum @mesh {"x"} %1 : (!x) -> !r
    return %0, %2 : !r, !r
  }
}

// -----

// What a loop's body takes from outside is finished before the loop: it cannot wait for a message after it.
// CHECK-LABEL: module @inside_of_a_loop
!x = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
!r = tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
!p = tensor<i1, #dtensor.layout<@mesh, []>>
module @inside_of_a_loop attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%more: !p, %a: !x, %b: !x, %h: !r) -> (!r) {
    // CHECK: [[first:%.*]] = dtensor.all_reduce sum @mesh {"x"} %a :
    // CHECK-NEXT: stablehlo.while
    // CHECK: stablehlo.add %{{.*}}, [[first]]
    // CHECK: dtensor.all_reduce sum @mesh {"x"} %b :
    %0 = dtensor.all_reduce sum @mesh {"x"} %a : (!x) -> !r
    %1 = stablehlo.while(%g = %h) : !r
    cond {
      stablehlo.return %more : !p
    } do {
      %2 = stablehlo.add %g, %0 : !r
      stablehlo.return %2 : !r
    }
    %3 = dtensor.all_reduce sum @mesh {"x"} %b : (!x) -> !r
    %4 = stablehlo.multiply %1, %3 : !r
    return %4 : !r
  }
}
