module @jit_sort_pairs attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<256x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<256x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<256x4xi32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<256x4xi32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<256x4xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = call @argsort(%arg0) : (tensor<256x4xi32>) -> tensor<256x4xi32>
    %1:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
      %2 = stablehlo.compare LT, %arg2, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }) : (tensor<256x4xi32>, tensor<256x4xf32>) -> (tensor<256x4xi32>, tensor<256x4xf32>)
    return %0, %1#0, %1#1 : tensor<256x4xi32>, tensor<256x4xi32>, tensor<256x4xf32>
  }
  func.func private @argsort(%arg0: tensor<256x4xi32>) -> tensor<256x4xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<256x4xi32>
    %1 = stablehlo.reverse %arg0, dims = [0] : tensor<256x4xi32>
    %2 = stablehlo.reverse %0, dims = [0] : tensor<256x4xi32>
    %3:2 = "stablehlo.sort"(%1, %2) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %5 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    }) : (tensor<256x4xi32>, tensor<256x4xi32>) -> (tensor<256x4xi32>, tensor<256x4xi32>)
    %4 = stablehlo.reverse %3#1, dims = [0] : tensor<256x4xi32>
    return %4 : tensor<256x4xi32>
  }
}
