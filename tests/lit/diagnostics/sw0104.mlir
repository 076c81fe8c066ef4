// RUN: not shardwright-opt %s -p insert-relayouts 2>&1 | filecheck %s
// CHECK: sw0104.mlir:9:26: error[SW0104]: dim 0 has 18 elements and does not split evenly over batch=4
// CHECK: note: the mesh is Mesh(batch=4, model=2)
// CHECK: note: the tensor is tensor<18x64xf32>
// CHECK: help: axes that divide 18: model=2, batch:(1)2; sizes that fit: 16, 20

module attributes {dtensor.stage = "propagated"} {
  dtensor.mesh @mesh = <["batch"=4, "model"=2]>
  func.func public @main(%x: tensor<18x64xf32, #dtensor.layout<@mesh, [{"batch"}, {}]>>) -> tensor<18x64xf32, #dtensor.layout<@mesh, [{"batch"}, {}]>> {
    return %x : tensor<18x64xf32, #dtensor.layout<@mesh, [{"batch"}, {}]>>
  }
}
