// RUN: shardwright-opt %s -p canonicalize | filecheck %s

// CHECK-LABEL: @padded_convolution
func.func @padded_convolution(%a: tensor<2x8x4xf32>, %b: tensor<3x4x2xf32>) -> tensor<2x15x2xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %z, low = [0, 1, 0], high = [0, 0, 0], interior = [0, 1, 0] : (tensor<2x8x4xf32>, tensor<f32>) -> tensor<2x16x4xf32>
  // CHECK-NOT: stablehlo.pad
  // CHECK: stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [{{\[}}1, 1]], lhs_dilate = [2], rhs_dilate = [1], reverse = [false]}
  %1 = stablehlo.convolution(%0, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x4xf32>, tensor<3x4x2xf32>) -> tensor<2x15x2xf32>
  return %1 : tensor<2x15x2xf32>
}

// CHECK-LABEL: @cut_before_padding
func.func @cut_before_padding(%a: tensor<2x8x4xf32>, %b: tensor<3x4x2xf32>) -> tensor<2x6x2xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.slice
  %0 = stablehlo.pad %a, %z, low = [0, -1, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x8x4xf32>, tensor<f32>) -> tensor<2x7x4xf32>
  %1 = stablehlo.convolution(%0, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x7x4xf32>, tensor<3x4x2xf32>) -> tensor<2x6x2xf32>
  return %1 : tensor<2x6x2xf32>
}

// CHECK-LABEL: @padded_batch
func.func @padded_batch(%a: tensor<2x8x4xf32>, %b: tensor<3x4x2xf32>) -> tensor<3x6x2xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.pad
  %0 = stablehlo.pad %a, %z, low = [1, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x8x4xf32>, tensor<f32>) -> tensor<3x8x4xf32>
  %1 = stablehlo.convolution(%0, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x8x4xf32>, tensor<3x4x2xf32>) -> tensor<3x6x2xf32>
  return %1 : tensor<3x6x2xf32>
}

// CHECK-LABEL: @gradient_of_mean
func.func @gradient_of_mean(%a: tensor<8xf32>) -> tensor<16xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %z, low = [2], high = [1], interior = [1] : (tensor<8xf32>, tensor<f32>) -> tensor<18xf32>
  // CHECK-NOT: stablehlo.pad
  // CHECK: "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 1>, base_dilations = array<i64: 2>, window_dilations = array<i64: 1>, padding = dense<[{{\[}}2, 1]]>
  %1 = "stablehlo.reduce_window"(%0, %z) <{window_dimensions = array<i64: 3>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<18xf32>, tensor<f32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}

// CHECK-LABEL: @padded_with_another_value
func.func @padded_with_another_value(%a: tensor<8xf32>) -> tensor<8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %o = stablehlo.constant dense<1.0> : tensor<f32>
  // CHECK: stablehlo.pad
  %0 = stablehlo.pad %a, %o, low = [1], high = [1], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<10xf32>
  %1 = "stablehlo.reduce_window"(%0, %z) <{window_dimensions = array<i64: 3>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<10xf32>, tensor<f32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: @gradient_of_interior_padding
func.func @gradient_of_interior_padding(%a: tensor<64xf32>) -> tensor<32xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: %[[STEPS:.*]] = stablehlo.slice %a [0:64:2] : (tensor<64xf32>) -> tensor<32xf32>
  // CHECK: stablehlo.pad %[[STEPS]], %z, low = [1], high = [-1], interior = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<32xf32>
  %0 = stablehlo.pad %a, %z, low = [2], high = [-3], interior = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<63xf32>
  %1 = stablehlo.slice %0 [0:63:2] : (tensor<63xf32>) -> tensor<32xf32>
  return %1 : tensor<32xf32>
}

// CHECK-LABEL: @gradient_of_max_pool
func.func @gradient_of_max_pool(%a: tensor<8xf32>, %b: tensor<4xf32>, %z: tensor<f32>) -> tensor<8xf32> {
  %m = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.pad %a, %m, low = [1], high = [0], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<9xf32>
  // CHECK-NOT: stablehlo.pad
  // CHECK: "stablehlo.select_and_scatter"(%a, %b, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[{{\[}}1, 0]]> : tensor<1x2xi64>}>
  // CHECK-NOT: stablehlo.slice
  %1 = "stablehlo.select_and_scatter"(%0, %b, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<9xf32>, tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
  %3 = stablehlo.slice %1 [1:9] : (tensor<9xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// CHECK-LABEL: @padded_with_what_may_be_selected
func.func @padded_with_what_may_be_selected(%a: tensor<8xf32>, %b: tensor<4xf32>, %z: tensor<f32>) -> tensor<8xf32> {
  %m = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.pad
  %0 = stablehlo.pad %a, %m, low = [1], high = [0], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<9xf32>
  %1 = "stablehlo.select_and_scatter"(%0, %b, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<9xf32>, tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
  // CHECK: stablehlo.slice
  %3 = stablehlo.slice %1 [1:9] : (tensor<9xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// A window over what little was cut off takes the whole; one over a small part of a large tensor does not.
// CHECK-LABEL: @cut_before_windows
func.func @cut_before_windows(%a: tensor<16xf32>) -> (tensor<10xf32>, tensor<9xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %a [2:14] : (tensor<16xf32>) -> tensor<12xf32>
  %1 = stablehlo.slice %a [2:13] : (tensor<16xf32>) -> tensor<11xf32>
  // CHECK: %[[CUT:.*]] = stablehlo.slice %a [2:13]
  // CHECK: "stablehlo.reduce_window"(%a, %{{.*}}) <{window_dimensions = array<i64: 3>, {{.*}}padding = dense<-2> : tensor<1x2xi64>}>
  %2 = "stablehlo.reduce_window"(%0, %z) <{window_dimensions = array<i64: 3>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<12xf32>, tensor<f32>) -> tensor<10xf32>
  // CHECK: "stablehlo.reduce_window"(%[[CUT]], %{{.*}}) <{window_dimensions = array<i64: 3>}>
  %3 = "stablehlo.reduce_window"(%1, %z) <{window_dimensions = array<i64: 3>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<11xf32>, tensor<f32>) -> tensor<9xf32>
  return %2, %3 : tensor<10xf32>, tensor<9xf32>
}

// Nothing of the operand is left: the places of %a that a step picks are 8 and 10, behind all four of its elements.
// CHECK-LABEL: @steps_over_padding_alone
func.func @steps_over_padding_alone(%a: tensor<8xf32>, %v: tensor<f32>) -> tensor<2xf32> {
  // CHECK: %[[STEPS:.*]] = stablehlo.slice %a [0:8:2] : (tensor<8xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.pad %[[STEPS]], %v, low = [-4], high = [2], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
  %0 = stablehlo.pad %a, %v, low = [-8], high = [4], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.slice %0 [0:4:2] : (tensor<4xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
