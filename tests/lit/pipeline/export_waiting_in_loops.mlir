// RUN: shardwright export %s --to stablehlo | filecheck %s
// RUN: shardwright export %s --to stablehlo -o %t && shardwright run %t --check

// In the body of a loop both gradients wait for the end of the round, and travel together: it is the end that needs them.
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.reduce_scatter
// CHECK-NOT: stablehlo.reduce_scatter
// CHECK: stablehlo.return
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %a: tensor<256x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %first: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %second: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %i, %u, %v = stablehlo.while(%0 = %zero, %1 = %first, %2 = %second) : tensor<i32>, tensor<8x4xf32>, tensor<8x4xf32>
    cond {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %go = stablehlo.compare LT, %0, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %0, %one : tensor<i32>
      %3 = stablehlo.dot_general %a, %1, contracting_dims = [1] x [0] : (tensor<256x8xf32>, tensor<8x4xf32>) -> tensor<256x4xf32>
      %4 = stablehlo.dot_general %a, %2, contracting_dims = [1] x [0] : (tensor<256x8xf32>, tensor<8x4xf32>) -> tensor<256x4xf32>
      %5 = stablehlo.tanh %4 : tensor<256x4xf32>
      %6 = stablehlo.tanh %3 : tensor<256x4xf32>
      %7 = stablehlo.dot_general %a, %5, contracting_dims = [0] x [0] : (tensor<256x8xf32>, tensor<256x4xf32>) -> tensor<8x4xf32>
      %8 = stablehlo.dot_general %a, %6, contracting_dims = [0] x [0] : (tensor<256x8xf32>, tensor<256x4xf32>) -> tensor<8x4xf32>
      stablehlo.return %next, %7, %8 : tensor<i32>, tensor<8x4xf32>, tensor<8x4xf32>
    }
  return %u, %v : tensor<8x4xf32>, tensor<8x4xf32>
}
