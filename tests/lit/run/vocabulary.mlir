// RUN: shardwright run %s --check --json | filecheck %s

// A table that is split by rows: the look-up is one masked gather on each device and one all-reduce over "model" of the
// 2 x 2 rows that the device's ids ask for, 2 (2-1)/2 of 64 bytes. The gradient adds each device's rows to its half of the
// table, and one all-reduce over "batch" adds these up: 2 (4-1)/4 of 8 rows, 128 bytes.

// CHECK: "ok": true
// CHECK: "sent_bytes": 256
// CHECK: "messages": 2

sdy.mesh @mesh = <["batch"=4, "model"=2]>
func.func public @main(
    %table: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
    %ids: tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>},
    %updates: tensor<8x2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}
  ) -> (
    tensor<8x2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>},
    tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}
  ) {
  %zero = stablehlo.constant dense<0.0> : tensor<16x4xf32>
  %at = stablehlo.reshape %ids : (tensor<8x2xi32>) -> tensor<8x2x1xi32>
  %rows = "stablehlo.gather"(%table, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 4>}> : (tensor<16x4xf32>, tensor<8x2x1xi32>) -> tensor<8x2x4xf32>
  %gradient = "stablehlo.scatter"(%zero, %at, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %sum = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<16x4xf32>, tensor<8x2x1xi32>, tensor<8x2x4xf32>) -> tensor<16x4xf32>
  return %rows, %gradient : tensor<8x2x4xf32>, tensor<16x4xf32>
}
