// RUN: not shardwright export %s --to sdy 2>&1 | filecheck %s
// RUN: not shardwright export %s --to stablehlo 2>&1 | filecheck %s

// CHECK: error[SW0734]: a mesh of 8,589,934,592 devices, Mesh(x=8589934592), has more than the 2,147,483,647 that can be written: mhlo.num_partitions has 32 bits
// CHECK: help: export for a smaller mesh; shardwright explain and price say what happens on this one

sdy.mesh @mesh = <["x"=8589934592]>
func.func public @main(%a: tensor<8589934592x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8589934592x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.tanh %a : tensor<8589934592x8xf32>
  return %0 : tensor<8589934592x8xf32>
}
