// The whole road of a two-layer perceptron: data split over batch, the hidden layer over model (Megatron).
// RUN: shardwright-opt %s -p propagate | filecheck %s --check-prefix=PROPAGATED
// RUN: shardwright-opt %s -p align | filecheck %s --check-prefix=ALIGNED
// RUN: shardwright-opt %s -p plan | filecheck %s --check-prefix=PLANNED
// RUN: shardwright-opt %s -p partition | filecheck %s --check-prefix=LOCAL
// RUN: shardwright run %s --check

module {
  sdy.mesh @mesh = <["batch"=4, "model"=2]>
  // PROPAGATED: dtensor.mesh @mesh = <["batch"=4, "model"=2]>
  // LOCAL: func.func public @main(%x: tensor<4x8xf32> {{.*}}, %w1: tensor<8x16xf32> {{.*}}, %w2: tensor<16x8xf32> {{.*}}) -> (tensor<4x8xf32>
  func.func public @main(
      %x: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>},
      %w1: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
      %w2: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    // PROPAGATED: stablehlo.dot_general %x, %w1{{.*}} -> tensor<16x32xf32, #dtensor.layout<@mesh, [{"batch"}, {"model"}]>>
    // LOCAL: stablehlo.dot_general %x, %w1{{.*}} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
    // PROPAGATED: stablehlo.tanh {{.*}}#dtensor.layout<@mesh, [{"batch"}, {"model"}]>
    // LOCAL: stablehlo.tanh {{.*}} : tensor<4x16xf32>
    %1 = stablehlo.tanh %0 : tensor<16x32xf32>
    // PROPAGATED: stablehlo.dot_general {{.*}} -> tensor<16x8xf32, #dtensor.layout<@mesh, [{"batch"}, {}]>>
    // ALIGNED: stablehlo.dot_general %{{.*}}, %w2{{.*}} -> tensor<16x8xf32, #dtensor.layout<@mesh, [{"batch"}, {}], unreduced=sum{"model"}>>
    // ALIGNED-NEXT: dtensor.relayout
    // ALIGNED-NEXT: return
    // The one collective of the program.
    // PLANNED-NOT: dtensor.all_gather
    // PLANNED: dtensor.all_reduce sum @mesh {"model"}
    // PLANNED-NEXT: return
    // LOCAL: dtensor.all_reduce sum @mesh {"model"} {{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.dot_general %1, %w2, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
    return %2 : tensor<16x8xf32>
  }
}
