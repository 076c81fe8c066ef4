// RUN: shardwright-opt %s --split-input-file --verify-diagnostics

func.func private @f(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) {
  // expected-error @+1 {{no dtensor.mesh named @mesh in this module}}
  %0 = dtensor.all_gather @mesh [{"x"}] %a : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  return
}

// -----

// expected-error @+1 {{names an axis twice}}
dtensor.mesh @mesh = <["x"=2, "x"=4]>

// -----

// expected-error @+1 {{has an axis of size below 1}}
dtensor.mesh @mesh = <["x"=0]>

// -----

dtensor.mesh @mesh = <["x"=2]>
func.func private @f(%a: tensor<8xf32>) {
  // expected-error @+1 {{the result's type must carry a layout}}
  %0 = dtensor.relayout %a : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2]>
func.func private @f(%a: tensor<8xf32>) {
  // expected-error @+1 {{operand and result must be the same tensor}}
  %0 = dtensor.relayout %a : tensor<8xf32> -> tensor<8xi32, #dtensor.layout<@mesh, [{}]>>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2]>
func.func private @f(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) {
  // expected-error @+1 {{the result's layout must be <@mesh, [{}]>, not <@mesh, [{"x"}]>}}
  %0 = dtensor.all_gather @mesh [{"x"}] %a : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func private @f(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) {
  // expected-error @+1 {{"y" is not at the minor end of dim 0}}
  %0 = dtensor.all_gather @mesh [{"y"}] %a : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func private @f(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) {
  // expected-error @+1 {{combine by nothing, not sum}}
  %0 = dtensor.all_reduce sum @mesh {"x"} %a : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func private @f(%a: tensor<8xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>) {
  // expected-error @+1 {{combine by sum, not max}}
  %0 = dtensor.all_reduce max @mesh {"x"} %a : (tensor<8xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func private @f(%a: tensor<8xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>) {
  // expected-error @+1 {{"y" is not partial}}
  %0 = dtensor.all_reduce sum @mesh {"y"} %a : (tensor<8xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}]>>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func private @f(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) {
  // expected-error @+1 {{cannot make partial over "x": [{"x"}] uses "x" already}}
  %0 = dtensor.unreduce sum @mesh {"x"} %a : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}], unreduced=sum{"x"}>>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func private @f(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}], unreduced=sum{"y"}>>) {
  // expected-error @+1 {{partial results that combine by sum cannot become max}}
  %0 = dtensor.unreduce max @mesh {"x"} %a : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}], unreduced=sum{"y"}>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{}], unreduced=max{"x"}>>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func private @f(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x", "y"}]>>) {
  // expected-error @+1 {{"x" is not at the minor end of dim 0 of [{"x", "y"}]}}
  %0 = dtensor.unscatter sum @mesh [{"x"}] %a : (tensor<8xf32, #dtensor.layout<@mesh, [{"x", "y"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{"y"}], unreduced=sum{"x"}>>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func private @f(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) {
  // expected-error @+1 {{cannot slice dim 0 along "x": [{"x"}] uses "x" already}}
  %0 = dtensor.all_slice @mesh [{"x"}] %a : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2]>
func.func private @f(%a: tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) {
  // expected-error @+1 {{must both carry a layout (planned) or neither (local)}}
  %0 = dtensor.all_gather @mesh [{"x"}] %a : (tensor<8xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<8xf32>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2]>
func.func private @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{per-device shapes do not fit}}
  %0 = dtensor.all_gather @mesh [{"x"}] %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2]>
func.func private @f(%a: tensor<3xf32>) {
  // expected-error @+1 {{shape (3,) does not divide by (2,)}}
  %0 = dtensor.all_slice @mesh [{"x"}] %a : (tensor<3xf32>) -> tensor<1xf32>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2]>
func.func private @f() {
  // expected-error @+1 {{has no axis "y"}}
  %0 = dtensor.axis_index @mesh {"y"} : tensor<i32>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2]>
func.func private @f() {
  // expected-error @+1 {{must be tensor<i32>, not tensor<i64>}}
  %0 = dtensor.axis_index @mesh {"x"} : tensor<i64>
  return
}

// -----

// expected-error @+1 {{'?' must come last in a dim}}
func.func private @f(%a: tensor<8xf32, #dtensor.layout<@mesh, [{?, "x"}]>>) { return }

// -----

// expected-error @+1 {{unknown reduction 'mean': expected one of sum, max, min, prod, and, or}}
func.func private @f(%a: tensor<8xf32, #dtensor.layout<@mesh, [{}], unreduced=mean{"x"}>>) { return }

// -----

dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func private @f(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) {
  // expected-error @+1 {{"y" is not at the minor end of dim 0}}
  %0 = dtensor.all_to_all @mesh {"y"} 0 to 1 %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
  return
}

// -----

dtensor.mesh @mesh = <["x"=2, "y"=4]>
func.func private @f(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) {
  // expected-error @+1 {{a permute keeps local shapes, but dim 0 has 2 parts}}
  %0 = dtensor.collective_permute <@mesh, [{"x"}, {}]> to <@mesh, [{"y"}, {}]> %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>
  return
}
