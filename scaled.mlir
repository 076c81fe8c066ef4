
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func public @main(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, %by: tensor<8xf32>) -> tensor<8x6xf32> {
  %0 = stablehlo.custom_call @my.scale(%x, %by) : (tensor<8x6xf32>, tensor<8xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
