// RUN: not shardwright-opt %s -p cse,,dce 2>&1 | filecheck %s
// CHECK: error[SW0706]: malformed pipeline 'cse,,dce': here comes the name of a pass, not ',', at character 5
// CHECK-NEXT: help: write 'first-pass,second-pass{option=1 other=true}'

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
