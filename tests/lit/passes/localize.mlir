// RUN: shardwright-opt %s -p localize --split-input-file | filecheck %s

// Types become those of one device; the global side of arguments and results stays in attributes.
// CHECK-LABEL: module @types attributes {dtensor.stage = "local"}
module @types attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK: func.func public @main(%a: tensor<2x4xf32> {jax.buffer_donor = true, dtensor.layout = #dtensor.layout<@mesh, [{"x"}, {"y"}]>, dtensor.global_type = tensor<4x8xf32>})
  // CHECK-SAME: -> (tensor<2x4xf32> {dtensor.layout = #dtensor.layout<@mesh, [{"x"}, {"y"}]>, dtensor.global_type = tensor<4x8xf32>})
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>> {jax.buffer_donor = true}) -> tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>> {
    // CHECK-NEXT: %0 = stablehlo.negate %a : tensor<2x4xf32>
    // CHECK-NEXT: return %0 : tensor<2x4xf32>
    %0 = stablehlo.negate %a : tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
    return %0 : tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
  }
}

// -----

// Two axes on a dim divide it twice; a partial value has the shape of the whole.
// CHECK-LABEL: module @shapes
module @shapes attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  // CHECK: @main(%a: tensor<2x8xf32> {{{.*}}}, %b: tensor<4x8xf32> {{{.*}}unreduced=sum{"x"}{{.*}}})
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x", "y"}, {}]>>, %b: tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>) -> tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>> {
    // CHECK-NEXT: %0 = dtensor.all_reduce sum @mesh {"x"} %b : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %0 = dtensor.all_reduce sum @mesh {"x"} %b : (tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>) -> tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    // CHECK-NEXT: %1 = dtensor.all_gather @mesh [{"y"}, {}] %a : (tensor<2x8xf32>) -> tensor<4x8xf32>
    %1 = dtensor.all_gather @mesh [{"y"}, {}] %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x", "y"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %0 : tensor<4x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
  }
}

// -----

// Along a split dim a device counts from its index times its size: 4 of 16 elements each, so device 2 starts from 8.
// What is made keeps the name.
// CHECK-LABEL: module @iota
module @iota attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main() -> tensor<16x2xi32, #dtensor.layout<@mesh, [{"y", "x"}, {}]>> {
    // CHECK: [[index:%.*]] = dtensor.axis_index @mesh {"y", "x"} : tensor<i32>
    // CHECK-NEXT: [[size:%.*]] = stablehlo.constant dense<4> : tensor<i32>
    // CHECK-NEXT: [[offset:%.*]] = stablehlo.multiply [[index]], [[size]] : tensor<i32>
    // CHECK-NEXT: [[start:%.*]] = stablehlo.broadcast_in_dim [[offset]], dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    // CHECK-NEXT: [[count:%.*]] = stablehlo.iota dim = 0 : tensor<4x2xi32>
    // CHECK-NEXT: %places = stablehlo.add [[count]], [[start]] : tensor<4x2xi32>
    // CHECK-NEXT: return %places
    %places = stablehlo.iota dim = 0 : tensor<16x2xi32, #dtensor.layout<@mesh, [{"y", "x"}, {}]>>
    return %places : tensor<16x2xi32, #dtensor.layout<@mesh, [{"y", "x"}, {}]>>
  }
}

// -----

// Split along another dim it is only smaller.
// CHECK-LABEL: module @iota_across
module @iota_across attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2]>
  func.func public @main() -> tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> {
    // CHECK: %0 = stablehlo.iota dim = 1 : tensor<2x8xf32>
    // CHECK-NEXT: return %0
    %0 = stablehlo.iota dim = 1 : tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %0 : tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  }
}

// -----

// A splat is a smaller splat; a scalar stays what it is.
// CHECK-LABEL: module @constants
module @constants attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main() -> (tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>, tensor<f32, #dtensor.layout<@mesh, []>>) {
    // CHECK: stablehlo.constant dense<1.500000e+00> : tensor<2x4xf32>
    %0 = stablehlo.constant dense<1.5> : tensor<4x8xf32> -> tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
    // CHECK-NEXT: stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.constant dense<0xFF800000> : tensor<f32> -> tensor<f32, #dtensor.layout<@mesh, []>>
    return %0, %1 : tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>, tensor<f32, #dtensor.layout<@mesh, []>>
  }
}

// -----

// A slice takes dims that are split whole: to the end of the local size.
// CHECK-LABEL: module @slice
module @slice attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x3xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> {
    // CHECK: stablehlo.slice %a [0:2, 1:7:2] : (tensor<2x8xf32>) -> tensor<2x3xf32>
    %0 = stablehlo.slice %a [0:8, 1:7:2] : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x3xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %0 : tensor<8x3xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  }
}

// -----

// Shapes that ops carry in their result types follow: broadcast, reshape, reduce, dot_general.
// CHECK-LABEL: module @results
module @results attributes {dtensor.stage = "planned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{"y"}], unreduced=sum{"x"}>> {
    // CHECK: stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<3x2x4xf32>
    %0 = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<3x4x8xf32, #dtensor.layout<@mesh, [{}, {"x"}, {"y"}]>>
    // CHECK-NEXT: stablehlo.reshape %a : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %1 = stablehlo.reshape %a : (tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<2x2x8xf32, #dtensor.layout<@mesh, [{"x"}, {}, {"y"}]>>
    %2 = stablehlo.constant dense<0.0> : tensor<f32> -> tensor<f32, #dtensor.layout<@mesh, []>>
    // CHECK: stablehlo.reduce(%a init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.reduce(%a init: %2) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>, tensor<f32, #dtensor.layout<@mesh, []>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{"y"}], unreduced=sum{"x"}>>
    return %3 : tensor<8xf32, #dtensor.layout<@mesh, [{"y"}], unreduced=sum{"x"}>>
  }
}
