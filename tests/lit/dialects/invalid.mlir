// RUN: shardwright-opt %s --split-input-file --verify-diagnostics

// Each fault is found, on its line, with the op named.

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'stablehlo.add' op operand shapes differ: 4x8, 4}}
  %0 = stablehlo.add %a, %b : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'stablehlo.sine' op elements must be floats or complex numbers, not i32}}
  %0 = stablehlo.sine %i : tensor<4x8xi32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'stablehlo.compare' op SIGNED does not order elements of type f32}}
  %0 = stablehlo.compare GT, %a, %a, SIGNED : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op operand dim 0 has 4 elements, but result dim 1 has 8}}
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'stablehlo.reshape' op 4x8 has 32 elements, but 33 has 33}}
  %0 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<33xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'stablehlo.transpose' op permuted dims [0, 0] name a dim twice}}
  %0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'stablehlo.slice' op slice 0:5 of dim 0 does not fit its 4 elements}}
  %0 = stablehlo.slice %a [0:5, 0:8] : (tensor<4x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op contracting dimension sizes must match: lhs dim 1 has 8, rhs dim 0 has 4}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'stablehlo.reduce' op initial value 0 must be tensor<f32>, not tensor<4xf32>}}
  %0 = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'stablehlo.iota' op iota dimension 2 is out of range for rank 2}}
  %0 = stablehlo.iota dim = 2 : tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'stablehlo.negate' op uses as operand 0 a value that is not defined before it}}
  %0 = stablehlo.negate %1 : tensor<4x8xf32>
  %1 = stablehlo.negate %a : tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'stablehlo.transpose' op}}
  %0 = "stablehlo.transpose"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op the sharding has 1 dims, but the tensor has 2}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{%z is used, but never defined}}
  %0 = stablehlo.add %a, %z : tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{%b is used as tensor<4x8xf32>, but is defined as tensor<4xf32>}}
  %0 = stablehlo.add %a, %b : tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{%a is defined twice}}
  %a = stablehlo.negate %a : tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{expected ':'}}
  %0 = stablehlo.negate %a tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{the literal has shape [2], but its type has [3]}}
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<3xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{300 is out of range for i8}}
  %0 = stablehlo.constant dense<300> : tensor<i8>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{the alias #missing is not defined}}
  %0 = stablehlo.negate %a {note = #missing} : tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %i: tensor<4x8xi32>) {
  // expected-error @+1 {{unknown operation 'stablehlo.frobnicate'}}
  %0 = stablehlo.frobnicate %a : tensor<4x8xf32>
  return
}
