// RUN: shardwright-opt %s --split-input-file --verify-diagnostics

// What is carried keeps its type, branches agree, and what chooses is a scalar.

func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.while' op the results of the body must be (tensor<4xf32>), not (tensor<i1>)}}
  %0 = stablehlo.while(%a = %x) : tensor<4xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %p : tensor<i1>
  }
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %p: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.while' op the results of the condition must be (tensor<i1>), not (tensor<4xi1>)}}
  %0 = stablehlo.while(%a = %x) : tensor<4xf32> cond {
    stablehlo.return %p : tensor<4xi1>
  } do {
    stablehlo.return %a : tensor<4xf32>
  }
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.while' op results must be (tensor<4xf32>), not (tensor<5xf32>)}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.while' op the arguments of the condition must be (tensor<4xf32>), not ()}}
  %0 = "stablehlo.while"(%x) ({
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %i: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.case' op the index must be tensor<i32>, not tensor<i64>}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i64>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.case' op must be given at least one branch}}
  %0 = "stablehlo.case"(%i) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.case' op the results of branch 1 must be (tensor<4xf32>), not (tensor<4xf32>, tensor<i32>)}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %x, %i : tensor<4xf32>, tensor<i32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %p: tensor<1xi1>) {
  // expected-error @+1 {{'stablehlo.if' op the predicate must be tensor<i1>, not tensor<1xi1>}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<1xi1>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.if' op branch 1 must be without arguments: it may use values from outside}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{name all carried values, as in (%iterArg = %x), or none}}
  %0:2 = stablehlo.while(%a = %x, %y) : tensor<4xf32>, tensor<4xf32> cond {
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  // expected-error @+1 {{%1 is used, but never defined}}
  return %1 : tensor<4xf32>
}

// -----

// What the loop's own region defines is nothing that it could start from.
func.func @main(%x: tensor<i32>) -> tensor<i32> {
  // expected-error @+1 {{SW0202: %inside is used, but never defined}}
  %0 = stablehlo.while(%i = %inside) : tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %x, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %inside = stablehlo.add %i, %x : tensor<i32>
    stablehlo.return %inside : tensor<i32>
  }
  return %0 : tensor<i32>
}

// -----

// A region may use what comes behind it as little as the block around it may.
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = "stablehlo.if"(%p) ({
    // expected-error @+2 {{SW0303: 'stablehlo.add' op uses as operand 0 a value that is not defined before it}}
    // expected-error @+1 {{SW0303: 'stablehlo.add' op uses as operand 1 a value that is not defined before it}}
    %1 = stablehlo.add %later, %later : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    // expected-error @+1 {{SW0303: 'stablehlo.return' op uses as operand 0 a value that is not defined before it}}
    stablehlo.return %later : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %later = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %later : tensor<4xf32>
  }, {
    // expected-error @+1 {{SW0201: %later is used as tensor<4xi32>, and as tensor<4xf32> before}}
    %1 = stablehlo.convert %later : (tensor<4xi32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %later = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
