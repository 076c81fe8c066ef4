// RUN: shardwright-opt %s -p close-regions,dce --split-input-file | filecheck %s

// Constants are made anew in the function, each once, with what is made of them, also for what stands in a branch inside.

// CHECK-LABEL: @constants
// CHECK-NOT: stablehlo.constant
// CHECK: ^bb0(%a: tensor<f32>, %b: tensor<f32>):
// CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK-NEXT: %[[E:.*]] = stablehlo.exponential %[[ONE]]
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %a, %[[E]]
// CHECK-NEXT: %[[LESS:.*]] = stablehlo.compare LT, %[[SUM]], %b
// CHECK: stablehlo.return %[[E]] : tensor<f32>
func.func public @constants(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %e = stablehlo.exponential %one : tensor<f32>
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %e : tensor<f32>
    %2 = stablehlo.compare LT, %1, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = "stablehlo.if"(%2) ({
      stablehlo.return %e : tensor<f32>
    }, {
      stablehlo.return %b : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    %4 = stablehlo.compare LT, %3, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A scalar that the program computes is one more operand, the same everywhere: for a sort one that is sorted along.

// CHECK-LABEL: @sorted_along
// CHECK: %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK: "stablehlo.sort"(%x, %0)
// CHECK-NEXT: ^bb0(%a: tensor<f32>, %b: tensor<f32>, %[[S:.*]]: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: stablehlo.subtract %a, %[[S]]
func.func public @sorted_along(%x: tensor<8xf32>, %s: tensor<f32>) -> tensor<8xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.subtract %a, %s : tensor<f32>
    %2 = stablehlo.abs %1 : tensor<f32>
    %3 = stablehlo.subtract %b, %s : tensor<f32>
    %4 = stablehlo.abs %3 : tensor<f32>
    %5 = stablehlo.compare LT, %2, %4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A reduction carries it, and what is said of the layout of results leaves that of the new one open.

// CHECK-LABEL: @carried
// CHECK: %1:2 = stablehlo.reduce(%x init: %i), (%0 init: %s) across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{?}]>]>}
// CHECK-NEXT: reducer(%a: tensor<f32>, %b: tensor<f32>) (%[[S:.*]]: tensor<f32>, %{{.*}}: tensor<f32>)
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %a, %b
// CHECK-NEXT: %[[LEAST:.*]] = stablehlo.minimum %[[SUM]], %[[S]]
// CHECK-NEXT: stablehlo.return %[[LEAST]], %[[S]]
// CHECK: return %1#0
sdy.mesh @mesh = <["x"=2]>
func.func public @carried(%x: tensor<4x8xf32>, %i: tensor<f32>, %s: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = stablehlo.add %a, %b : tensor<f32>
    %2 = stablehlo.minimum %1, %s : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<4xf32>
}

// -----

// What reads nothing from outside stays as it is, and loops and branches may read what they like.

// CHECK-LABEL: @untouched
// CHECK: stablehlo.reduce(%x init: %i) applies stablehlo.add
// CHECK: "stablehlo.if"(%p) ({
// CHECK-NEXT: stablehlo.return %0 : tensor<4xf32>
func.func public @untouched(%x: tensor<4x8xf32>, %i: tensor<f32>, %p: tensor<i1>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = "stablehlo.if"(%p) ({
    stablehlo.return %0 : tensor<4xf32>
  }, {
    stablehlo.return %y : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
