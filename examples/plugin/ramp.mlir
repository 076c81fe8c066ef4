sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %s: tensor<i32>) -> tensor<4x8xf32> {
  %0 = "ramp.multiply"(%a, %s) <{dim = 1 : i64}> : (tensor<4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
