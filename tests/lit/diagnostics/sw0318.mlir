// RUN: not shardwright-opt %s -p propagate 2>&1 | filecheck %s
// CHECK: sw0318.mlir:3:1: error[SW0318]: a message cannot weigh -1 : i64
module attributes {dtensor.message_bytes = -1 : i64} {
  func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}
