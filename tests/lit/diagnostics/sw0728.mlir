// RUN: shardwright run %s --check 2>&1 | filecheck %s
// RUN: shardwright run %s --check --json 2>/dev/null | filecheck %s --check-prefix=JSON

// Zero by zero gives NaN everywhere in the floating results; the integers are compared as ever.

// CHECK: ok: 3 results against the unsharded run, largest difference 0
// CHECK: compared: 8 elements (8 NaN in both) of 1 float32 result against the unsharded run: rtol 0.0001, atol 0.0001, largest difference 0
// CHECK-NEXT: compared: 4 elements (4 NaN in both) of 1 float64 result against the unsharded run: rtol 1e-09, atol 1e-09, largest difference 0
// CHECK-NEXT: compared: 2 elements of 1 int32 result against the unsharded run: rtol 0, atol 0, largest difference 0
// CHECK-NEXT: compared: 8 elements (8 NaN in both) of 1 float32 result against the unsharded run, with nothing fused:
// CHECK: sw0728.mlir:32:8: warning[SW0728]: every floating element of all results is NaN: out_0, out_1
// CHECK: help: a NaN equals a NaN in a comparison; run with inputs that give numbers

// JSON: "compared": [
// JSON: "against": "the unsharded run",
// JSON-NEXT: "dtype": "float32",
// JSON-NEXT: "results": 1,
// JSON-NEXT: "elements": 8,
// JSON-NEXT: "nan_in_both": 8,
// JSON-NEXT: "rtol": 0.0001,
// JSON-NEXT: "atol": 0.0001,
// JSON-NEXT: "max_abs_error": 0.0
// JSON: "all_nan": [
// JSON-NEXT: "out_0",
// JSON-NEXT: "out_1"
// JSON-NEXT: ]

sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %y: tensor<4xf64>, %i: tensor<2xi32>) -> (tensor<8xf32>, tensor<4xf64>, tensor<2xi32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<8xf32>
  %0 = stablehlo.multiply %x, %zero : tensor<8xf32>
  %1 = stablehlo.divide %0, %zero : tensor<8xf32>
  %none = stablehlo.constant dense<0.0> : tensor<4xf64>
  %2 = stablehlo.multiply %y, %none : tensor<4xf64>
  %3 = stablehlo.divide %2, %none : tensor<4xf64>
  return %1, %3, %i : tensor<8xf32>, tensor<4xf64>, tensor<2xi32>
}
