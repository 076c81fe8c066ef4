// RUN: not shardwright-opt %s -p decompose 2>&1 | filecheck %s
// CHECK: sw0431.mlir:11:8: error[SW0431]: the custom call @my.kernel is known by its name only
// CHECK: note: calls that can be run are lapack_{s,d,c,z}NAME_ffi with NAME gees, geev,
// CHECK: help: write the computation with StableHLO's ops, export it for platform cpu, call it in a shard_map over all axes, or give it a rule and a kernel
// CHECK: sw0431.mlir:12:8: error[SW0431]: a callback calls Python back in the middle of the program
// CHECK: help: its result is needed:
// CHECK: sw0431.mlir:13:8: error[SW0431]: the custom call @lapack_sungqr_ffi is known by its name only
// CHECK: error[SW0431]: ragged_all_to_all sends as many rows as the program computes
// CHECK: help: send rows of equal numbers (jax.lax.all_to_all), and mask those that are too many
func.func public @main(%x: tensor<4x4xf32>, %t: tensor<4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.custom_call @my.kernel(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%0) {has_side_effect = true} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.custom_call @lapack_sungqr_ffi(%1, %t) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.custom_call @ragged_all_to_all(%2, %2, %t, %t, %t, %t) {api_version = 4 : i32} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
