// RUN: shardwright-opt %s -p split-searches --split-input-file | filecheck %s

#row = #dtensor.layout<@mesh, [{"x"}]>
#one = #dtensor.layout<@mesh, []>
#all = #dtensor.layout<@mesh, [{}]>
#sum = #dtensor.layout<@mesh, [], unreduced=sum{"x"}>

// The first element of each part goes to all, and what comes of it tells in which part one goes on, for as many rounds as
// are left; who has it says where it ends.
// CHECK-LABEL: module attributes
module attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<64xi32, #row>, %q: tensor<i32, #one>) -> tensor<i32, #one> {
    // CHECK: %[[PARTS:.*]] = stablehlo.reshape %a : {{.*}} -> tensor<4x16xi32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    // CHECK-NEXT: stablehlo.slice %[[PARTS]] [0:4, 0:1]
    // CHECK: %[[FIRSTS:.*]] = dtensor.relayout {{.*}} -> tensor<4xi32, #dtensor.layout<@mesh, [{}]>>
    // CHECK: stablehlo.while
    // CHECK: stablehlo.constant dense<2> : tensor<i32>
    // CHECK: "stablehlo.gather"(%[[FIRSTS]]
    // CHECK: stablehlo.while
    // CHECK: stablehlo.constant dense<5> : tensor<i32>
    // CHECK: "stablehlo.gather"(%[[PARTS]]
    // CHECK-NOT: dtensor.relayout
    // CHECK: stablehlo.reduce{{.*}} unreduced=sum{"x"}
    // CHECK-NEXT: dtensor.relayout
    // CHECK-NOT: dtensor.relayout
    %0 = stablehlo.constant dense<0> : tensor<i32> -> tensor<i32, #one>
    %1 = stablehlo.constant dense<64> : tensor<i32> -> tensor<i32, #one>
    %2:3 = stablehlo.while(%i = %0, %low = %0, %high = %1) : tensor<i32, #one>, tensor<i32, #one>, tensor<i32, #one>
    cond {
      %3 = stablehlo.constant dense<7> : tensor<i32> -> tensor<i32, #one>
      %4 = stablehlo.compare LT, %i, %3 : (tensor<i32, #one>, tensor<i32, #one>) -> tensor<i1, #one>
      stablehlo.return %4 : tensor<i1, #one>
    } do {
      %3 = stablehlo.constant dense<2> : tensor<i32> -> tensor<i32, #one>
      %4 = stablehlo.constant dense<1> : tensor<i32> -> tensor<i32, #one>
      %5 = stablehlo.subtract %high, %low : tensor<i32, #one>
      %6 = stablehlo.divide %5, %3 : tensor<i32, #one>
      %7 = stablehlo.add %low, %6 : tensor<i32, #one>
      %8 = stablehlo.reshape %7 : (tensor<i32, #one>) -> tensor<1xi32, #all>
      %9 = "stablehlo.gather"(%a, %8) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<64xi32, #row>, tensor<1xi32, #all>) -> tensor<i32, #sum>
      %10 = dtensor.relayout %9 {reason = "looked up"} : tensor<i32, #sum> -> tensor<i32, #one>
      %11 = stablehlo.compare LE, %q, %10 : (tensor<i32, #one>, tensor<i32, #one>) -> tensor<i1, #one>
      %12 = stablehlo.select %11, %low, %7 : tensor<i1, #one>, tensor<i32, #one>
      %13 = stablehlo.select %11, %7, %high : tensor<i1, #one>, tensor<i32, #one>
      %14 = stablehlo.add %i, %4 : tensor<i32, #one>
      stablehlo.return %14, %12, %13 : tensor<i32, #one>, tensor<i32, #one>, tensor<i32, #one>
    }
    return %2#2 : tensor<i32, #one>
  }
}

// -----

#row = #dtensor.layout<@mesh, [{"x"}]>
#one = #dtensor.layout<@mesh, []>
#all = #dtensor.layout<@mesh, [{}]>

// A copy that somebody else reads is there anyway; what reads it sends nothing.
// CHECK-LABEL: module attributes
module attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<64xi32, #row>, %q: tensor<i32, #one>) -> (tensor<i32, #one>, tensor<64xi32, #all>) {
    // CHECK: %[[COPY:.*]] = dtensor.relayout %a
    // CHECK: stablehlo.while
    // CHECK: "stablehlo.gather"(%[[COPY]]
    // CHECK-NOT: stablehlo.while
    %c = dtensor.relayout %a {reason = "wanted"} : tensor<64xi32, #row> -> tensor<64xi32, #all>
    %0 = stablehlo.constant dense<0> : tensor<i32> -> tensor<i32, #one>
    %1 = stablehlo.constant dense<64> : tensor<i32> -> tensor<i32, #one>
    %2:3 = stablehlo.while(%i = %0, %low = %0, %high = %1) : tensor<i32, #one>, tensor<i32, #one>, tensor<i32, #one>
    cond {
      %3 = stablehlo.constant dense<7> : tensor<i32> -> tensor<i32, #one>
      %4 = stablehlo.compare LT, %i, %3 : (tensor<i32, #one>, tensor<i32, #one>) -> tensor<i1, #one>
      stablehlo.return %4 : tensor<i1, #one>
    } do {
      %3 = stablehlo.constant dense<2> : tensor<i32> -> tensor<i32, #one>
      %4 = stablehlo.constant dense<1> : tensor<i32> -> tensor<i32, #one>
      %5 = stablehlo.subtract %high, %low : tensor<i32, #one>
      %6 = stablehlo.divide %5, %3 : tensor<i32, #one>
      %7 = stablehlo.add %low, %6 : tensor<i32, #one>
      %8 = stablehlo.reshape %7 : (tensor<i32, #one>) -> tensor<1xi32, #all>
      %9 = "stablehlo.gather"(%c, %8) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<64xi32, #all>, tensor<1xi32, #all>) -> tensor<i32, #one>
      %11 = stablehlo.compare LE, %q, %9 : (tensor<i32, #one>, tensor<i32, #one>) -> tensor<i1, #one>
      %12 = stablehlo.select %11, %low, %7 : tensor<i1, #one>, tensor<i32, #one>
      %13 = stablehlo.select %11, %7, %high : tensor<i1, #one>, tensor<i32, #one>
      %14 = stablehlo.add %i, %4 : tensor<i32, #one>
      stablehlo.return %14, %12, %13 : tensor<i32, #one>, tensor<i32, #one>, tensor<i32, #one>
    }
    return %2#2, %c : tensor<i32, #one>, tensor<64xi32, #all>
  }
}
