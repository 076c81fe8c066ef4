// RUN: shardwright-opt %s -p import-sdy --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>
// expected-error @+2 {{SW0115: the attribute sdy.shardin means nothing here}}
// expected-help @+1 {{did you mean 'sdy.sharding'?}}
func.func public @main(%x: tensor<16xf32> {sdy.shardin = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
  return %x : tensor<16xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
// expected-error @+2 {{SW0115: the attribute sdy.shading means nothing here}}
// expected-help @+1 {{did you mean 'sdy.sharding'?}}
func.func public @main(%x: tensor<16xf32>) -> (tensor<16xf32> {sdy.shading = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %x : tensor<16xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func public @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @+2 {{SW0115: the attribute sdy.cost means nothing here}}
  // expected-help @+1 {{only sdy.sharding is read: drop it}}
  %0 = stablehlo.negate %x {sdy.cost = 3 : i64} : tensor<16xf32>
  return %0 : tensor<16xf32>
}
