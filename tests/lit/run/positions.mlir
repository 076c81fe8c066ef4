// Iotas and tables know where each device is: nothing is sent.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 0 bytes in 0 messages, as predicted
module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}) -> (tensor<8x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}) {
    %0 = stablehlo.iota dim = 0 : tensor<8x4xi32>
    %t = stablehlo.constant dense<[1, 20, 300, 4000, 50000, 600000, 7, 8]> : tensor<8xi32>
    %2 = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<8xi32>) -> tensor<8x4xi32>
    %3 = stablehlo.multiply %0, %2 : tensor<8x4xi32>
    %4 = stablehlo.add %a, %3 : tensor<8x4xi32>
    return %4 : tensor<8x4xi32>
  }
}
