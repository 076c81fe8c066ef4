// A result and what is linear in it are needed finished: the sum is reduced once, 2 * 1/2 of its 16 * 16 * 8 / 4 bytes, and
// the real part is taken of that. Reduced apart, the real part would send half as much again.
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 512 bytes in 1 messages, as predicted
// CHECK-NEXT:   all_reduce
module {
  sdy.mesh @mesh = <["batch"=4, "model"=2]>
  func.func public @main(%x: tensor<16x16xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}, %w: tensor<16x16xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<16x16xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x16xcomplex<f32>>, tensor<16x16xcomplex<f32>>) -> tensor<16x16xcomplex<f32>>
    %r = stablehlo.real %y : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xf32>
    %t = stablehlo.tanh %r : tensor<16x16xf32>
    return %y, %t : tensor<16x16xcomplex<f32>>, tensor<16x16xf32>
  }
}
