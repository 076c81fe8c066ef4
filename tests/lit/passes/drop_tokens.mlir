// RUN: shardwright-opt %s -p drop-tokens --split-input-file | filecheck %s

// Signatures lose them with what is said of them, and so do calls, with their layouts and shardings.

// CHECK-LABEL: func.func public @main(%x: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32> {jax.result_info = "result"}) {
// CHECK-NEXT: %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %0 : tensor<4xf32>
// CHECK: func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: stablehlo.custom_call @my.write(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%t: !stablehlo.token {jax.token = true}, %x: tensor<4xf32> {jax.buffer_donor = true}) -> (!stablehlo.token {jax.token = true}, tensor<4xf32> {jax.result_info = "result"}) {
  %0:2 = func.call @f(%t, %x) : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
  return %0#0, %0#1 : !stablehlo.token, tensor<4xf32>
}
func.func private @f(%t: !stablehlo.token {jax.token = true}, %x: tensor<4xf32>) -> (!stablehlo.token {jax.token = true}, tensor<4xf32>) {
  %0:2 = stablehlo.custom_call @my.write(%t, %x) {operand_layouts = [dense<> : tensor<0xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<> : tensor<0xindex>, dense<0> : tensor<1xindex>], sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}]>]>} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
  return %0#0, %0#1 : !stablehlo.token, tensor<4xf32>
}

// -----

// A loop no longer carries them, a branch no longer returns them, a barrier no longer holds them; what only makes them goes.

// CHECK-LABEL: @frames
// CHECK-NOT: token
// CHECK: stablehlo.optimization_barrier %x : tensor<4xf32>
// CHECK: stablehlo.while(%b = %{{.*}}) : tensor<4xf32>
// CHECK: stablehlo.return %b : tensor<4xf32>
// CHECK: "stablehlo.if"(%p) ({
// CHECK-NEXT: stablehlo.return
// CHECK-NOT: token
func.func public @frames(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %0 : !stablehlo.token
  %2:2 = stablehlo.optimization_barrier %1, %x : !stablehlo.token, tensor<4xf32>
  %3:2 = stablehlo.while(%a = %2#0, %b = %2#1) : !stablehlo.token, tensor<4xf32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %a, %b : !stablehlo.token, tensor<4xf32>
  }
  %4 = "stablehlo.if"(%p) ({
    stablehlo.return %3#0 : !stablehlo.token
  }, {
    stablehlo.return %1 : !stablehlo.token
  }) : (tensor<i1>) -> !stablehlo.token
  return %3#1 : tensor<4xf32>
}

// -----

// What is said of where a token is says nothing.

// CHECK-LABEL: func.func public @constrained(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: return %x : tensor<4xf32>
sdy.mesh @mesh = <["x"=2]>
func.func public @constrained(%t: !stablehlo.token, %x: tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>) {
  %0 = sdy.sharding_constraint %t <@mesh, []> : !stablehlo.token
  %1 = sdy.reshard %0 <@mesh, []> : !stablehlo.token
  return %1, %x : !stablehlo.token, tensor<4xf32>
}
