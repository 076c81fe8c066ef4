// RUN: not shardwright-opt %s -p propagate 2>&1 | filecheck %s
// CHECK: sw0465_closed.mlir:10:8: error[SW0465]: members of one sharding group have the layouts [{}, {?}] and [{"a"}, {?}]
// CHECK: help: give them the same layout, or take one out of the group

// A closed dim is the user's word: the group does not take it away.
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func public @main(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {?}]> : tensor<8x8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %x <@mesh, [{"a"}, {?}]> : tensor<8x8xf32>
  sdy.sharding_group %1 group_id=0 : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
