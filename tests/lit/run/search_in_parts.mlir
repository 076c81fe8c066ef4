// One element of each part goes to all (3 * 4 bytes), and where three ranges end is summed up (2 * 3/4 * 12).
// RUN: shardwright run %s --check | filecheck %s

// CHECK: ok: 1 results against the unsharded run
// CHECK-NEXT: sent per device: 30 bytes in 2 messages, as predicted
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %q: tensor<3xf32>) -> tensor<3xi32> {
    %start = stablehlo.constant dense<0> : tensor<i32>
    %low = stablehlo.constant dense<0> : tensor<3xi32>
    %high = stablehlo.constant dense<64> : tensor<3xi32>
    %0:3 = stablehlo.while(%i = %start, %l = %low, %h = %high) : tensor<i32>, tensor<3xi32>, tensor<3xi32>
    cond {
      %n = stablehlo.constant dense<7> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<3xi32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %1 = stablehlo.subtract %h, %l : tensor<3xi32>
      %2 = stablehlo.divide %1, %two : tensor<3xi32>
      %m = stablehlo.add %l, %2 : tensor<3xi32>
      %p = stablehlo.reshape %m : (tensor<3xi32>) -> tensor<3x1xi32>
      %e = "stablehlo.gather"(%a, %p) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<64xf32>, tensor<3x1xi32>) -> tensor<3xf32>
      %left = stablehlo.compare LE, %q, %e : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
      %3 = stablehlo.select %left, %l, %m : tensor<3xi1>, tensor<3xi32>
      %4 = stablehlo.select %left, %m, %h : tensor<3xi1>, tensor<3xi32>
      stablehlo.return %j, %3, %4 : tensor<i32>, tensor<3xi32>, tensor<3xi32>
    }
    return %0#2 : tensor<3xi32>
  }
}
