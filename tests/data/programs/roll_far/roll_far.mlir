module @jit_roll_far attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<128x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<128x8xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<128x8xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<128x8xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = call @_roll_static(%arg0) : (tensor<128x8xf32>) -> tensor<128x8xf32>
    %1 = call @_roll_static_0(%arg0) : (tensor<128x8xf32>) -> tensor<128x8xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<128x8xf32>) -> tensor<1024xf32>
    %3 = call @_roll_static_1(%2) : (tensor<1024xf32>) -> tensor<1024xf32>
    %4 = stablehlo.reshape %3 : (tensor<1024xf32>) -> tensor<128x8xf32>
    return %0, %1, %4 : tensor<128x8xf32>, tensor<128x8xf32>, tensor<128x8xf32>
  }
  func.func private @_roll_static(%arg0: tensor<128x8xf32>) -> tensor<128x8xf32> {
    %0 = stablehlo.slice %arg0 [91:128, 0:8] : (tensor<128x8xf32>) -> tensor<37x8xf32>
    %1 = stablehlo.slice %arg0 [0:91, 0:8] : (tensor<128x8xf32>) -> tensor<91x8xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<37x8xf32>, tensor<91x8xf32>) -> tensor<128x8xf32>
    return %2 : tensor<128x8xf32>
  }
  func.func private @_roll_static_0(%arg0: tensor<128x8xf32>) -> tensor<128x8xf32> {
    %0 = stablehlo.slice %arg0 [70:128, 0:8] : (tensor<128x8xf32>) -> tensor<58x8xf32>
    %1 = stablehlo.slice %arg0 [0:70, 0:8] : (tensor<128x8xf32>) -> tensor<70x8xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<58x8xf32>, tensor<70x8xf32>) -> tensor<128x8xf32>
    %3 = stablehlo.slice %2 [0:128, 5:8] : (tensor<128x8xf32>) -> tensor<128x3xf32>
    %4 = stablehlo.slice %2 [0:128, 0:5] : (tensor<128x8xf32>) -> tensor<128x5xf32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<128x3xf32>, tensor<128x5xf32>) -> tensor<128x8xf32>
    return %5 : tensor<128x8xf32>
  }
  func.func private @_roll_static_1(%arg0: tensor<1024xf32>) -> tensor<1024xf32> {
    %0 = stablehlo.slice %arg0 [1019:1024] : (tensor<1024xf32>) -> tensor<5xf32>
    %1 = stablehlo.slice %arg0 [0:1019] : (tensor<1024xf32>) -> tensor<1019xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<5xf32>, tensor<1019xf32>) -> tensor<1024xf32>
    return %2 : tensor<1024xf32>
  }
}
