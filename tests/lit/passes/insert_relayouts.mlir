// RUN: shardwright-opt %s -p 'propagate-layouts{refine=false},insert-relayouts' --split-input-file | filecheck %s

// A contraction that is split leaves partial sums, finished at the end of the function.
// CHECK-LABEL: module @contraction
module @contraction {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> (tensor<4x4xf32>) {
    // CHECK: %0 = stablehlo.dot_general %a, %b{{.*}} -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
    // CHECK-NEXT: %1 = dtensor.relayout %0 {reason = "result 0 of the function needs it finished, and stablehlo.dot_general at {{.*}} left it partial by its rule i k, k j -> i j {{.*}}"} : tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>> -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
    // CHECK-NEXT: return %1
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

// A sharded result is reached from the partial sums in one step.
// CHECK-LABEL: module @scatter
module @scatter {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> (tensor<4x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) {
    // CHECK: %0 = stablehlo.dot_general %a, %b
    // CHECK-NEXT: %1 = dtensor.relayout %0 {reason = "the user's layout at {{\S+}}:27:10 needs it finished, and stablehlo.dot_general at {{.*}}"} : tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>> -> tensor<4x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    // CHECK-NEXT: return %1
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    %1 = dtensor.constraint %0 : tensor<4x4xf32> -> tensor<4x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %1 : tensor<4x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  }
}

// -----

// Partial sums that meet in linear ops are finished once.
// CHECK-LABEL: module @three_sums
module @three_sums {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> (tensor<4x4xf32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    %2 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    // CHECK: %3 = stablehlo.subtract %0, %1 : tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
    // CHECK-NEXT: %4 = stablehlo.add %3, %2 : tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
    // CHECK-NEXT: %5 = dtensor.relayout %4
    // CHECK-NOT: dtensor.relayout
    %3 = stablehlo.subtract %0, %1 : tensor<4x4xf32>
    %4 = stablehlo.add %3, %2 : tensor<4x4xf32>
    return %4 : tensor<4x4xf32>
  }
}

// -----

// They pass transposes, reshapes, negation, products and quotients with a finished value, and masks by zero.
// CHECK-LABEL: module @linear_ops
module @linear_ops {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %c: tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>, %p: tensor<4x4xi1, #dtensor.layout<@mesh, [{}, {}]>>) -> (tensor<4x4xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<4x4xf32>
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    // CHECK: = stablehlo.transpose {{.*}} -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
    %2 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK-NEXT: = stablehlo.negate {{.*}}unreduced=sum{"x"}
    %3 = stablehlo.negate %2 : tensor<4x4xf32>
    // CHECK-NEXT: = stablehlo.multiply {{.*}} -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
    %4 = stablehlo.multiply %c, %3 : (tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>, tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK-NEXT: = stablehlo.divide {{.*}} -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
    %5 = stablehlo.divide %4, %c : (tensor<4x4xf32>, tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<4x4xf32>
    // CHECK: = stablehlo.select {{.*}} -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
    %6 = stablehlo.select %p, %5, %zero : (tensor<4x4xi1, #dtensor.layout<@mesh, [{}, {}]>>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK-NEXT: = stablehlo.reshape {{.*}} -> tensor<16xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>
    %7 = stablehlo.reshape %6 : (tensor<4x4xf32>) -> tensor<16xf32>
    %8 = stablehlo.reshape %7 : (tensor<16xf32>) -> tensor<4x4xf32>
    // CHECK: = stablehlo.add {{.*}} : tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
    // CHECK-NEXT: = dtensor.relayout
    // CHECK-NEXT: return
    %9 = stablehlo.add %8, %1 : tensor<4x4xf32>
    return %9 : tensor<4x4xf32>
  }
}

// -----

// A value that is as large later on is finished at once: waiting would gain nothing.
// CHECK-LABEL: module @growing
module @growing {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> (tensor<4x4xf32>) {
    // CHECK: = dtensor.relayout %0
    // CHECK-NEXT: = stablehlo.negate
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    %1 = stablehlo.negate %0 : tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}

// -----

// One that shrinks is finished where it is smallest.
// CHECK-LABEL: module @shrinking
module @shrinking {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> (tensor<4xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    // CHECK: = stablehlo.dot_general
    // CHECK-NOT: dtensor.relayout
    // CHECK: = stablehlo.reduce
    // CHECK-NEXT: = dtensor.relayout {{.*}} : tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// A conversion to a wider float passes them on: three sums of 2 bytes are dearer than one of 4.
// CHECK-LABEL: module @widening
module @widening {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xbf16, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<8x4xbf16, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> (tensor<4x4xf32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xbf16, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xbf16, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xbf16>
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xbf16, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xbf16, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xbf16>
    %2 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xbf16, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xbf16, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xbf16>
    // CHECK: = stablehlo.convert {{.*}} -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
    %3 = stablehlo.convert %0 : (tensor<4x4xbf16>) -> tensor<4x4xf32>
    %4 = stablehlo.convert %1 : (tensor<4x4xbf16>) -> tensor<4x4xf32>
    %5 = stablehlo.convert %2 : (tensor<4x4xbf16>) -> tensor<4x4xf32>
    %6 = stablehlo.add %3, %4 : tensor<4x4xf32>
    // CHECK: = stablehlo.add
    // CHECK: = stablehlo.add
    // CHECK-NEXT: = dtensor.relayout
    // CHECK-NEXT: return
    %7 = stablehlo.add %6, %5 : tensor<4x4xf32>
    return %7 : tensor<4x4xf32>
  }
}

// -----

// A narrower float would round each part: finished before.
// CHECK-LABEL: module @narrowing
module @narrowing {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> (tensor<4x4xbf16>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    // CHECK-COUNT-2: = dtensor.relayout {{.*}}unreduced=sum{"x"}
    // CHECK: = stablehlo.convert {{.*}} -> tensor<4x4xbf16, #dtensor.layout<@mesh, [{}, {}]>>
    %2 = stablehlo.convert %0 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
    %3 = stablehlo.convert %1 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
    %4 = stablehlo.add %2, %3 : tensor<4x4xbf16>
    return %4 : tensor<4x4xbf16>
  }
}

// -----

// Ops that are not linear get finished operands, even where two sums could meet after them.
// CHECK-LABEL: module @not_linear
module @not_linear {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> (tensor<4x4xf32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    // CHECK: = dtensor.relayout %0
    // CHECK-NEXT: = stablehlo.exponential
    %2 = stablehlo.exponential %0 : tensor<4x4xf32>
    // CHECK-NEXT: = dtensor.relayout %1
    // CHECK-NEXT: = stablehlo.abs
    %3 = stablehlo.abs %1 : tensor<4x4xf32>
    // CHECK-NEXT: = stablehlo.add {{.*}} : tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %4 = stablehlo.add %2, %3 : tensor<4x4xf32>
    return %4 : tensor<4x4xf32>
  }
}

// -----

// A product is linear in each factor alone: of two sums both are finished, and so is the square's.
// CHECK-LABEL: module @not_twice
module @not_twice {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> (tensor<4x4xf32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    // CHECK: = dtensor.relayout %0
    // CHECK-NEXT: = dtensor.relayout %1
    // CHECK-NEXT: = stablehlo.multiply {{.*}} : tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %2 = stablehlo.multiply %0, %1 : tensor<4x4xf32>
    // CHECK-NEXT: = stablehlo.multiply {{.*}} : tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %3 = stablehlo.multiply %0, %0 : tensor<4x4xf32>
    %4 = stablehlo.add %2, %3 : tensor<4x4xf32>
    return %4 : tensor<4x4xf32>
  }
}

// -----

// Adding a finished value to each part would count it twice.
// CHECK-LABEL: module @not_added_to_a_whole
module @not_added_to_a_whole {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %c: tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> (tensor<4x4xf32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32>
    // CHECK: = dtensor.relayout %0
    %2 = stablehlo.add %0, %c : (tensor<4x4xf32>, tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<4x4xf32>
    // CHECK: = dtensor.relayout %1
    %3 = stablehlo.add %2, %1 : tensor<4x4xf32>
    return %3 : tensor<4x4xf32>
  }
}

// -----

// Integer division rounds each part.
// CHECK-LABEL: module @not_integer_division
module @not_integer_division {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xi32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<8x4xi32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> (tensor<4x4xi32>) {
    %three = stablehlo.constant dense<3> : tensor<4x4xi32>
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xi32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xi32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xi32>
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xi32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<8x4xi32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xi32>
    // CHECK: = dtensor.relayout %0
    // CHECK: = stablehlo.divide
    // CHECK-NEXT: = dtensor.relayout %1
    // CHECK-NEXT: = stablehlo.divide
    %2 = stablehlo.divide %0, %three : tensor<4x4xi32>
    %3 = stablehlo.divide %1, %three : tensor<4x4xi32>
    %4 = stablehlo.add %2, %3 : tensor<4x4xi32>
    return %4 : tensor<4x4xi32>
  }
}

// -----

// Greatest values meet in maximum, after broadcasts; a negation would turn them round.
// CHECK-LABEL: module @greatest
module @greatest {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> (tensor<4x1xf32>, tensor<4xf32>) {
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    // CHECK: = stablehlo.reduce(%a {{.*}} -> tensor<4xf32, #dtensor.layout<@mesh, [{}], unreduced=max{"x"}>>
    %0 = stablehlo.reduce(%a init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.reduce(%b init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<f32>) -> tensor<4xf32>
    // CHECK: = stablehlo.broadcast_in_dim {{.*}} -> tensor<4x1xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=max{"x"}>>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    // CHECK: [[most:%.*]] = stablehlo.maximum {{.*}} : tensor<4x1xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=max{"x"}>>
    %4 = stablehlo.maximum %2, %3 : tensor<4x1xf32>
    // CHECK: = stablehlo.reduce
    // CHECK-NEXT: = dtensor.relayout {{.*}}unreduced=max{"x"}
    // CHECK-NEXT: = stablehlo.negate
    // CHECK-NEXT: = dtensor.relayout [[most]] {{.*}} : tensor<4x1xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=max{"x"}>>
    %5 = stablehlo.reduce(%a init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<f32>) -> tensor<4xf32>
    %6 = stablehlo.negate %5 : tensor<4xf32>
    return %4, %5 : tensor<4x1xf32>, tensor<4xf32>
  }
}

// -----

// A reduction that starts from 2 would start from it on every device: its dim is kept whole.
// CHECK-LABEL: module @not_the_identity
module @not_the_identity {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> (tensor<4xf32>) {
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    // The reduced dim is needed whole: its axis moves to the other one, and only the small result is gathered.
    // CHECK: = dtensor.relayout %a {{.*}} : tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>> -> tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    // CHECK: = stablehlo.reduce
    // CHECK: = dtensor.relayout {{.*}} : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>> -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
    // CHECK-NEXT: return
    %0 = stablehlo.reduce(%a init: %two) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<f32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// What is gathered for one user is there for the next.
// CHECK-LABEL: module @shared
module @shared {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<8x4xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %b: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> (tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) {
    // CHECK: %0 = dtensor.relayout %a {{.*}} : tensor<8x4xf32, #dtensor.layout<@mesh, [{}, {"x"}]>> -> tensor<8x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
    // CHECK-NEXT: = stablehlo.reshape %0
    // CHECK-NEXT: = stablehlo.reshape %0
    // CHECK-NOT: dtensor.relayout
    %0 = stablehlo.reshape %a : (tensor<8x4xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> tensor<32xf32>
    %1 = stablehlo.reshape %a : (tensor<8x4xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> tensor<32x1xf32>
    %3 = stablehlo.reshape %0 : (tensor<32xf32>) -> tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %4 = stablehlo.reshape %1 : (tensor<32x1xf32>) -> tensor<8x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %2 = stablehlo.dot_general %4, %3, contracting_dims = [1] x [0] : (tensor<8x4xf32, #dtensor.layout<@mesh, [{}, {}]>>, tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    return %2 : tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
  }
}

// -----

// Constants and iotas are made where they are used, in the layout that is wanted, once for each.
// CHECK-LABEL: module @made_anew
module @made_anew {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, %b: tensor<4xf32, #dtensor.layout<@mesh, [{}]>>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %i = stablehlo.iota dim = 0 : tensor<4xf32>
    // CHECK: [[split:%.*]] = stablehlo.iota dim = 0 : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
    // CHECK-NEXT: = stablehlo.add %a, [[split]]
    %0 = stablehlo.add %a, %i : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: [[whole:%.*]] = stablehlo.iota dim = 0 : tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
    // CHECK-NEXT: = stablehlo.add %b, [[whole]]
    %1 = stablehlo.add %b, %i : (tensor<4xf32, #dtensor.layout<@mesh, [{}]>>, tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: = stablehlo.multiply {{.*}}, [[split]]
    // CHECK-NEXT: return
    %2 = stablehlo.multiply %0, %i : tensor<4xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A constant with different elements is kept whole on every device, and sliced for its users.
// CHECK-LABEL: module @tables
module @tables {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> (tensor<4xf32>) {
    %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    // CHECK: = stablehlo.constant {{.*}}#dtensor.layout<@mesh, [{}]>
    // CHECK-NEXT: = dtensor.relayout {{.*}} -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
    %0 = stablehlo.add %a, %c : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A relayout says who asked, by which rule, and what the best other way would send: here gathering %a: half of its 128 bytes.
// CHECK-LABEL: module @reasons
module @reasons {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %b: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) {
    // CHECK: = dtensor.relayout
    // CHECK-SAME: needs it by its rule i j, i j -> i j {{.*}}; the alternative [nothing split] would send 64 bytes per device"
    %0 = stablehlo.add %a, %b : (tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    return %0 : tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
  }
}

// -----

// What is computed of nothing but constants and iotas is made in any layout as well: the mask is never relaid.
// CHECK-LABEL: module @mask
module @mask {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %b: tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    // CHECK: [[ROWS:%.*]] = stablehlo.iota dim = 0 : tensor<4x4xi32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    // CHECK: [[COLUMNS:%.*]] = stablehlo.iota dim = 1 : tensor<4x4xi32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    // CHECK: [[MASK:%.*]] = stablehlo.compare GE, [[ROWS]], [[COLUMNS]]
    // CHECK: stablehlo.select [[MASK]], %a
    // CHECK-NOT: relayout
    // CHECK: stablehlo.compare GE, {{.*}} -> tensor<4x4xi1, #dtensor.layout<@mesh, [{}, {"x"}]>>
    // CHECK-NOT: relayout
    // CHECK: return
    %rows = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %columns = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %mask = stablehlo.compare GE, %rows, %columns, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %zero = stablehlo.constant dense<0.0> : tensor<4x4xf32>
    %0 = stablehlo.select %mask, %a, %zero : (tensor<4x4xi1>, tensor<4x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.select %mask, %b, %zero : (tensor<4x4xi1>, tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
  }
}

// -----

// A sum that is asked for in parts is taken as the product leaves it: no relayout, and the result says so.
// CHECK-LABEL: module @unreduced attributes {dtensor.stage = "aligned"}
module @unreduced attributes {dtensor.stage = "propagated"} {
  dtensor.mesh @mesh = <["x"=2]>
  // CHECK: func.func public @main(%a: tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
  func.func public @main(%a: tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>> {
    // CHECK-NEXT: %[[P:.*]] = stablehlo.dot_general
    // CHECK-NEXT: return %[[P]]
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>>
    %1 = dtensor.constraint %0 : tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}]>> -> tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
    return %1 : tensor<4x4xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
  }
}

// -----

// An update at a known place is moved there by a window; one that may go anywhere is gathered.
// CHECK-LABEL: module @updates
module @updates {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>, %u: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, %v: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, %i: tensor<i32>) -> (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) {
    // CHECK: %[[MOVED:.*]] = dtensor.window @mesh [{"x"}] [-3] by [1] %u {padding = dense<0.000000e+00> : tensor<f32>, reason = "{{.*}}dynamic_update_slice{{.*}} needs it{{.*}}"} : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
    // CHECK: stablehlo.compare GE
    // CHECK: stablehlo.compare LT
    // CHECK: stablehlo.select %{{.*}}, %[[MOVED]], %x
    // CHECK: %[[WHOLE:.*]] = dtensor.relayout %v {{.*}} -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
    // CHECK-NEXT: stablehlo.dynamic_update_slice %x, %[[WHOLE]], %i
    %c = stablehlo.constant dense<3> : tensor<i32>
    %0 = stablehlo.dynamic_update_slice %x, %u, %c : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<i32>) -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
    %1 = stablehlo.dynamic_update_slice %x, %v, %i : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<i32>) -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
    return %0, %1 : tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
  }
}

// -----

// What two ops need of their neighbours alike is exchanged once; what stands outside is chosen anew for each padding.
// CHECK-LABEL: module @two_windows
module @two_windows {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32> {
    // CHECK: %[[WINDOW:.*]] = dtensor.window @mesh [{"x"}] [-1] by [1] frames [6] every [4] %a {padding = dense<0.000000e+00>
    // CHECK-NOT: dtensor.window
    // CHECK: stablehlo.compare GE
    // CHECK: stablehlo.compare LT
    // CHECK: stablehlo.select %{{.*}}, %[[WINDOW]], %{{.*}} : tensor<12xi1, #dtensor.layout<@mesh, [{"x"}]>>
    // CHECK-NOT: dtensor.window
    // CHECK: return
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%a, %zero) <{window_dimensions = array<i64: 3>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<f32>) -> tensor<8xf32>
    %1 = "stablehlo.reduce_window"(%a, %least) <{window_dimensions = array<i64: 3>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %m = stablehlo.maximum %x, %y : tensor<f32>
        stablehlo.return %m : tensor<f32>
    }) : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<f32>) -> tensor<8xf32>
    %2 = stablehlo.subtract %1, %0 : tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}
