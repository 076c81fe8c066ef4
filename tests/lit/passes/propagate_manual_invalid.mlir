// RUN: shardwright-opt %s -p import-sdy,propagate-layouts --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
    // expected-error @+1 {{SW0462: a layout names "x", a manual axis of the computation around it}}
    %1 = sdy.sharding_constraint %b <@mesh, [{"x"}]> : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The number of a device is no value of the whole program.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main() -> tensor<ui32> {
  // expected-error @+1 {{SW0463: result 0 of the program differs between devices along x, y}}
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

// What one branch returns differs between devices, and so may what the op returns.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%p: tensor<i1>, %a: tensor<ui32>) -> tensor<ui32> {
  // expected-error @+1 {{SW0463: result 0 of the program differs between devices along x}}
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.partition_id : tensor<ui32>
    stablehlo.return %1 : tensor<ui32>
  }, {
    stablehlo.return %a : tensor<ui32>
  }) : (tensor<i1>) -> tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

// Inside it may only count over the manual axes.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main() -> tensor<ui32> {
  // expected-error @+1 {{SW0463: result 0 of the program differs between devices along y}}
  %0 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, []>] manual_axes={"x"} () {
    %1 = stablehlo.partition_id : tensor<ui32>
    sdy.return %1 : tensor<ui32>
  } : () -> tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
// expected-error @+1 {{SW0465: members of one sharding group have the layouts [{"x"}] and [{"y"}]}}
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  sdy.sharding_group %a group_id=1 : tensor<4xf32>
  sdy.sharding_group %b group_id=1 : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4xf32>, %b: tensor<8xf32>) {
  sdy.sharding_group %a group_id=1 : tensor<4xf32>
  // expected-error @+1 {{SW0465: group 1 has members of shapes [4] and [8]}}
  sdy.sharding_group %b group_id=1 : tensor<8xf32>
  return
}
