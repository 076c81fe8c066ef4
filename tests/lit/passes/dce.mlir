// RUN: shardwright-opt %s -p dce | filecheck %s

// CHECK-LABEL: @dead_chain
// CHECK-NEXT: %0 = stablehlo.negate %x
// CHECK-NEXT: return %0
func.func @dead_chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.negate %x : tensor<4xf32>
  %3 = dtensor.constraint %2 : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @arguments_and_calls_stay
// CHECK-NEXT: call @dead_chain
func.func @arguments_and_calls_stay(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = call @dead_chain(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

dtensor.mesh @mesh = <["x"=2]>
