// RUN: shardwright-opt %s -p canonicalize | filecheck %s

// A step of a parallel scan: all but the first element are computed from cut tensors.
// CHECK-LABEL: @scan
func.func @scan(%x: tensor<16xf32>, %u: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[SHIFTED:.*]] = stablehlo.pad %u, %{{.*}}, low = [1], high = [-1], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  // CHECK: %[[STEPS:.*]] = stablehlo.slice %x [0:16:2] : (tensor<16xf32>) -> tensor<8xf32>
  // CHECK: %[[SUM:.*]] = stablehlo.add %[[SHIFTED]], %[[STEPS]] : tensor<8xf32>
  // CHECK: %[[FIRST:.*]] = stablehlo.slice %x [0:16:2]
  // CHECK: %[[MASK:.*]] = stablehlo.compare LT
  // CHECK: stablehlo.select %[[MASK]], %[[FIRST]], %[[SUM]]
  // CHECK-NOT: tensor<7xf32>
  %0 = stablehlo.slice %u [0:7] : (tensor<8xf32>) -> tensor<7xf32>
  %1 = stablehlo.slice %x [2:16:2] : (tensor<16xf32>) -> tensor<7xf32>
  %2 = stablehlo.add %0, %1 : tensor<7xf32>
  %3 = stablehlo.slice %x [0:1] : (tensor<16xf32>) -> tensor<1xf32>
  %4 = stablehlo.concatenate %3, %2, dim = 0 : (tensor<1xf32>, tensor<7xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// A number for all elements is one for the whole as well.
// CHECK-LABEL: @scaled
func.func @scaled(%x: tensor<8xf32>, %k: tensor<f32>) -> tensor<8xf32> {
  // CHECK: %[[K:.*]] = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<8xf32>
  // CHECK: stablehlo.multiply %{{.*}}, %[[K]] : tensor<8xf32>
  // CHECK-NOT: tensor<7xf32>
  // CHECK: return
  %0 = stablehlo.slice %x [0:7] : (tensor<8xf32>) -> tensor<7xf32>
  %1 = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<7xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<7xf32>
  %3 = stablehlo.slice %x [0:1] : (tensor<8xf32>) -> tensor<1xf32>
  %4 = stablehlo.concatenate %3, %2, dim = 0 : (tensor<1xf32>, tensor<7xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// Two halves are joined as they are: nothing would split better.
// CHECK-LABEL: @halves
func.func @halves(%x: tensor<16xf32>) -> tensor<16xf32> {
  // CHECK: stablehlo.concatenate
  %0 = stablehlo.slice %x [8:16] : (tensor<16xf32>) -> tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  %2 = stablehlo.slice %x [0:8] : (tensor<16xf32>) -> tensor<8xf32>
  %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}

// What is used elsewhere is computed there anyway.
// CHECK-LABEL: @used_elsewhere
func.func @used_elsewhere(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<6xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.negate %{{.*}} : tensor<6xf32>
  %0 = stablehlo.slice %x [1:7] : (tensor<8xf32>) -> tensor<6xf32>
  %1 = stablehlo.negate %0 : tensor<6xf32>
  %2 = stablehlo.pad %1, %z, low = [1], high = [1], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<8xf32>
  return %2, %1 : tensor<8xf32>, tensor<6xf32>
}

// The first and the last of what is computed, once more at the ends: shifts of all of it.
// CHECK-LABEL: @edges
func.func @edges(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[ALL:.*]] = stablehlo.subtract %{{.*}}, %{{.*}} : tensor<8xf32>
  // CHECK: %[[DOWN:.*]] = stablehlo.pad %[[ALL]], %{{.*}}, low = [-1], high = [1], interior = [0]
  // CHECK: %[[WITHFIRST:.*]] = stablehlo.select %{{.*}}, %[[DOWN]], %[[ALL]]
  // CHECK: %[[UP:.*]] = stablehlo.pad %[[ALL]], %{{.*}}, low = [1], high = [-1], interior = [0]
  // CHECK: stablehlo.select %{{.*}}, %[[UP]], %[[WITHFIRST]]
  // CHECK-NOT: tensor<6xf32>
  // CHECK: return
  %0 = stablehlo.slice %x [2:8] : (tensor<8xf32>) -> tensor<6xf32>
  %1 = stablehlo.slice %x [0:6] : (tensor<8xf32>) -> tensor<6xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<6xf32>
  %3 = stablehlo.slice %2 [0:1] : (tensor<6xf32>) -> tensor<1xf32>
  %4 = stablehlo.slice %2 [5:6] : (tensor<6xf32>) -> tensor<1xf32>
  %5 = stablehlo.concatenate %3, %2, %4, dim = 0 : (tensor<1xf32>, tensor<6xf32>, tensor<1xf32>) -> tensor<8xf32>
  return %5 : tensor<8xf32>
}
