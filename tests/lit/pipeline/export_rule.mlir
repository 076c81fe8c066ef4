// RUN: shardwright export %s --to sdy | filecheck %s --check-prefix=SDY
// RUN: shardwright export %s --to stablehlo | filecheck %s
// RUN: shardwright export %s --to sdy -o %t && shardwright export %t --to sdy | filecheck %s --check-prefix=SDY

// The rule by which Shardy splits a call: others get it as it was written; the program of one device needs none.
// SDY-NOT: dtensor
// SDY: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n]) {i=8, j=10, k=4, l=10, m=4, n=4}, custom>
// SDY-NOT: dtensor
// CHECK: sdy.manual_computation
// CHECK-NOT: sharding_rule
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<8x10x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<8x10x4xf32>, tensor<8x4xf32>) {
  %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n]) {i=8, j=10, k=4, l=10, m=4, n=4}, custom>} : (tensor<8x10x4xf32>) -> (tensor<8x10x4xf32>, tensor<8x4xf32>)
  return %0#0, %0#1 : tensor<8x10x4xf32>, tensor<8x4xf32>
}
