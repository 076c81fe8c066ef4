// RUN: not shardwright certify %s 2>&1 | filecheck %s
// CHECK: not proved
// CHECK: error[SW0332]: the program is not proved
// CHECK-NEXT: note: stablehlo.triangular_solve has no meaning in exact numbers
// CHECK-NEXT: help: a program that is not proved may be right: 'shardwright run FILE --check' compares numbers

func.func public @main(%a: tensor<4x4xf32>, %b: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
