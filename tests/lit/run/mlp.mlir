// RUN: shardwright run %s --check --json | filecheck %s
// RUN: shardwright run %s --check | filecheck %s --check-prefix=TEXT
// RUN: shardwright explain %s | filecheck %s --check-prefix=EXPLAIN
// RUN: shardwright explain %s --why 24 | filecheck %s --check-prefix=WHY

// Each device holds a fourth of the rows and half of the hidden columns: the second product is a partial sum over
// "model", which one all-reduce of 4 x 64 x 4 bytes finishes: 2 (2-1)/2 of 1,024 bytes.

// CHECK: "ok": true
// CHECK: "sent_bytes": 1024
// CHECK: "messages": 1
// TEXT: ok: 1 results against the unsharded run
// TEXT: sent per device: 1,024 bytes in 1 messages, as predicted
// TEXT: all_reduce over model
// EXPLAIN: %x: f32[16@batch, 64]
// EXPLAIN: all_reduce model: 1,024 bytes per device
// EXPLAIN: 1 collective, 1,024 bytes sent per device
// WHY: line 24: stablehlo.tanh gives f32[16@batch, 128@model]
// WHY-NEXT: from stablehlo.dot_general at line

sdy.mesh @mesh = <["batch"=4, "model"=2]>
func.func public @main(%x: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}, %w: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %v: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x128xf32>) -> tensor<16x128xf32>
  %1 = stablehlo.tanh %0 : tensor<16x128xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<16x128xf32>, tensor<128x64xf32>) -> tensor<16x64xf32>
  return %2 : tensor<16x64xf32>
}
