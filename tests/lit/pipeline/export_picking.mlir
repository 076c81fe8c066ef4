// RUN: shardwright export %s --to stablehlo --platform cpu | filecheck %s
// RUN: shardwright export %s --to stablehlo | filecheck %s --check-prefix=WRITTEN

// On CPUs the largest element is found first, then the lowest place that has it; a place from the start is as good.
// CHECK: %[[MOST:.*]] = stablehlo.reduce(%x init: %worst) applies stablehlo.maximum across dimensions = [0]
// CHECK: %[[WHOLE:.*]] = stablehlo.broadcast_in_dim %[[MOST]], dims = []
// CHECK: stablehlo.compare EQ, %x, %[[WHOLE]]
// CHECK: stablehlo.compare NE, %x, %x
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.minimum across dimensions = [0]
// CHECK: stablehlo.compare EQ, %[[MOST]], %worst
// CHECK: stablehlo.select
// CHECK-NOT: reducer

// WRITTEN: stablehlo.reduce(%x init: %worst), (%p init: %first) across dimensions = [0]
// WRITTEN: reducer
func.func public @main(%x: tensor<7xf32>, %p: tensor<7xi32>) -> (tensor<f32>, tensor<i32>) {
  %worst = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %first = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %worst), (%p init: %first) across dimensions = [0]
    : (tensor<7xf32>, tensor<7xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%v: tensor<f32>, %w: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
    %1 = stablehlo.compare GT, %v, %w : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare NE, %v, %v : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.or %1, %2 : tensor<i1>
    %4 = stablehlo.compare EQ, %v, %w : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %4, %5 : tensor<i1>
    %7 = stablehlo.or %3, %6 : tensor<i1>
    %8 = stablehlo.select %3, %v, %w : tensor<i1>, tensor<f32>
    %9 = stablehlo.select %7, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %8, %9 : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}
