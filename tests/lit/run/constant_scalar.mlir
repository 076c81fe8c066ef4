// RUN: shardwright run %s --check

// A scalar that is known before the run, from an iota: the mesh has nothing to split.

sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<6xf32>) -> (tensor<f32>, tensor<f32>) {
  %positions = stablehlo.iota dim = 0 : tensor<6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%positions init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
