// RUN: shardwright-opt %s --split-input-file --verify-diagnostics

dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func @shape(%a: tensor<8x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{'dtensor.to_manual' op the result must be tensor<2x4xf32>, not tensor<4x4xf32>}}
  %0 = dtensor.to_manual @mesh [{"x"}, {}] manual {"x"} %a : (tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func @uneven(%a: tensor<6x4xf32>) -> tensor<1x4xf32> {
  // expected-error @+1 {{'dtensor.to_manual' op dim 0 has 6 elements and does not split evenly into 4 parts}}
  %0 = dtensor.to_manual @mesh [{"x"}, {}] manual {"x"} %a : (tensor<6x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func @not_manual(%a: tensor<8x4xf32>) -> tensor<32x4xf32> {
  // expected-error @+1 {{'dtensor.from_manual' op dim_axes may name manual axes, and parts of them, only}}
  %0 = dtensor.from_manual @mesh [{"x"}, {}] manual {"y"} %a : (tensor<8x4xf32>) -> tensor<32x4xf32>
  return %0 : tensor<32x4xf32>
}

// -----

dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func @sources(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @+1 {{'dtensor.fetch' op needs one source from -1 to 3 for each of the 4 devices of a group}}
  %0 = dtensor.fetch @mesh {"x"} [1, 2, 4, 0] %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

!t = tensor<8x4xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
dtensor.mesh @mesh = <["x"=4, "y"=2]>
func.func @split(%a: !t) -> !t {
  // expected-error @+1 {{'dtensor.fetch' op the layout [{"x"}, {}] uses the axis "x" along which devices fetch}}
  %0 = dtensor.fetch @mesh {"x"} [1, 2, 3, 0] %a : (!t) -> !t
  return %0 : !t
}
