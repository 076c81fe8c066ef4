// RUN: shardwright-opt %s --split-input-file --verify-diagnostics

func.func @no_such_dim(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.sort' op dimension 2 is out of range for rank 2}}
  %0 = "stablehlo.sort"(%a) <{dimension = 2 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @shapes_differ(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) {
  // expected-error @+1 {{'stablehlo.sort' op operand shapes differ: 4x8, 8x4}}
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 1 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %v: tensor<f32>, %w: tensor<f32>):
    %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x8xf32>, tensor<8x4xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>)
  return
}

// -----

func.func @comparator_takes_pairs(%a: tensor<4xf32>, %b: tensor<4xi32>) {
  // expected-error @+1 {{'stablehlo.sort' op the comparator must take tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>}}
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %v: tensor<i32>, %y: tensor<f32>, %w: tensor<i32>):
    %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  return
}

// -----

func.func @comparator_returns_a_boolean(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.sort' op the comparator must return tensor<i1>}}
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @k_is_too_large(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{'chlo.top_k' op k = 5 does not fit tensor<8x4xf32>: its last dim must have that many elements}}
  %0, %1 = chlo.top_k(%a, k = 5) : tensor<8x4xf32> -> (tensor<8x5xf32>, tensor<8x5xi32>)
  return
}

// -----

func.func @indices_are_i32(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{'chlo.top_k' op the result must be tensor<8x2xi32>, not tensor<8x2xi64>}}
  %0, %1 = chlo.top_k(%a, k = 2) : tensor<8x4xf32> -> (tensor<8x2xf32>, tensor<8x2xi64>)
  return
}
