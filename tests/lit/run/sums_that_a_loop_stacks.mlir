// Each round puts the sum of a row, of which every device has a part, where it belongs. What is stacked stays partial
// until the loop is done: then eight sums of four bytes are reduced and split, 3/4 of 32 bytes, not 2 * 3/4 of 4 in each
// round; those that everybody wants are reduced in one message, for as much as in eight.
// RUN: shardwright run %s --check | filecheck %s
// RUN: shardwright explain %s | filecheck %s --check-prefix=EXPLAIN

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 72 bytes in 2 messages, as predicted
// CHECK-NEXT:   all_reduce {{.*}} 48 bytes in 1
// CHECK-NEXT:   reduce_scatter {{.*}} 24 bytes in 1

// EXPLAIN-DAG: reduce_scatter x: 24 bytes per device
// EXPLAIN-DAG: all_reduce x: 48 bytes per device
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %start = stablehlo.constant dense<0> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<8xf32>
    %0:3 = stablehlo.while(%i = %start, %b = %none, %c = %none) : tensor<i32>, tensor<8xf32>, tensor<8xf32>
    cond {
      %n = stablehlo.constant dense<8> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %first = stablehlo.constant dense<0> : tensor<i32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %1 = stablehlo.dynamic_slice %a, %i, %first, sizes = [1, 16] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
      %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1x16xf32>, tensor<f32>) -> tensor<1xf32>
      %3 = stablehlo.dynamic_update_slice %b, %2, %i : (tensor<8xf32>, tensor<1xf32>, tensor<i32>) -> tensor<8xf32>
      %4 = stablehlo.multiply %1, %1 : tensor<1x16xf32>
      %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1x16xf32>, tensor<f32>) -> tensor<1xf32>
      %6 = stablehlo.dynamic_update_slice %c, %5, %i : (tensor<8xf32>, tensor<1xf32>, tensor<i32>) -> tensor<8xf32>
      stablehlo.return %j, %3, %6 : tensor<i32>, tensor<8xf32>, tensor<8xf32>
    }
    return %0#1, %0#2 : tensor<8xf32>, tensor<8xf32>
  }
}
