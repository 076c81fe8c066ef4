// RUN: shardwright export %s --to sdy -o %t 2>&1 | filecheck %s
// RUN: shardwright export %s --to stablehlo -o %t 2>&1 | filecheck %s --allow-empty --check-prefix=DEVICE

// CHECK: sw0735.mlir:23:8: warning[SW0735]: stablehlo.reduce_window and stablehlo.reduce_window move windows over the same split value with other padding, and XLA may give both the same
// CHECK: help: take the program of each device, in which XLA has nothing to partition: to_stablehlo(), --to stablehlo
// CHECK: sw0735.mlir:29:8: warning[SW0735]: a convolution sums over a window that is split, and XLA may count its parts several times
// CHECK: sw0735.mlir:30:8: warning[SW0735]: a slice of a computed start gives split parts, and XLA clamps the start of each part by itself
// CHECK: sw0735.mlir:32:8: warning[SW0735]: the slope of a pool whose windows overlap is split along them, and XLA may give it to others
// CHECK-NOT: SW0735

// DEVICE-NOT: SW0735

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %s: tensor<1x1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %k: tensor<1x1x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %i: tensor<i32>, %g: tensor<7xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<1x1x7xf32>, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<8xf32>) {
  %zero_start = stablehlo.constant dense<2> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %zero) <{window_dimensions = array<i64: 8>, padding = dense<[[7, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %t = stablehlo.add %b, %c : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "stablehlo.reduce_window"(%a, %one) <{window_dimensions = array<i64: 8>, padding = dense<[[7, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %t = stablehlo.multiply %b, %c : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.pad %a, %zero, low = [1], high = [-1], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = stablehlo.convolution(%s, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x8xf32>, tensor<1x1x2xf32>) -> tensor<1x1x7xf32>
  %4 = stablehlo.dynamic_slice %a, %i, sizes = [4] : (tensor<8xf32>, tensor<i32>) -> tensor<4xf32>
  %5 = stablehlo.dynamic_slice %a, %zero_start, sizes = [4] : (tensor<8xf32>, tensor<i32>) -> tensor<4xf32>
  %6 = "stablehlo.select_and_scatter"(%a, %g, %zero) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %t = stablehlo.compare GE, %b, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }, {
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %t = stablehlo.add %b, %c : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<8xf32>, tensor<7xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<1x1x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>
}
