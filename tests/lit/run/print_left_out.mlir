// A print, and an ordered effect in a loop, are left out by choice; what the program gives does not depend on them.
// RUN: shardwright run %s --check --callbacks drop | filecheck %s
// RUN: shardwright explain %s --callbacks drop | filecheck %s --check-prefix=EXPLAIN
// RUN: shardwright export %s --to stablehlo --callbacks drop | filecheck %s --check-prefix=EXPORT
// RUN: not shardwright run %s 2>&1 | filecheck %s --check-prefix=KEPT

// CHECK: ok: 1 results against the unsharded run
// CHECK-NEXT: sent per device: 0 bytes
// EXPLAIN: no collectives: nothing is sent
// EXPORT-NOT: callback
// KEPT: print_left_out.mlir:18:5: error[SW0431]: a callback calls Python back in the middle of the program
// KEPT: help: nothing needs its result: leave it out with callbacks='drop', or with --callbacks drop of the command; from_jax calls it
// KEPT: print_left_out.mlir:26:12: error[SW0431]
module {
  sdy.mesh @mesh = <["x"=4]>
  sdy.mesh @one = <[], device_ids=[0]>
  func.func public @main(%t: !stablehlo.token {jax.token = true}, %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (!stablehlo.token {jax.token = true}, tensor<8xf32>) {
    stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}, sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<8xf32>) -> ()
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%a = %t, %i = %zero, %v = %x) : !stablehlo.token, tensor<i32>, tensor<8xf32>
    cond {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a, %v) {has_side_effect = true, mhlo.backend_config = {index = 1 : ui64}} : (!stablehlo.token, tensor<8xf32>) -> !stablehlo.token
      %one = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      %3 = stablehlo.add %v, %v : tensor<8xf32>
      stablehlo.return %1, %2, %3 : !stablehlo.token, tensor<i32>, tensor<8xf32>
    }
    return %0#0, %0#2 : !stablehlo.token, tensor<8xf32>
  }
}
