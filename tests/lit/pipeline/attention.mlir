// One attention block, heads split over model and the batch over data: nothing is sent before the output projection.
// RUN: shardwright-opt %s -p plan | filecheck %s
// RUN: shardwright-opt %s -p partition | filecheck %s --check-prefix=LOCAL
// RUN: shardwright run %s --check

module {
  sdy.mesh @mesh = <["data"=2, "model"=2]>
  // CHECK-LABEL: func.func public @main
  // LOCAL-LABEL: func.func public @main
  func.func public @main(
      %q: tensor<2x4x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}, {}]>},
      %k: tensor<2x4x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}, {}]>},
      %v: tensor<2x4x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}, {}]>},
      %w: tensor<4x4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>})
      -> (tensor<2x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    // CHECK-NOT: dtensor.all_
    // CHECK: stablehlo.dot_general %q, %k{{.*}} -> tensor<2x4x8x8xf32, #dtensor.layout<@mesh, [{"data"}, {"model"}, {}, {}]>>
    // CHECK-NOT: dtensor.all_
    // LOCAL: stablehlo.dot_general %q, %k{{.*}} -> tensor<1x2x8x8xf32>
    %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>) -> tensor<2x4x8x8xf32>
    %m = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x8xf32>
    %d = stablehlo.subtract %s, %mb : tensor<2x4x8x8xf32>
    %e = stablehlo.exponential %d : tensor<2x4x8x8xf32>
    %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x8xf32>
    %p = stablehlo.divide %e, %tb : tensor<2x4x8x8xf32>
    %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x8x8xf32>, tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xf32>
    // Heads are contracted: partial sums over model, reduced once at the end.
    // CHECK: stablehlo.dot_general {{.*}}, %w, {{.*}} -> tensor<2x8x16xf32, #dtensor.layout<@mesh, [{"data"}, {}, {}], unreduced=sum{"model"}>>
    // CHECK-NEXT: dtensor.all_reduce sum @mesh {"model"}
    // CHECK-NEXT: return
    // LOCAL: dtensor.all_reduce {{.*}} : (tensor<1x8x16xf32>) -> tensor<1x8x16xf32>
    %r = stablehlo.dot_general %o, %w, contracting_dims = [1, 3] x [0, 1] : (tensor<2x4x8x4xf32>, tensor<4x4x16xf32>) -> tensor<2x8x16xf32>
    return %r : tensor<2x8x16xf32>
  }
}
