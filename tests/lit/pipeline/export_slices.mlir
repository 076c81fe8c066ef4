// RUN: shardwright export %s --to stablehlo | filecheck %s

// What is sliced once more, into the devices' parts, begins where a slice of its size can, and so
// does the second slice: XLA adds up the two starts.
// So does what comes to be sliced that way once XLA has left out what changes nothing.
// CHECK: %[[MOST:.*]] = stablehlo.constant dense<4> : tensor<i32>
// CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK: %[[START:.*]] = stablehlo.clamp %[[ZERO]], %{{.*}}, %[[MOST]] : tensor<i32>
// CHECK: %[[SLICE:.*]] = stablehlo.dynamic_slice %{{.*}}, %[[START]], sizes = [8]
// CHECK: stablehlo.clamp
// CHECK: %[[SAME:.*]] = stablehlo.minimum
// CHECK: %[[SIDE:.*]] = stablehlo.broadcast_in_dim %[[SAME]]
// CHECK: %[[SECOND:.*]] = stablehlo.clamp
// CHECK: stablehlo.dynamic_slice %[[SIDE]], %[[SECOND]]
// CHECK-NOT: stablehlo.clamp
// CHECK: stablehlo.dynamic_slice %{{.*}}, sizes = [4]
// CHECK: stablehlo.tanh
// CHECK: stablehlo.dynamic_slice %[[SLICE]], %{{.*}}, sizes = [2]
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %at: tensor<i32>) -> (
    tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    tensor<5x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
    tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.dynamic_slice %x, %at, sizes = [8] : (tensor<12xf32>, tensor<i32>) -> tensor<8xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %most = stablehlo.constant dense<3.0> : tensor<7xf32>
  %1 = stablehlo.dynamic_slice %x, %at, sizes = [7] : (tensor<12xf32>, tensor<i32>) -> tensor<7xf32>
  %2 = stablehlo.minimum %1, %most : tensor<7xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<7xf32>) -> tensor<7x2xf32>
  %4 = stablehlo.dynamic_slice %3, %at, %zero, sizes = [5, 2] : (tensor<7x2xf32>, tensor<i32>, tensor<i32>) -> tensor<5x2xf32>
  %5 = stablehlo.dynamic_slice %x, %at, sizes = [4] : (tensor<12xf32>, tensor<i32>) -> tensor<4xf32>
  %6 = stablehlo.tanh %5 : tensor<4xf32>
  return %0, %4, %6 : tensor<8xf32>, tensor<5x2xf32>, tensor<4xf32>
}
