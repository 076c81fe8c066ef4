// Arrays without elements on a mesh: a product that sums nothing is zero, and no relayout sends a byte.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: 3 results against the unsharded run, largest difference 0
// CHECK-NEXT: sent per device: 0 bytes
dtensor.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(
    %a: tensor<8x2xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>,
    %b: tensor<0x8xi8, #dtensor.layout<@mesh, [{}, {"x"}]>>,
    %c: tensor<4x6x0xi32, #dtensor.layout<@mesh, [{"x"}, {}, {}]>>
  ) -> (tensor<0x2xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>, tensor<8x8xi32>, tensor<6x0x6x0xi32>) {
  %0 = stablehlo.slice %a [0:0, 0:2] : (tensor<8x2xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<0x2xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>
  %1 = stablehlo.dot_general %b, %b, contracting_dims = [0] x [0] : (tensor<0x8xi8, #dtensor.layout<@mesh, [{}, {"x"}]>>, tensor<0x8xi8, #dtensor.layout<@mesh, [{}, {"x"}]>>) -> tensor<8x8xi32>
  %2 = stablehlo.dot_general %c, %c, contracting_dims = [0] x [0] : (tensor<4x6x0xi32, #dtensor.layout<@mesh, [{"x"}, {}, {}]>>, tensor<4x6x0xi32, #dtensor.layout<@mesh, [{"x"}, {}, {}]>>) -> tensor<6x0x6x0xi32>
  func.return %0, %1, %2 : tensor<0x2xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>, tensor<8x8xi32>, tensor<6x0x6x0xi32>
}
