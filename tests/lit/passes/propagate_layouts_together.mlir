// RUN: shardwright-opt %s -p propagate-layouts --split-input-file | filecheck %s
// RUN: shardwright-opt %s -p 'propagate-layouts{together=false}' --split-input-file | filecheck %s --check-prefix=APART

// Both factors are everywhere, and the product is wanted in parts: it is computed in parts.

// CHECK-LABEL: @main
// CHECK: stablehlo.dot_general
// CHECK-SAME: chosen together with all other layouts to split the work further; without that it would be not split
// CHECK-SAME: -> tensor<16x64xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
// APART-LABEL: @main
// APART: stablehlo.dot_general
// APART-SAME: -> tensor<16x64xf32, #dtensor.layout<@mesh, [{}, {}]>>
dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
    %a: tensor<16x32xf32, #dtensor.layout<@mesh, [{}, {}]>>,
    %b: tensor<32x64xf32, #dtensor.layout<@mesh, [{}, {}]>>
  ) -> tensor<16x64xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<16x32xf32, #dtensor.layout<@mesh, [{}, {}]>>, tensor<32x64xf32, #dtensor.layout<@mesh, [{}, {}]>>)
      -> tensor<16x64xf32>
  %1 = dtensor.relayout %0 : tensor<16x64xf32> -> tensor<16x64xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
  return %1 : tensor<16x64xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
}

// -----

// Split along what is summed: rows by all-to-all send a quarter of what gathering sends, and each device does a quarter.

// CHECK-LABEL: @main
// CHECK: stablehlo.dot_general
// CHECK-SAME: chosen together with all other layouts to send 2,304 bytes less per device
// CHECK-SAME: -> tensor<64x128xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
// APART-LABEL: @main
// APART: stablehlo.dot_general
// APART-SAME: -> tensor<64x128xf32, #dtensor.layout<@mesh, [{}, {}]>>
dtensor.mesh @mesh = <["x"=4]>
func.func public @main(
    %a: tensor<64x16xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, %w: tensor<16x128xf32, #dtensor.layout<@mesh, [{}, {}]>>
  ) -> tensor<64x128xf32> {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0]
      : (tensor<64x16xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<16x128xf32, #dtensor.layout<@mesh, [{}, {}]>>)
      -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

// Nobody asked for parts: a product of whole factors stays whole, although its parts would be less work.

// CHECK-LABEL: @main
// CHECK: stablehlo.dot_general
// CHECK-SAME: -> tensor<16x64xf32, #dtensor.layout<@mesh, [{}, {}]>>
dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
    %a: tensor<16x32xf32, #dtensor.layout<@mesh, [{}, {}]>>, %b: tensor<32x64xf32, #dtensor.layout<@mesh, [{}, {}]>>
  ) -> tensor<16x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<16x32xf32, #dtensor.layout<@mesh, [{}, {}]>>, tensor<32x64xf32, #dtensor.layout<@mesh, [{}, {}]>>)
      -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
