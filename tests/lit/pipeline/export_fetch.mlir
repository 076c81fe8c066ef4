// Who receives nothing from a permute has zeros: no device has to know its number, which XLA does not tell where a
// computation is over some of the axes only.
// RUN: shardwright export %s --to sdy | filecheck %s
// RUN: shardwright export %s --to sdy -o %t && shardwright run %t --check

// CHECK: sdy.manual_computation
// CHECK-NEXT: "stablehlo.collective_permute"(%b) <{source_target_pairs = dense<{{\[\[}}0, 2], [1, 3], [2, 4], [3, 5], [4, 6], [5, 7]]>
// Two from the third one, by itself and by the fourth: what each has is in one of them.
// CHECK-NEXT: "stablehlo.collective_permute"(%b) <{source_target_pairs = dense<{{\[\[}}4, 4], [5, 5]]>
// CHECK-NEXT: "stablehlo.collective_permute"(%b) <{source_target_pairs = dense<{{\[\[}}4, 6], [5, 7]]>
// CHECK-COUNT-2: stablehlo.bitcast_convert
// CHECK-NEXT: stablehlo.or
// CHECK-NEXT: stablehlo.bitcast_convert
// CHECK-NEXT: sdy.return
// CHECK-NOT: partition_id
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func public @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %0:2 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {?}]>] out_shardings=[<@mesh, [{"x"}, {?}]>, <@mesh, [{"x"}, {?}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %1 = "stablehlo.collective_permute"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, source_target_pairs = dense<[[0, 2], [1, 3], [2, 4], [3, 5], [4, 6], [5, 7]]> : tensor<6x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = "stablehlo.collective_broadcast"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, replica_groups = dense<[[4, 6], [5, 7]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    sdy.return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
  } : (tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>)
  return %0#0, %0#1 : tensor<16x8xf32>, tensor<16x8xf32>
}
