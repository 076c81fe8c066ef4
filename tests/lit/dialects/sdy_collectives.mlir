// RUN: shardwright-opt %s | filecheck %s
// RUN: shardwright-opt %s --print-op-generic | shardwright-opt - | filecheck %s

// Shardy's collectives, meshes and shardings that are written out in full, and results that are reduced otherwise than by a sum.

#mesh = #sdy.mesh<["x"=2, "y"=2]>
// CHECK: sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @mesh = #mesh
// CHECK: func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x"}>})
func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x"}>}) -> tensor<4x8xf32> {
  // CHECK: %0 = sdy.all_slice [{"x"}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<4x8xf32>
  %0 = sdy.all_slice [{"x"}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<4x8xf32>
  // CHECK: %1 = sdy.all_gather [{}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x8xf32>
  %1 = sdy.all_gather [{}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x8xf32>
  // CHECK: %2 = sdy.all_to_all [{"x"}: 0->1] %1 out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x8xf32>
  %2 = sdy.all_to_all [{"x"}: 0->1] %1 out_sharding=<@mesh, [{}, {"x"}]> : tensor<4x8xf32>
  // CHECK: %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x8xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x8xf32>
  // CHECK: %4 = sdy.all_reduce {"x"} %3 out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x8xf32>
  %4 = sdy.all_reduce {"x"} %3 out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x8xf32>
  // CHECK: %5 = sdy.reduce_scatter [{"x"}, {}] %4 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<4x8xf32>
  %5 = sdy.reduce_scatter [{"x"}, {}] %4 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<4x8xf32>
  // CHECK: %6 = sdy.sharded_to_unreduced [{"x"}, {}] %5 out_sharding=<@mesh, [{}, {"y"}], unreduced={"x"}> : tensor<4x8xf32>
  %6 = sdy.sharded_to_unreduced [{"x"}, {}] %5 out_sharding=<@mesh, [{}, {"y"}], unreduced={"x"}> : tensor<4x8xf32>
  // CHECK: %7 = sdy.replicated_to_unreduced {"x"} %3 out_sharding=<@mesh, [{}, {"y"}], unreduced={"x"}> : tensor<4x8xf32>
  %7 = sdy.replicated_to_unreduced {"x"} %3 out_sharding=<@mesh, [{}, {"y"}], unreduced={"x"}> : tensor<4x8xf32>
  // CHECK: sdy.func_data_flow_edge %7 : tensor<4x8xf32>
  %8 = sdy.func_data_flow_edge %7 : tensor<4x8xf32>
  // CHECK: %9 = sdy.all_reduce max {"x"} %8 out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x8xf32>
  %9 = sdy.all_reduce max {"x"} %8 out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x8xf32>
  // CHECK: %10 = sdy.reduce_scatter min [{"x"}, {}] %9 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<4x8xf32>
  %10 = sdy.reduce_scatter min [{"x"}, {}] %9 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<4x8xf32>
  // A sum is what is meant where nothing is said, and shardings may bring their name along.
  // CHECK: %11 = sdy.all_reduce {"x"} %10 out_sharding=<@mesh, [{}, {"y"}]> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<4x8xf32>
  %11 = sdy.all_reduce sum {"x"} %10 out_sharding=<@mesh, [{}, {"y"}]> {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@mesh, [{}, {"y"}]>]>} : tensor<4x8xf32>
  // CHECK: stablehlo.negate %11 {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"y" = operand-0 -> [result-0, operand-12]}]}, {step-12 = [{"x":(1)2 = result-0 -> [operand-0]}, {"y" = operand-0 -> []}]}]>} : tensor<4x8xf32>
  %12 = stablehlo.negate %11 {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"y" = operand-0 -> [result-0, operand-12]}]}, {step-12 = [{"x":(1)2 = result-0 -> [operand-0]}, {"y" = operand-0 -> []}]}]>} : tensor<4x8xf32>
  // CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([])->([])>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %13 = stablehlo.negate %c {sdy.sharding_rule = #sdy.op_sharding_rule<([])->([])>} : tensor<f32>
  return %8 : tensor<4x8xf32>
}
