// RUN: shardwright-opt %s -p drop-tokens,drop-callbacks,dce --split-input-file --verify-diagnostics | filecheck %s

// A print goes, and so does an ordered effect in a loop, whose token nobody needs any more.

// CHECK-LABEL: @main
// CHECK-NOT: custom_call
sdy.mesh @maximal = <[], device_ids=[0]>
func.func public @main(%t: !stablehlo.token, %x: tensor<4xf32>, %p: tensor<i1>) -> (!stablehlo.token, tensor<4xf32>) {
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}, sdy.sharding = #sdy.sharding_per_value<[<@maximal, []>]>} : (tensor<4xf32>) -> ()
  %0 = stablehlo.while(%a = %t) : !stablehlo.token
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1:2 = stablehlo.custom_call @xla_ffi_python_gpu_callback(%a, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<f32>)
    stablehlo.return %1#0 : !stablehlo.token
  }
  return %0, %x : !stablehlo.token, tensor<4xf32>
}

// -----

// A branch that is there for its effects alone goes with them; other effects stay where they are.

// CHECK-LABEL: @branches
// CHECK-NEXT: "stablehlo.if"(%p) ({
// CHECK-NEXT: stablehlo.custom_call @my.write(%x)
// CHECK-NOT: stablehlo.if
func.func public @branches(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  "stablehlo.if"(%p) ({
    stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  "stablehlo.if"(%p) ({
    %0 = stablehlo.custom_call @my.write(%x) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return %x : tensor<4xf32>
}

// -----

// What the program needs cannot be left out. Other calls stay for who knows them.

func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @+1 {{a callback calls Python back in the middle of the program}}
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @my.kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
