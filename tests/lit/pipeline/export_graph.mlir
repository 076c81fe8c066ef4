// RUN: shardwright export %s --to graphdef | filecheck %s
// RUN: shardwright export %s --to graphdef --json | filecheck %s --check-prefix=JSON
// RUN: shardwright export %s --to graphdef -o %t.pbtxt && filecheck %s --input-file %t.pbtxt

// The global program: layouts are left out, and the bias is added as TensorFlow adds it, without being spread first.
// CHECK: name: "x"
// CHECK-NEXT: op: "Placeholder"
// CHECK: name: "w"
// CHECK-NEXT: op: "Placeholder"
// CHECK: name: "bias"
// CHECK-NEXT: op: "Placeholder"
// CHECK: name: "product"
// CHECK-NEXT: op: "MatMul"
// CHECK-NEXT: input: "x"
// CHECK-NEXT: input: "w"
// CHECK: name: "add"
// CHECK-NEXT: op: "AddV2"
// CHECK-NEXT: input: "product"
// CHECK-NEXT: input: "bias"
// CHECK: name: "result"
// CHECK-NEXT: op: "Identity"
// CHECK-NEXT: input: "add"
// CHECK: producer: 2000

// JSON: "to": "graphdef",
// JSON: "bias": "bias:0"
// JSON: "result": "result:0"
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<4x6xf32>, %bias: tensor<6xf32>) -> tensor<8x6xf32> {
  %product = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %0 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
  %1 = stablehlo.add %product, %0 : tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}
