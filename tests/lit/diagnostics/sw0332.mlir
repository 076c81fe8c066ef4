// RUN: not shardwright certify %s 2>&1 | filecheck %s
// CHECK: not proved
// CHECK: error[SW0332]: the program is not proved
// CHECK-NEXT: note: stablehlo.custom_call has no meaning in exact numbers
// CHECK-NEXT: help: a program that is not proved may be right: 'shardwright run FILE --check' compares numbers

func.func public @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>)
  return %0#0 : tensor<4x4xf32>
}
