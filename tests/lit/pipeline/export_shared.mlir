// RUN: shardwright export %s --to stablehlo | filecheck %s
// RUN: shardwright export %s --to stablehlo -o %t && shardwright run %t --check

// The values and the numbers of an argmax travel together, as bits.
// CHECK-LABEL: func.func public @main
// CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4xui32>
// CHECK: stablehlo.concatenate
// CHECK-COUNT-1: stablehlo.all_to_all
// CHECK-NOT: stablehlo.all_to_all
// CHECK: stablehlo.bitcast_convert %{{.*}} -> tensor<2x4xf32>
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %numbers = stablehlo.iota dim = 1 : tensor<8x64xi32>
  %0:2 = stablehlo.reduce(%a init: %least), (%numbers init: %zero) across dimensions = [1] : (tensor<8x64xf32>, tensor<8x64xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
   reducer(%b: tensor<f32>, %c: tensor<f32>) (%d: tensor<i32>, %e: tensor<i32>) {
    %1 = stablehlo.compare GE, %b, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %b, %c : tensor<i1>, tensor<f32>
    %3 = stablehlo.select %1, %d, %e : tensor<i1>, tensor<i32>
    stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
  }
  return %0#1 : tensor<8xi32>
}
