// RUN: shardwright-opt %s -p dce | filecheck %s

// CHECK-LABEL: @dead_chain
// CHECK-NEXT: %0 = stablehlo.negate %x
// CHECK-NEXT: return %0
func.func @dead_chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.negate %x : tensor<4xf32>
  %3 = dtensor.constraint %2 : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @arguments_and_calls_stay
// CHECK-NEXT: call @dead_chain
func.func @arguments_and_calls_stay(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = call @dead_chain(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

dtensor.mesh @mesh = <["x"=2]>

// What a loop carries for itself alone is not carried, nor computed: %n ends it, %s comes out, %d leads nowhere.

// CHECK-LABEL: @dead_carry
// CHECK-NEXT: %0:2 = stablehlo.while(%k = %n, %v = %x) : tensor<i32>, tensor<4xf32>
// CHECK-NEXT: cond {
// CHECK-NEXT:   %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:   %1 = stablehlo.compare GT, %k, %c
// CHECK-NEXT:   return %1
// CHECK-NEXT: } do {
// CHECK-NEXT:   %2 = stablehlo.add %k, %k
// CHECK-NEXT:   %3 = stablehlo.negate %v
// CHECK-NEXT:   return %2, %3 : tensor<i32>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %0#1
func.func @dead_carry(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0:4 = stablehlo.while(%d = %x, %k = %n, %v = %x, %e = %x) : tensor<4xf32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>
    cond {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.compare GT, %k, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %2 = stablehlo.add %k, %k : tensor<i32>
      %3 = stablehlo.negate %v : tensor<4xf32>
      %4 = stablehlo.add %d, %e : tensor<4xf32>
      %5 = stablehlo.multiply %e, %3 : tensor<4xf32>
      stablehlo.return %4, %2, %3, %5 : tensor<4xf32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>
    }
  return %0#2 : tensor<4xf32>
}

// CHECK-LABEL: @carried_for_another
// CHECK-NEXT: stablehlo.while(%k = %n, %v = %x, %d = %x)
func.func @carried_for_another(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0:3 = stablehlo.while(%k = %n, %v = %x, %d = %x) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
    cond {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.compare GT, %k, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %2 = stablehlo.add %k, %k : tensor<i32>
      %3 = stablehlo.negate %d : tensor<4xf32>
      stablehlo.return %2, %d, %3 : tensor<i32>, tensor<4xf32>, tensor<4xf32>
    }
  return %0#1 : tensor<4xf32>
}

// CHECK-LABEL: @dead_result_of_a_branch
// CHECK-NEXT: %0 = "stablehlo.if"(%p) ({
// CHECK-NEXT:   %1 = stablehlo.negate %x
// CHECK-NEXT:   return %1 : tensor<4xf32>
// CHECK-NEXT: }, {
// CHECK-NEXT:   return %x : tensor<4xf32>
// CHECK-NEXT: })
// CHECK-NEXT: return %0
func.func @dead_result_of_a_branch(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = "stablehlo.if"(%p) ({
    %1 = stablehlo.negate %x : tensor<4xf32>
    %2 = stablehlo.abs %x : tensor<4xf32>
    stablehlo.return %2, %1 : tensor<4xf32>, tensor<4xf32>
  }, {
    %3 = stablehlo.multiply %x, %x : tensor<4xf32>
    stablehlo.return %3, %x : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// What a barrier holds back for nobody is not computed.
// CHECK-LABEL: @dead_value_of_a_barrier
// CHECK-NEXT: %0 = stablehlo.optimization_barrier %y : tensor<4xf32>
// CHECK-NEXT: return %0
func.func @dead_value_of_a_barrier(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1, %2 = stablehlo.optimization_barrier %0, %y : tensor<4xf32>, tensor<4xf32>
  return %2 : tensor<4xf32>
}
