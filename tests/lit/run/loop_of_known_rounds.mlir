// Five rounds with one all-reduce of a float each: 2 * 3/4 of 4 bytes.
// RUN: shardwright run %s --check | filecheck %s
// RUN: shardwright explain %s | filecheck %s --check-prefix=EXPLAIN

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 30 bytes in 5 messages, as predicted
// CHECK-NEXT:   all_reduce {{.*}} 30 bytes in 5
// CHECK-NEXT:   stablehlo.while at line {{[0-9]+}}: 5 rounds, 1 start

// EXPLAIN: all_reduce x: 6 bytes per device x 5
// EXPLAIN: 30 bytes sent per device
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %start = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %start, %b = %a) : tensor<i32>, tensor<8xf32>
    cond {
      %n = stablehlo.constant dense<5> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %1 = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      %2 = stablehlo.tanh %1 : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %4 = stablehlo.subtract %b, %3 : tensor<8xf32>
      stablehlo.return %j, %4 : tensor<i32>, tensor<8xf32>
    }
    return %0#1 : tensor<8xf32>
  }
}
