// Names that are no words are written as MLIR writes strings and symbols, and read back, in every form.
// RUN: shardwright-opt %s | shardwright-opt | filecheck %s
// RUN: shardwright-opt %s -p partition | shardwright-opt | filecheck %s --check-prefix LOCAL
// RUN: shardwright export %s --to sdy | shardwright-opt | filecheck %s --check-prefix SDY
// RUN: shardwright certify %s | filecheck %s --check-prefix PROVED

// CHECK: sdy.mesh @"my mesh" = <["x\22y"=2, "\C3\A9\\"=2]>
// CHECK: %a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@"my mesh", [{"x\22y", "\C3\A9\\"}, {}]>}
// LOCAL: dtensor.mesh @"my mesh" = <["x\22y"=2, "\C3\A9\\"=2]>
// LOCAL: %a: tensor<4x8xf32> {dtensor.layout = #dtensor.layout<@"my mesh", [{"x\22y", "\C3\A9\\"}, {}]>
// LOCAL: dtensor.all_gather @"my mesh" [{"x\22y", "\C3\A9\\"}, {}]
// SDY: sdy.mesh @"my mesh" = <["x\22y"=2, "\C3\A9\\"=2]>
// SDY: sdy.sharding = #sdy.sharding<@"my mesh", [{"x\22y", "\C3\A9\\"}, {}]>
// PROVED: proved

sdy.mesh @"my mesh" = <["x\"y"=2, "é\\"=2]>
func.func public @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@"my mesh", [{"x\22y", "\C3\A9\5C"}, {}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@"my mesh", [{}, {}]>}) {
  %0 = stablehlo.tanh %a : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
