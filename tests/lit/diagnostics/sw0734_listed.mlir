// RUN: not shardwright export %s --to stablehlo 2>&1 | filecheck %s
// RUN: shardwright export %s --to sdy | filecheck %s --check-prefix SDY

// CHECK: error[SW0734]: a mesh of 1,073,741,824 devices, Mesh(x=1073741824), has more than the 1,048,576 that can be written: StableHLO's collectives list the devices of each group one by one
// CHECK: help: export for a smaller mesh; shardwright explain and price say what happens on this one

// SDY: mhlo.num_partitions = 1073741824 : i32

sdy.mesh @mesh = <["x"=1073741824]>
func.func public @main(%a: tensor<1073741824x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<1073741824x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.tanh %a : tensor<1073741824x8xf32>
  return %0 : tensor<1073741824x8xf32>
}
