// RUN: shardwright-opt %s --split-input-file -p dce | filecheck %s --check-prefix=DCE
// RUN: shardwright-opt %s --split-input-file -p cse | filecheck %s --check-prefix=CSE
// RUN: shardwright-opt %s --split-input-file -p canonicalize | filecheck %s --check-prefix=CANON

// Loops and branches that nobody uses go, whatever they use from outside; those that are used lose their dead ops.

// DCE-LABEL: @dead
// DCE-NEXT: return %x
func.func @dead(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.add %x, %c : tensor<4xf32>
  %1:2 = stablehlo.while(%a = %i, %b = %0) : tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %a, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %d = stablehlo.multiply %b, %0 : tensor<4xf32>
    stablehlo.return %a, %d : tensor<i32>, tensor<4xf32>
  }
  %2 = "stablehlo.case"(%i) ({
    stablehlo.return %1#1 : tensor<4xf32>
  }, {
    %3 = stablehlo.negate %0 : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

// DCE-LABEL: @dead_inside
// DCE: do {
// DCE-NEXT: %[[D:.*]] = stablehlo.multiply
// DCE-NEXT: stablehlo.return %[[D]]
func.func @dead_inside(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = stablehlo.while(%b = %x) : tensor<4xf32>
  cond {
    %1 = stablehlo.add %b, %b : tensor<4xf32>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.add %b, %x : tensor<4xf32>
    %2 = stablehlo.negate %1 : tensor<4xf32>
    %d = stablehlo.multiply %b, %x : tensor<4xf32>
    stablehlo.return %d : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// Equal loops are one; what one region computes is not there for the other, nor for what follows.

// CSE-LABEL: @equal_loops
// CSE: stablehlo.while
// CSE: do {
// CSE-NEXT: %[[A:[0-9]+]] = stablehlo.add %x, %x
// CSE-NEXT: %[[B:[0-9]+]] = stablehlo.multiply %[[A]], %[[A]]
// CSE-NEXT: stablehlo.return %[[B]]
// CSE-NEXT: }
// CSE-NEXT: %[[S:[0-9]+]] = stablehlo.add %x, %x
// CSE-NEXT: return %[[W:[0-9]+]], %[[W]], %[[S]]
func.func @equal_loops(%x: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.while(%b = %x) : tensor<4xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %3 = stablehlo.add %x, %x : tensor<4xf32>
    %4 = stablehlo.add %x, %x : tensor<4xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<4xf32>
    stablehlo.return %5 : tensor<4xf32>
  }
  %1 = stablehlo.while(%b = %x) : tensor<4xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %3 = stablehlo.add %x, %x : tensor<4xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<4xf32>
    stablehlo.return %4 : tensor<4xf32>
  }
  %2 = stablehlo.add %x, %x : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Loops that take other values from outside are not equal.

// CSE-LABEL: @unequal_loops
// CSE-COUNT-2: "stablehlo.if"
func.func @unequal_loops(%x: tensor<4xf32>, %y: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %y : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %1 = "stablehlo.if"(%p) ({
    stablehlo.return %y : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Shape ops in a region compose with those outside; what is then unused outside goes, and nothing else moves.

// CANON-LABEL: @composed
// CANON-NEXT: %[[W:.*]] = stablehlo.while(%iterArg = %x) : tensor<4x8xf32>
// CANON: do {
// CANON-NEXT: %[[D:.*]] = stablehlo.add %x, %iterArg
// CANON-NEXT: stablehlo.return %[[D]]
// CANON: return %[[W]]
func.func @composed(%x: tensor<4x8xf32>, %p: tensor<i1>) -> tensor<4x8xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.while(%iterArg = %x) : tensor<4x8xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %2 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %3 = stablehlo.add %2, %iterArg : tensor<4x8xf32>
    stablehlo.return %3 : tensor<4x8xf32>
  }
  return %1 : tensor<4x8xf32>
}

// -----

// Of a branch whose index is known stays what is taken, also where another one gives the index; where no branch has its
// number, the last.

// CANON-LABEL: @known
// CANON-NEXT: %[[A:.*]] = stablehlo.negate %x
// CANON-NEXT: %[[B:.*]] = stablehlo.abs %x
// CANON-NEXT: %[[C:.*]] = stablehlo.sine %x
// CANON-NEXT: return %[[A]], %[[B]], %x, %[[C]]
func.func @known(%x: tensor<4xf32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t = stablehlo.constant dense<true> : tensor<i1>
  %c = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<-1> : tensor<i32>
  %0 = "stablehlo.case"(%c) ({
    stablehlo.return %n : tensor<i32>
  }, {
    %z = stablehlo.constant dense<0> : tensor<i32>
    stablehlo.return %z : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  %1 = "stablehlo.case"(%0) ({
    %4 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %4 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %2:2 = "stablehlo.case"(%n) ({
    stablehlo.return %x, %x : tensor<4xf32>, tensor<4xf32>
  }, {
    %4 = stablehlo.abs %x : tensor<4xf32>
    stablehlo.return %4, %x : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
  %3 = "stablehlo.if"(%t) ({
    %5 = "stablehlo.case"(%i) ({
      %4 = stablehlo.sine %x : tensor<4xf32>
      stablehlo.return %4 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    stablehlo.return %5 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %1, %2#0, %2#1, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CANON-LABEL: @unknown_stays
// CANON: "stablehlo.if"(%p)
func.func @unknown_stays(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
