// Numbers of 64 bits from their words and back, and calls that say where a value lies, on four devices.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: 3 results against the unsharded run
// CHECK-NEXT: sent per device: 0 bytes
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%low: tensor<8xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %high: tensor<8xui32>) -> (tensor<8xui64>, tensor<8xi1>, tensor<8xi1>) {
    %0 = stablehlo.custom_call @X64Combine(%low, %high) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui64>
    %1 = stablehlo.custom_call @MoveToHost(%0) : (tensor<8xui64>) -> tensor<8xui64>
    %2 = stablehlo.custom_call @X64SplitLow(%1) : (tensor<8xui64>) -> tensor<8xui32>
    %3 = stablehlo.custom_call @X64SplitHigh(%1) : (tensor<8xui64>) -> tensor<8xui32>
    %4 = stablehlo.compare EQ, %2, %low : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi1>
    %5 = stablehlo.compare EQ, %3, %high : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi1>
    return %0, %4, %5 : tensor<8xui64>, tensor<8xi1>, tensor<8xi1>
  }
}
