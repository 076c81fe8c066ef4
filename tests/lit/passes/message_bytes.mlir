// RUN: shardwright-opt %s -p plan --split-input-file | filecheck %s

// By bytes alone, both axes help with 16 numbers: 24 and 56 bytes in two messages, for 96 in one.
// CHECK-LABEL: module @bytes
// CHECK: dtensor.reduce_scatter
// CHECK: dtensor.all_gather
module @bytes {
  dtensor.mesh @mesh = <["x"=4, "y"=2]>
  func.func public @main(
    %a: tensor<64x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %v: tensor<16xf32, #dtensor.layout<@mesh, [{}]>>
  ) -> tensor<64xf32, #dtensor.layout<@mesh, [{"x"}]>> {
    %0 = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : (tensor<64x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<16xf32, #dtensor.layout<@mesh, [{}]>>) -> tensor<64xf32>
    %1 = stablehlo.dot_general %a, %0, contracting_dims = [0] x [0] : (tensor<64x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<64xf32>) -> tensor<16xf32>
    %2 = stablehlo.multiply %1, %v : (tensor<16xf32>, tensor<16xf32, #dtensor.layout<@mesh, [{}]>>) -> tensor<16xf32>
    %3 = stablehlo.dot_general %a, %2, contracting_dims = [1] x [0] : (tensor<64x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<16xf32>) -> tensor<64xf32, #dtensor.layout<@mesh, [{"x"}]>>
    return %3 : tensor<64xf32, #dtensor.layout<@mesh, [{"x"}]>>
  }
}

// -----

// Where a message counts, one is enough.
// CHECK-LABEL: module @messages
// CHECK: dtensor.all_reduce
// CHECK-NOT: dtensor.reduce_scatter
// CHECK-NOT: dtensor.all_gather
module @messages attributes {dtensor.message_bytes = 256 : i64} {
  dtensor.mesh @mesh = <["x"=4, "y"=2]>
  func.func public @main(
    %a: tensor<64x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, %v: tensor<16xf32, #dtensor.layout<@mesh, [{}]>>
  ) -> tensor<64xf32, #dtensor.layout<@mesh, [{"x"}]>> {
    %0 = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : (tensor<64x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<16xf32, #dtensor.layout<@mesh, [{}]>>) -> tensor<64xf32>
    %1 = stablehlo.dot_general %a, %0, contracting_dims = [0] x [0] : (tensor<64x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<64xf32>) -> tensor<16xf32>
    %2 = stablehlo.multiply %1, %v : (tensor<16xf32>, tensor<16xf32, #dtensor.layout<@mesh, [{}]>>) -> tensor<16xf32>
    %3 = stablehlo.dot_general %a, %2, contracting_dims = [1] x [0] : (tensor<64x16xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>, tensor<16xf32>) -> tensor<64xf32, #dtensor.layout<@mesh, [{"x"}]>>
    return %3 : tensor<64xf32, #dtensor.layout<@mesh, [{"x"}]>>
  }
}
