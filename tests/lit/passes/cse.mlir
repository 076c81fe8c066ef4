// RUN: shardwright-opt %s -p cse | filecheck %s

// CHECK-LABEL: @chains_merge
// CHECK-NEXT: %0 = stablehlo.add %x, %y
// CHECK-NEXT: %1 = stablehlo.negate %0
// CHECK-NEXT: return %1, %1
func.func @chains_merge(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %1 = stablehlo.add %x, %y : tensor<4xf32>
  %2 = stablehlo.negate %0 : tensor<4xf32>
  %3 = stablehlo.negate %1 : tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @constants_merge_by_bits
// CHECK-NEXT: %[[A:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT: return %[[A]], %[[A]], %[[B]], %[[C]]
func.func @constants_merge_by_bits() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<4xf32>
  %1 = stablehlo.constant dense<[0.0, 0.0, 0.0, 0.0]> : tensor<4xf32>
  %2 = stablehlo.constant dense<-0.0> : tensor<4xf32>
  %3 = stablehlo.constant dense<0.0> : tensor<2xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>
}

// CHECK-LABEL: @attributes_count
// CHECK: stablehlo.iota dim = 0
// CHECK-NEXT: stablehlo.iota dim = 1
// CHECK-NEXT: stablehlo.compare
// CHECK-NEXT: stablehlo.compare
func.func @attributes_count() -> (tensor<4x4xi1>, tensor<4x4xi1>) {
  %0 = stablehlo.iota dim = 0 : tensor<4x4xi32>
  %1 = stablehlo.iota dim = 1 : tensor<4x4xi32>
  %2 = stablehlo.iota dim = 0 : tensor<4x4xi32>
  %3 = stablehlo.compare GE, %0, %1, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
  %4 = stablehlo.compare GT, %2, %1, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
  return %3, %4 : tensor<4x4xi1>, tensor<4x4xi1>
}

// CHECK-LABEL: @regions_count
// CHECK: stablehlo.reduce(%x init: %c) applies stablehlo.add
// CHECK-NEXT: stablehlo.reduce(%x init: %c) applies stablehlo.maximum
// CHECK-NEXT: return %0, %0, %1
func.func @regions_count(%x: tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @layouts_count
// CHECK-NEXT: dtensor.constraint
// CHECK-NEXT: dtensor.constraint
// CHECK-NEXT: return %0, %1, %0
func.func @layouts_count(%x: tensor<4xf32>) -> (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<4xf32, #dtensor.layout<@mesh, [{}]>>, tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) {
  %0 = dtensor.constraint %x : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
  %1 = dtensor.constraint %x : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
  %2 = dtensor.constraint %x : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
  return %0, %1, %2 : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>, tensor<4xf32, #dtensor.layout<@mesh, [{}]>>, tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
}

dtensor.mesh @mesh = <["x"=2]>
