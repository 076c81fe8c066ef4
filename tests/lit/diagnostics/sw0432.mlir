// RUN: not shardwright-opt %s -p decompose 2>&1 | filecheck %s
// CHECK: sw0432.mlir:12:8: error[SW0432]: stablehlo.rng gives numbers that no run can repeat
// CHECK: help: make random numbers from a key: jax.random, or stablehlo.rng_bit_generator
// CHECK: sw0432.mlir:13:8: error[SW0432]: stablehlo.set_dimension_size makes a dim of computed size
// CHECK: help: export the program for fixed sizes
// CHECK: sw0432.mlir:14:8: error[SW0432]: a tuple goes further than to its elements
// CHECK: help: pass the values one by one
// CHECK: sw0432.mlir:15:8: error[SW0432]: stablehlo.infeed takes values from a queue beside the program, which no program here has
// CHECK: help: make them arguments or results of the program, and call it once for each

func.func public @main(%low: tensor<f32>, %shape: tensor<1xi64>, %n: tensor<i32>) -> tuple<tensor<4xf32>> {
  %0 = stablehlo.rng %low, %low, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %1 = stablehlo.set_dimension_size %0, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  %2 = stablehlo.tuple %1 : tuple<tensor<4xf32>>
  %3 = "stablehlo.infeed"() <{infeed_config = ""}> : () -> tensor<4xf32>
  return %2 : tuple<tensor<4xf32>>
}
