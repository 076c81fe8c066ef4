// Constraints in a row are one relayout from the first layout to the last: nothing reads what lies between. A device of the
// last layout needs 32 elements, of which every second device has 16 and the others none: 24 are sent on average.
// RUN: shardwright run %s --check | filecheck %s
// RUN: shardwright explain %s | filecheck %s --check-prefix WHY

// CHECK: ok: {{[0-9]+}} results against the unsharded run
// CHECK-NEXT: sent per device: 96 bytes in 1 messages, as predicted
// WHY: asked by  layout of result 0 at line 13, past the user's layout at line 12, which nothing reads
module {
  sdy.mesh @mesh = <["batch"=4, "model"=2]>
  func.func public @main(%x: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {"model"}]>}) -> (tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"batch"}]>}) {
    %y = sdy.sharding_constraint %x <@mesh, [{}, {"batch"}]> : tensor<16x16xf32>
    return %y : tensor<16x16xf32>
  }
}
