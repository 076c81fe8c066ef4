// Positions folded into rows and columns: no device can count its columns of all rows alone. Each makes the whole and
// takes its part, which sends nothing; rows are counted where they are.
// RUN: shardwright run %s --check --json | filecheck %s

// CHECK: "ok": true
// CHECK: "max_abs_error": 0.0
// CHECK: "sent_bytes": 0
sdy.mesh @mesh = <["x"=2]>
func.func public @main(
    %a: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
  ) -> (
    tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
  ) {
  %0 = stablehlo.iota dim = 0 : tensor<8xf32>
  %1 = stablehlo.reshape %0 : (tensor<8xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.add %1, %a : tensor<2x4xf32>
  %3 = stablehlo.add %1, %b : tensor<2x4xf32>
  return %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>
}
