// Rounds that depend on data: what each of them sends is predicted, and checked with the rounds that were counted.
// RUN: shardwright run %s --check | filecheck %s
// RUN: shardwright explain %s | filecheck %s --check-prefix=EXPLAIN

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: {{[0-9,]+}} bytes in {{[0-9]+}} messages, as predicted
// CHECK: stablehlo.while at line {{[0-9]+}}: {{[0-9]+}} rounds, 1 start

// EXPLAIN: 6 bytes per device per round of
// EXPLAIN: 6 bytes per round of stablehlo.while at line {{[0-9]+}} sent per device
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %start = stablehlo.constant dense<100.0> : tensor<f32>
    %0:2 = stablehlo.while(%s = %start, %b = %a) : tensor<f32>, tensor<8xf32>
    cond {
      %limit = stablehlo.constant dense<0.01> : tensor<f32>
      %1 = stablehlo.compare GT, %s, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %half = stablehlo.constant dense<0.5> : tensor<8xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %1 = stablehlo.multiply %b, %half : tensor<8xf32>
      %2 = stablehlo.abs %1 : tensor<8xf32>
      %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %3, %1 : tensor<f32>, tensor<8xf32>
    }
    return %0#1 : tensor<8xf32>
  }
}
