// Fully sharded data parallel: weights are gathered for their use, gradients are scattered while they are summed.
// RUN: shardwright-opt %s -p plan | filecheck %s
// RUN: shardwright run %s --check

module {
  sdy.mesh @mesh = <["data"=4]>
  // CHECK-LABEL: func.func public @main
  func.func public @main(
      %x: tensor<256x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
      %dy: tensor<256x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
      %w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
      -> (tensor<256x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
    // The weight (512 bytes) moves, not the activations (8 and 16 KB).
    // CHECK: [[whole:%.*]] = dtensor.all_gather @mesh [{"data"}, {}] %w
    // CHECK-NEXT: stablehlo.dot_general %x, [[whole]], {{.*}} -> tensor<256x16xf32, #dtensor.layout<@mesh, [{"data"}, {}]>>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x8xf32>, tensor<8x16xf32>) -> tensor<256x16xf32>
    // CHECK-NEXT: [[parts:%.*]] = stablehlo.dot_general %x, %dy, {{.*}}unreduced=sum{"data"}>>
    // CHECK-NEXT: [[mine:%.*]] = dtensor.reduce_scatter sum @mesh [{"data"}, {}] [[parts]]
    %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<256x8xf32>, tensor<256x16xf32>) -> tensor<8x16xf32>
    // CHECK-NEXT: stablehlo.subtract %w, [[mine]]
    // CHECK-NOT: dtensor.all_
    %new = stablehlo.subtract %w, %dw : tensor<8x16xf32>
    return %y, %new : tensor<256x16xf32>, tensor<8x16xf32>
  }
}
