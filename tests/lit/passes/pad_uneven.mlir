// RUN: shardwright-opt %s -p import-sdy,pad-uneven --split-input-file | filecheck %s

// Elements are computed with their padding, which nobody looks at.
// CHECK-LABEL: module @elementwise
module @elementwise {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<10xf32> {
    // CHECK: @main(%a: tensor<12xf32, #dtensor.layout<@mesh, [{"x"}]>> {dtensor.global_type = tensor<10xf32>}) -> (tensor<12xf32> {dtensor.global_type = tensor<10xf32>})
    // CHECK-NEXT: %0 = stablehlo.exponential %a
    // CHECK-NEXT: return %0 : tensor<12xf32>
    %0 = stablehlo.exponential %a : (tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

// What divides stays as it is.
// CHECK-LABEL: module @even
module @even {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32> {
    // CHECK: @main(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32>
    // CHECK-NEXT: %0 = stablehlo.reverse %a
    // CHECK-NEXT: return %0
    %0 = stablehlo.reverse %a, dims = [0] : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// Masked by what changes nothing: of a largest, by what is smaller than all.
// CHECK-LABEL: module @largest
module @largest {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<10xi32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<i32> {
    // CHECK: %[[LIMIT:.*]] = stablehlo.constant dense<10> : tensor<12xi32>
    // CHECK-NEXT: %[[INSIDE:.*]] = stablehlo.compare LT, %{{.*}}, %[[LIMIT]]
    // CHECK: %[[LOWEST:.*]] = stablehlo.constant dense<-2147483648> : tensor<12xi32>
    // CHECK-NEXT: %[[MASKED:.*]] = stablehlo.select %{{.*}}, %a, %[[LOWEST]]
    // CHECK-NEXT: stablehlo.reduce(%[[MASKED]] init:
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.reduce(%a init: %0) applies stablehlo.maximum across dimensions = [0] : (tensor<10xi32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<i32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
}

// -----

// Both sides of a product are masked: what is infinite on one would make NaN of the other's zeros.
// CHECK-LABEL: module @product
module @product {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<10x2xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %b: tensor<10x3xf32>) -> tensor<2x3xf32> {
    // CHECK: %[[LEFT:.*]] = stablehlo.select %{{.*}}, %a, %
    // CHECK: %[[RIGHT:.*]] = stablehlo.select %{{.*}}, %b, %
    // CHECK-NEXT: stablehlo.dot_general %[[LEFT]], %[[RIGHT]]
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<10x2xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<10x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----

// What has no form of its own is done without padding, which is put back behind it.
// CHECK-LABEL: module @transformed
module @transformed {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<10xcomplex<f32>, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<10xcomplex<f32>> {
    // CHECK: %[[CUT:.*]] = stablehlo.slice %a [0:10] : {{.*}} -> tensor<10xcomplex<f32>>
    // CHECK-NEXT: %[[MADE:.*]] = stablehlo.fft %[[CUT]]
    // CHECK: %[[PADDED:.*]] = stablehlo.pad %[[MADE]], %{{.*}}, low = [0], high = [2], interior = [0]
    // CHECK-NEXT: stablehlo.add %[[PADDED]], %a : {{.*}} -> tensor<12xcomplex<f32>>
    %0 = stablehlo.fft %a, type = FFT, length = [10]
        : (tensor<10xcomplex<f32>, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<10xcomplex<f32>>
    %1 = stablehlo.add %0, %a
        : (tensor<10xcomplex<f32>>, tensor<10xcomplex<f32>, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<10xcomplex<f32>>
    return %1 : tensor<10xcomplex<f32>>
  }
}

// -----

// Where sorts are stable, padding that holds what comes last stays behind: of integers the least or largest, of floats the
// NaN behind all others, or, where all NaNs are one and come first, minus infinity.
// CHECK-LABEL: module @sorted
module @sorted {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>, %b: tensor<10xi32>)
      -> (tensor<10xf32>, tensor<10xi32>, tensor<10xf32>, tensor<10xf32>) {
    // CHECK: %[[LEAST:.*]] = stablehlo.constant dense<-2147483648> : tensor<12xi32>
    // CHECK-NEXT: %[[B:.*]] = stablehlo.select %[[VALID:.*]], %b, %[[LEAST]]
    // CHECK-NEXT: "stablehlo.sort"(%a, %[[B]]) <{dimension = 0 : i64, is_stable = true}>
    %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
      %3 = stablehlo.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }) : (tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<10xi32>) -> (tensor<10xf32>, tensor<10xi32>)
    // CHECK: %[[NAN:.*]] = stablehlo.constant dense<0x7FFFFFFF> : tensor<12xf32>
    // CHECK-NEXT: stablehlo.select %[[VALID]], %a, %[[NAN]]
    %1 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %3 = stablehlo.compare LT, %l, %r, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }) : (tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<10xf32>
    // CHECK: %[[INF:.*]] = stablehlo.constant dense<0xFF800000> : tensor<12xf32>
    // CHECK-NEXT: stablehlo.select %[[VALID]], %a, %[[INF]]
    %2 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %p = stablehlo.compare NE, %l, %l : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %q = stablehlo.compare NE, %r, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %x = stablehlo.select %p, %nan, %l : tensor<i1>, tensor<f32>
      %y = stablehlo.select %q, %nan, %r : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare GT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }) : (tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<10xf32>
    return %0#0, %0#1, %1, %2 : tensor<10xf32>, tensor<10xi32>, tensor<10xf32>, tensor<10xf32>
  }
}

// -----

// In other orders it is where elements stood that tells padding: an operand says it, or one that is put there.
// CHECK-LABEL: module @sorted_by_places
module @sorted_by_places {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> (tensor<10xf32>, tensor<10xi32>) {
    // CHECK: %[[PLACES:.*]] = stablehlo.iota dim = 0 : tensor<12xi32>
    // CHECK-NEXT: "stablehlo.sort"(%a, %[[PLACES]]) <{dimension = 0 : i64, is_stable = true}> ({
    // CHECK-NEXT: ^bb0(%[[L:.*]]: tensor<f32>, %[[R:.*]]: tensor<f32>, %[[I:.*]]: tensor<i32>, %[[J:.*]]: tensor<i32>):
    // CHECK-NEXT:   %[[LIMIT:.*]] = stablehlo.constant dense<10> : tensor<i32>
    // CHECK-NEXT:   %[[FIRST:.*]] = stablehlo.compare GE, %[[I]], %[[LIMIT]]
    // CHECK-NEXT:   %[[SECOND:.*]] = stablehlo.compare GE, %[[J]], %[[LIMIT]]
    // CHECK-NEXT:   %[[BEFORE:.*]] = stablehlo.compare LT, %[[L]], %[[R]] :
    // CHECK-NEXT:   %[[ALIKE:.*]] = stablehlo.compare EQ, %[[FIRST]], %[[SECOND]]
    // CHECK-NEXT:   %[[BOTH:.*]] = stablehlo.and %[[ALIKE]], %[[BEFORE]]
    // CHECK-NEXT:   %[[VALID:.*]] = stablehlo.compare LT, %[[FIRST]], %[[SECOND]]
    // CHECK-NEXT:   %[[OR:.*]] = stablehlo.or %[[VALID]], %[[BOTH]]
    // CHECK-NEXT:   stablehlo.return %[[OR]]
    %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %1 = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<10xf32>
    // CHECK: "stablehlo.sort"(%a, %[[PLACES]])
    %i = stablehlo.iota dim = 0 : tensor<10xi32>
    %2:2 = "stablehlo.sort"(%a, %i) <{dimension = 0 : i64}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>, %m: tensor<i32>, %n: tensor<i32>):
      %1 = stablehlo.compare GT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<10xi32>) -> (tensor<10xf32>, tensor<10xi32>)
    return %0, %2#1 : tensor<10xf32>, tensor<10xi32>
  }
}

// -----

// A slice up to the end takes padding along, by moving the elements.
// CHECK-LABEL: module @tail
module @tail {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<7xf32> {
    // CHECK: %[[TAIL:.*]] = stablehlo.slice %a [3:11] : {{.*}} -> tensor<8xf32>
    // CHECK-NEXT: return %[[TAIL]] : tensor<8xf32>
    %0 = stablehlo.slice %a [3:10] : (tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<7xf32>
    return %0 : tensor<7xf32>
  }
}

// -----

// A negative edge cuts less, and what is seen behind the last element is the padding value.
// CHECK-LABEL: module @edges
module @edges {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>, %v: tensor<f32>) -> tensor<11xf32> {
    // CHECK: %[[VALUE:.*]] = stablehlo.broadcast_in_dim %v, dims = []
    // CHECK-NEXT: %[[MASKED:.*]] = stablehlo.select %{{.*}}, %a, %[[VALUE]]
    // CHECK-NEXT: stablehlo.pad %[[MASKED]], %v, low = [-1], high = [1], interior = [0] : {{.*}} -> tensor<12xf32>
    %0 = stablehlo.pad %a, %v, low = [-1], high = [2], interior = [0] : (tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<f32>) -> tensor<11xf32>
    return %0 : tensor<11xf32>
  }
}

// -----

// Reversed, padding stands in front: what is behind it moves up.
// CHECK-LABEL: module @backwards
module @backwards {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<10xf32> {
    // CHECK: %[[TURNED:.*]] = stablehlo.reverse %a, dims = [0]
    // CHECK: %[[MOVED:.*]] = stablehlo.pad %[[TURNED]], %{{.*}}, low = [-2], high = [2], interior = [0]
    // CHECK-NEXT: return %[[MOVED]]
    %0 = stablehlo.reverse %a, dims = [0] : (tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

// Operands are moved to where they stand and chosen by position.
// CHECK-LABEL: module @joined
module @joined {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>, %b: tensor<3xf32>) -> tensor<13xf32> {
    // CHECK: %[[A:.*]] = stablehlo.pad %a, %{{.*}}, low = [0], high = [4], interior = [0]
    // CHECK: %[[B:.*]] = stablehlo.pad %b, %{{.*}}, low = [10], high = [2], interior = [0]
    // CHECK: %[[LIMIT:.*]] = stablehlo.constant dense<10>
    // CHECK: stablehlo.select %{{.*}}, %[[A]], %[[B]]
    %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<3xf32>) -> tensor<13xf32>
    return %0 : tensor<13xf32>
  }
}

// -----

// Padding of an outermost dim stands behind all elements, so dims merge with it.
// CHECK-LABEL: module @merged
module @merged {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<10x3xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<30xf32> {
    // CHECK: %[[LONG:.*]] = stablehlo.reshape %a : {{.*}} -> tensor<36xf32>
    // CHECK: %[[CUT:.*]] = stablehlo.pad %[[LONG]], %{{.*}}, low = [0], high = [-4], interior = [0]
    // CHECK-NEXT: stablehlo.reshape %[[CUT]] : {{.*}} -> tensor<32xf32>
    %0 = stablehlo.reshape %a : (tensor<10x3xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<30xf32>
    return %0 : tensor<30xf32>
  }
}

// -----

// A start is clamped by the elements that there are, not by padding.
// CHECK-LABEL: module @picked
module @picked {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>, %i: tensor<i32>) -> tensor<3xf32> {
    // CHECK: %[[LAST:.*]] = stablehlo.constant dense<7> : tensor<i32>
    // CHECK-NEXT: %[[START:.*]] = stablehlo.clamp %{{.*}}, %i, %[[LAST]]
    // CHECK-NEXT: %[[PART:.*]] = stablehlo.dynamic_slice %a, %[[START]], sizes = [3]
    %0 = stablehlo.dynamic_slice %a, %i, sizes = [3] : (tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<i32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

// -----

// Rows that are padding write nothing.
// CHECK-LABEL: module @written
module @written {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<5xf32>, %i: tensor<10x1xi32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %u: tensor<10xf32>) -> tensor<5xf32> {
    // CHECK: %[[OUTSIDE:.*]] = stablehlo.constant dense<-1> : tensor<12x1xi32>
    // CHECK-NEXT: %[[INDICES:.*]] = stablehlo.select %{{.*}}, %i, %[[OUTSIDE]]
    // CHECK-NEXT: "stablehlo.scatter"(%a, %[[INDICES]], %u)
    %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %1 = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<5xf32>, tensor<10x1xi32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<10xf32>) -> tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}

// -----

// What rolls around comes from the last element that there is.
// CHECK-LABEL: module @rolled
module @rolled {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<10xf32> {
    // CHECK: %[[AROUND:.*]] = stablehlo.pad %a, %{{.*}}, low = [-7], high = [7], interior = [0]
    // CHECK: %[[BEHIND:.*]] = stablehlo.pad %a, %{{.*}}, low = [3], high = [-3], interior = [0]
    // CHECK: stablehlo.constant dense<3> : tensor<12xi32>
    // CHECK: stablehlo.select %{{.*}}, %[[AROUND]], %[[BEHIND]]
    %0 = dtensor.roll %a, dim = 0 by 3 : (tensor<10xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}
