// RUN: shardwright-opt %s -p propagate-layouts,fit-borders --split-input-file | filecheck %s

// A result that is whole leaves without the padding that it had inside.
// CHECK-LABEL: module @whole_result
module @whole_result {
  dtensor.mesh @mesh = <["x"=4]>
  // CHECK: func.func public @main(%a: tensor<12xf32, {{.*}}> {dtensor.global_type = tensor<10xf32>}) -> (tensor<10xf32, #dtensor.layout<@mesh, [{}]>> {dtensor.global_type = tensor<10xf32>})
  func.func public @main(%a: tensor<12xf32, #dtensor.layout<@mesh, [{"x"}]>> {dtensor.global_type = tensor<10xf32>}) -> (tensor<12xf32, #dtensor.layout<@mesh, [{}]>> {dtensor.global_type = tensor<10xf32>}) {
    // CHECK: %1 = stablehlo.pad %0, %cst, low = [0], high = [-2], interior = [0] : {{.*}} -> tensor<10xf32, #dtensor.layout<@mesh, [{}]>>
    // CHECK-NEXT: return %1
    %0 = dtensor.constraint %a : tensor<12xf32, #dtensor.layout<@mesh, [{"x"}]>> -> tensor<12xf32, #dtensor.layout<@mesh, [{}]>>
    return %0 : tensor<12xf32, #dtensor.layout<@mesh, [{}]>>
  }
}

// -----

// What is as large as its layout makes it stays.
// CHECK-LABEL: module @as_its_layout
module @as_its_layout {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<12xf32, #dtensor.layout<@mesh, [{"x"}]>> {dtensor.global_type = tensor<10xf32>}) -> (tensor<12xf32> {dtensor.global_type = tensor<10xf32>}) {
    // CHECK: %0 = stablehlo.negate %a
    // CHECK-NEXT: return %0 : tensor<12xf32, #dtensor.layout<@mesh, [{"x"}]>>
    %0 = stablehlo.negate %a : (tensor<12xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<12xf32>
    return %0 : tensor<12xf32>
  }
}
