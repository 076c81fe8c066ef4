// RUN: shardwright-opt %s | filecheck %s
// RUN: shardwright-opt %s | shardwright-opt - | filecheck %s
// RUN: shardwright-opt %s --print-op-generic | shardwright-opt - | filecheck %s

// Tokens go wherever values go: through calls, barriers, loops and branches.

// CHECK: func.func public @main(%t: !stablehlo.token {jax.token = true}, %x: tensor<4xf32>) -> (!stablehlo.token {jax.token = true}, tensor<4xf32>)
func.func public @main(%t: !stablehlo.token {jax.token = true}, %x: tensor<4xf32>) -> (!stablehlo.token {jax.token = true}, tensor<4xf32>) {
  // CHECK: %0 = stablehlo.create_token : !stablehlo.token
  %0 = stablehlo.create_token : !stablehlo.token
  // CHECK: %1 = stablehlo.after_all %t, %0 : !stablehlo.token
  %1 = stablehlo.after_all %t, %0 : !stablehlo.token
  // CHECK: %2:2 = stablehlo.optimization_barrier %1, %x : !stablehlo.token, tensor<4xf32>
  %2:2 = stablehlo.optimization_barrier %1, %x : !stablehlo.token, tensor<4xf32>
  %p = stablehlo.constant dense<true> : tensor<i1>
  // CHECK: stablehlo.while(%a = %2#0, %b = %2#1) : !stablehlo.token, tensor<4xf32>
  %3:2 = stablehlo.while(%a = %2#0, %b = %2#1) : !stablehlo.token, tensor<4xf32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    // CHECK: call @f(%a, %b) : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
    %5 = func.call @f(%a, %b) : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
    stablehlo.return %5, %b : !stablehlo.token, tensor<4xf32>
  }
  // CHECK: "stablehlo.if"(%p)
  %4 = "stablehlo.if"(%p) ({
    stablehlo.return %3#0 : !stablehlo.token
  }, {
    // CHECK: "stablehlo.outfeed"(%x, %3#0) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    %6 = "stablehlo.outfeed"(%x, %3#0) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    stablehlo.return %6 : !stablehlo.token
  }) : (tensor<i1>) -> !stablehlo.token
  return %4, %3#1 : !stablehlo.token, tensor<4xf32>
}
func.func private @f(%t: !stablehlo.token, %x: tensor<4xf32>) -> !stablehlo.token {
  // CHECK: stablehlo.custom_call @my.write(%t, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
  %0 = stablehlo.custom_call @my.write(%t, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
  return %0 : !stablehlo.token
}
