// What a loop adds to ones: the ones count once, not once for each device that holds a part of the sums.
// RUN: shardwright run %s --check --json | filecheck %s

// CHECK: "ok": true
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(
      %a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
      %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
    %start = stablehlo.constant dense<0> : tensor<i32>
    %ones = stablehlo.constant dense<1.0> : tensor<4x4xf32>
    %0:3 = stablehlo.while(%i = %start, %h = %a, %total = %ones) : tensor<i32>, tensor<4x8xf32>, tensor<4x4xf32>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %g = stablehlo.tanh %h : tensor<4x8xf32>
      %2 = stablehlo.dot_general %h, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
      %3 = stablehlo.add %total, %2 : tensor<4x4xf32>
      stablehlo.return %j, %g, %3 : tensor<i32>, tensor<4x8xf32>, tensor<4x4xf32>
    }
    return %0#2 : tensor<4x4xf32>
  }
}
