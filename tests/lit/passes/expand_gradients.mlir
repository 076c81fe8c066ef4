// RUN: shardwright-opt %s -p expand-gradients,cse,dce | filecheck %s

// The gradient of a product goes to both operands; what a value collects from several users is summed.
// CHECK-LABEL: @shared
// CHECK: %0 = stablehlo.multiply %s, %x
// CHECK-NEXT: %1 = stablehlo.add %0, %0
// CHECK-NEXT: return %1
func.func @shared(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<4xf32>
  %1 = "dtensor.gradient"(%0, %s, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// What counts as a constant gets none; the op that says so is gone afterwards.
// CHECK-LABEL: @stopped
// CHECK-NEXT: stablehlo.constant dense<0.000000e+00>
// CHECK-NEXT: return
func.func @stopped(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dtensor.stop_gradient"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<4xf32>
  %2 = "dtensor.gradient"(%1, %s, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// The user's own rule.
// CHECK-LABEL: @own_rule
// CHECK: %0 = stablehlo.negate %s
// CHECK-NEXT: return %0
func.func @own_rule(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = "dtensor.with_gradient"(%0, %x) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%g: tensor<4xf32>):
    %2 = stablehlo.negate %g : tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "dtensor.gradient"(%1, %s, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// A function has a rule of its own: its result is used, and how that was computed is not followed.
// CHECK-LABEL: @by_name
// CHECK: stablehlo.custom_call @anything(%a)
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.dot_general
// CHECK-NEXT: stablehlo.negate
func.func @by_name(%a: tensor<4x4xf32>, %s: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.custom_call @anything(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "dtensor.result_of"(%0, %a) <{function = "inv", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "dtensor.gradient"(%1, %s, %a) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// What is not to be kept is computed again, behind a barrier.
// CHECK-LABEL: @again
// CHECK: stablehlo.optimization_barrier
// CHECK: stablehlo.tanh
// CHECK: return
func.func @again(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dtensor.checkpoint"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %1 = stablehlo.tanh %a : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "dtensor.gradient"(%0, %s, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Branches: the same choice, of gradients.
// CHECK-LABEL: @branch
// CHECK: "stablehlo.if"(%p)
// CHECK: stablehlo.multiply %s, %x
// CHECK: return
func.func @branch(%p: tensor<i1>, %x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.multiply %x, %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %2 = "dtensor.gradient"(%0, %s, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A relayout goes back to where the operand was; where that is not said, the gradient stays where it is.
// CHECK-LABEL: @relaid
// CHECK-NEXT: %0 = dtensor.relayout %s {reason = "gradient of a relayout"} : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
// CHECK-NEXT: return %0
dtensor.mesh @mesh = <["x"=2]>
func.func @relaid(%x: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dtensor.relayout %x : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>> -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
  %1 = "dtensor.gradient"(%0, %s, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32, #dtensor.layout<@mesh, [{}]>>, tensor<4xf32>, tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @relaid_from_anywhere
// CHECK-NEXT: return %s
func.func @relaid_from_anywhere(%x: tensor<4xf32>, %s: tensor<4xf32>, %p: tensor<4xf32, #dtensor.layout<@mesh, [{?}]>>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = dtensor.relayout %x : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
  %1 = dtensor.relayout %p : tensor<4xf32, #dtensor.layout<@mesh, [{?}]>> -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
  %2 = "dtensor.gradient"(%0, %s, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32, #dtensor.layout<@mesh, [{}]>>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "dtensor.gradient"(%1, %s, %p) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32, #dtensor.layout<@mesh, [{}]>>, tensor<4xf32>, tensor<4xf32, #dtensor.layout<@mesh, [{?}]>>) -> tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// From the last op to the first, each by what the later ones gave.
// CHECK-LABEL: @chain
// CHECK: %0 = stablehlo.negate %x
// CHECK-NEXT: %1 = stablehlo.exponential %0
// CHECK-NEXT: %2 = stablehlo.multiply %s, %1
// CHECK-NEXT: %3 = stablehlo.negate %2
// CHECK-NEXT: return %3
func.func @chain(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  %2 = "dtensor.gradient"(%1, %s, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// What only gradients care about is gone, whether there is one or not.
// CHECK-LABEL: @forgotten
// CHECK-NEXT: %0 = stablehlo.tanh %x
// CHECK-NEXT: return %x, %x, %0
func.func @forgotten(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = "dtensor.stop_gradient"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "dtensor.with_gradient"(%x, %x) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%g: tensor<4xf32>):
    stablehlo.return %g : tensor<4xf32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "dtensor.checkpoint"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %3 = stablehlo.tanh %a : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = "dtensor.result_of"(%2, %x) <{function = "unknown", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A value anew: the other operand is what it was made of, and counts as a constant.
// CHECK-LABEL: @anew
// CHECK-NEXT: %0 = stablehlo.multiply %s, %x
// CHECK-NEXT: return %0
func.func @anew(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "dtensor.primal"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.multiply %0, %x : tensor<4xf32>
  %2 = "dtensor.gradient"(%1, %s, %0) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// The last source counts as a constant, although it is computed of the other one.
// CHECK-LABEL: @before
// CHECK-NEXT: %0 = stablehlo.exponential %x
// CHECK-NEXT: %1 = stablehlo.multiply %s, %0
// CHECK-NEXT: return %1
func.func @before(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = stablehlo.multiply %0, %x : tensor<4xf32>
  %2:2 = "dtensor.gradient"(%1, %s, %x, %0) <{operandSegmentSizes = array<i32: 1, 1, 2>, constants = 1 : i64}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %2#0 : tensor<4xf32>
}

// From inside of a branch: what was computed outside is followed.
// CHECK-LABEL: @inside
// CHECK: stablehlo.if
// CHECK-NEXT: %[[R:.*]] = stablehlo.multiply %s, %{{.*}}
// CHECK-NEXT: stablehlo.return %[[R]]
func.func @inside(%p: tensor<i1>, %x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.exponential %x : tensor<4xf32>
  %1 = "stablehlo.if"(%p) ({
    %2 = "dtensor.gradient"(%0, %s, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
