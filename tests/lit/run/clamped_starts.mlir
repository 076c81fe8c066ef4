// RUN: shardwright run %s --check --json | filecheck %s

// Starts beyond both ends are clamped against the whole dim, not against a device's two rows. Each device gives the rows
// that it holds: two reduce-scatters of 4 x 2 x 4 bytes, (4-1)/4 of 32 bytes each. Updates send nothing.

// CHECK: "ok": true
// CHECK: "max_abs_error": 0.0
// CHECK: "sent_bytes": 48
// CHECK: "kind": "reduce_scatter"

sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %a: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %u: tensor<3x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}
  ) -> (
    tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
  ) {
  %five = stablehlo.constant dense<-5> : tensor<i8>
  %most = stablehlo.constant dense<255> : tensor<ui8>
  // A slice from a start that is known would be a static one.
  %before, %behind = stablehlo.optimization_barrier %five, %most : tensor<i8>, tensor<ui8>
  %none = stablehlo.constant dense<0> : tensor<i8>
  %same = stablehlo.constant dense<0> : tensor<ui8>
  %0 = stablehlo.dynamic_slice %a, %before, %none, sizes = [4, 2] : (tensor<8x2xf32>, tensor<i8>, tensor<i8>) -> tensor<4x2xf32>
  %1 = stablehlo.dynamic_slice %a, %behind, %same, sizes = [4, 2] : (tensor<8x2xf32>, tensor<ui8>, tensor<ui8>) -> tensor<4x2xf32>
  %2 = stablehlo.dynamic_update_slice %a, %u, %before, %none : (tensor<8x2xf32>, tensor<3x2xf32>, tensor<i8>, tensor<i8>) -> tensor<8x2xf32>
  %3 = stablehlo.dynamic_update_slice %a, %u, %behind, %same : (tensor<8x2xf32>, tensor<3x2xf32>, tensor<ui8>, tensor<ui8>) -> tensor<8x2xf32>
  return %0, %1, %2, %3 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<8x2xf32>, tensor<8x2xf32>
}
