// RUN: shardwright-opt %s --split-input-file --verify-diagnostics

func.func @main(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op an algorithm says how exact the products are: every precision must be DEFAULT}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1], precision = [DEFAULT, HIGH], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op precision_config must hold one precision for each operand}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1], precision = [HIGH] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}
