// Sequence parallel: between the sharded products the sequence is split by the same axis, so that the sum over it is
// a reduce-scatter and what follows works on a part; the next product gathers.
// RUN: shardwright-opt %s -p plan | filecheck %s
// RUN: shardwright run %s --check

module {
  sdy.mesh @mesh = <["model"=2]>
  // CHECK-LABEL: func.func public @main
  func.func public @main(
      %x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
      %w1: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
      %w2: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
      -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) {
    // CHECK: [[whole:%.*]] = dtensor.all_gather @mesh [{"model"}, {}] %x
    // CHECK-NEXT: stablehlo.dot_general [[whole]], %w1, {{.*}} -> tensor<16x32xf32, #dtensor.layout<@mesh, [{}, {"model"}]>>
    %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
    %1 = stablehlo.tanh %0 : tensor<16x32xf32>
    // CHECK: [[parts:%.*]] = stablehlo.dot_general {{.*}}, %w2, {{.*}}unreduced=sum{"model"}>>
    // CHECK-NEXT: dtensor.reduce_scatter sum @mesh [{"model"}, {}] [[parts]]
    %2 = stablehlo.dot_general %1, %w2, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
    // CHECK-NEXT: stablehlo.add {{.*}}#dtensor.layout<@mesh, [{"model"}, {}]>
    // CHECK-NOT: dtensor.
    // CHECK: return
    %3 = stablehlo.add %x, %2 : tensor<16x8xf32>
    return %3 : tensor<16x8xf32>
  }
}
