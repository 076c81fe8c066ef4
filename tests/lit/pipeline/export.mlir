// RUN: shardwright export %s --to stablehlo | filecheck %s
// RUN: shardwright export %s --to stablehlo --bare | filecheck %s --check-prefix=BARE
// RUN: shardwright export %s --to sdy | filecheck %s --check-prefix=SDY
// RUN: shardwright export %s --to stablehlo -o %t && shardwright-opt %t | filecheck %s

// A shift of split rows, then a product over a split dim: a permute of one row, and one all-reduce.
// CHECK: module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32}
// CHECK-NEXT: sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK: %a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}
// CHECK: sdy.manual_computation(%a, %b)
// CHECK-SAME: in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"}
// CHECK-SAME: tensor<4x2xf32>
// CHECK: "stablehlo.collective_permute"
// CHECK-SAME: source_target_pairs = dense<[[0, 2], [1, 3]]>
// CHECK-NOT: dtensor
// CHECK: stablehlo.dot_general
// CHECK: "stablehlo.all_reduce"
// CHECK-SAME: channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>
// CHECK: sdy.return

// BARE: func.func public @main(%a: tensor<4x2xf32>, %b: tensor<2x8xf32>) -> tensor<4x8xf32>
// BARE-NOT: sdy.
// BARE: "stablehlo.all_reduce"

// SDY: sdy.mesh @mesh = <["x"=2, "y"=2]>
// SDY: stablehlo.dot_general
// SDY-SAME: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %zero, low = [1, 0], high = [-1, 0], interior = [0, 0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
