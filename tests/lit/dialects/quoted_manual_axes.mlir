// RUN: shardwright-opt %s | shardwright-opt | filecheck %s

// CHECK: sdy.manual_computation(%a) in_shardings=[<@"my mesh", [{}, {}]>] out_shardings=[<@"my mesh", [{}, {}]>] manual_axes={"\C3\A9\\", "x\22y"}
// CHECK: sdy.named_computation<"\C3\A9">(%0)

sdy.mesh @"my mesh" = <["x\"y"=2, "é\\"=2]>
func.func private @manual(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@"my mesh", [{}, {}]>] out_shardings=[<@"my mesh", [{}, {}]>] manual_axes={"é\\", "x\"y"} (%b: tensor<16x8xf32>) {
    sdy.return %b : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %1 = sdy.named_computation<"é">(%0) in_shardings=[<@"my mesh", [{}, {}]>] out_shardings=[<@"my mesh", [{}, {}]>] (%c: tensor<16x8xf32>) {
    sdy.return %c : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}
