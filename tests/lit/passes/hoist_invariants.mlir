// RUN: shardwright-opt %s -p hoist-invariants | filecheck %s

// What the body hands on unchanged is no longer carried; what depends on it alone is computed once, before the loop.
// CHECK-LABEL: @scan
// CHECK: %0 = stablehlo.transpose %w
// CHECK: %1:2 = stablehlo.while(%i = %n, %h = %x) : tensor<i32>, tensor<4xf32>
// CHECK: stablehlo.dot_general %h, %0
// CHECK: stablehlo.return {{.*}} : tensor<i32>, tensor<4xf32>
// CHECK: return %1#1, %w
func.func @scan(%n: tensor<i32>, %x: tensor<4xf32>, %w: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  %0:3 = stablehlo.while(%i = %n, %h = %x, %v = %w) : tensor<i32>, tensor<4xf32>, tensor<4x4xf32>
  cond {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare GT, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.subtract %i, %one : tensor<i32>
    %2 = stablehlo.transpose %v, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = stablehlo.dot_general %h, %2, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    stablehlo.return %1, %3, %v : tensor<i32>, tensor<4xf32>, tensor<4x4xf32>
  }
  return %0#1, %0#2 : tensor<4xf32>, tensor<4x4xf32>
}

// A constant stays, its copy goes along with who leaves; what grows (a broadcast) stays in the loop.
// CHECK-LABEL: @copies
// CHECK: stablehlo.constant dense<2.000000e+00>
// CHECK-NEXT: [[M:%.*]] = stablehlo.multiply %s,
// CHECK-NEXT: stablehlo.while
// CHECK: stablehlo.constant dense<2.000000e+00>
// CHECK: stablehlo.broadcast_in_dim [[M]]
func.func @copies(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.while(%h = %x) : tensor<4xf32>
  cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %1 = stablehlo.multiply %s, %two : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.add %h, %2 : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Out of two loops at once; nothing leaves a branch, which may never run.
// CHECK-LABEL: @nested
// CHECK-NEXT: %0 = stablehlo.negate %w
// CHECK-NEXT: stablehlo.while
// CHECK: stablehlo.while
// CHECK: "stablehlo.if"
// CHECK-NEXT: stablehlo.exponential %w
func.func @nested(%p: tensor<i1>, %x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.while(%h = %x) : tensor<4xf32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.while(%g = %h) : tensor<4xf32>
    cond {
      stablehlo.return %p : tensor<i1>
    } do {
      %2 = stablehlo.negate %w : tensor<4xf32>
      %3 = "stablehlo.if"(%p) ({
        %4 = stablehlo.exponential %w : tensor<4xf32>
        stablehlo.return %4 : tensor<4xf32>
      }, {
        stablehlo.return %2 : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      %5 = stablehlo.add %3, %g : tensor<4xf32>
      stablehlo.return %5 : tensor<4xf32>
    }
    stablehlo.return %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Who leaves takes along a constant in another shape as well.
// CHECK-LABEL: @shaped
// CHECK: stablehlo.constant dense<2.000000e+00>
// CHECK-NEXT: stablehlo.broadcast_in_dim
// CHECK-NEXT: [[M:%.*]] = stablehlo.maximum %w,
// CHECK-NEXT: stablehlo.while
// CHECK: stablehlo.divide %h, [[M]]
func.func @shaped(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.while(%h = %x) : tensor<4xf32>
  cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %two, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.maximum %w, %1 : tensor<4xf32>
    %3 = stablehlo.divide %h, %2 : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
