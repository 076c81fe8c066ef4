// RUN: %roundtrip

!g = tensor<8x8xf32>
!x = tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
!p = tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
!r = tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>

// CHECK: dtensor.mesh @mesh = <["x"=4, "y"=2]>
dtensor.mesh @mesh = <["x"=4, "y"=2]>
// A mesh without axes is one device.
// CHECK-NEXT: dtensor.mesh @single = <[]>
dtensor.mesh @single = <[]>

// CHECK: func.func private @layouts(
// CHECK-SAME: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y", ?}]>>
// CHECK-SAME: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x":(1)2, "y"}, {"x":(2)2}]>>
// CHECK-SAME: tensor<8x8xf32, #dtensor.layout<@mesh, [{?}, {}], unreduced=max{"x", "y"}>>
// CHECK-SAME: tensor<f32, #dtensor.layout<@mesh, []>>
func.func private @layouts(
  %a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y", ?}]>>,
  %b: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x":(1)2, "y"}, {"x":(2)2}]>>,
  %c: tensor<8x8xf32, #dtensor.layout<@mesh, [{?}, {}], unreduced=max{"x", "y"}>>,
  %d: tensor<f32, #dtensor.layout<@mesh, []>>) {
  return
}

// CHECK: func.func private @requests
func.func private @requests(%a: !g) {
  // CHECK-NEXT: %0 = dtensor.constraint %a : tensor<8x8xf32> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  %0 = dtensor.constraint %a : !g -> !x
  // CHECK-NEXT: %1 = dtensor.relayout %0 {reason = "somebody asked"} : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
  %1 = dtensor.relayout %0 {reason = "somebody asked"} : !x -> !r
  return
}

// CHECK: func.func private @planned
func.func private @planned(%p: !p, %x: !x, %r: !r) {
  // CHECK-NEXT: dtensor.all_reduce sum @mesh {"x"} %p : (tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
  %0 = dtensor.all_reduce sum @mesh {"x"} %p : (!p) -> !r
  // CHECK-NEXT: dtensor.all_reduce sum @mesh {"x"} %p, %p {reason = "both"} : ({{.*}}, {{.*}}) -> ({{.*}}, {{.*}})
  %1, %2 = dtensor.all_reduce sum @mesh {"x"} %p, %p {reason = "both"} : (!p, !p) -> (!r, !r)
  // CHECK-NEXT: dtensor.reduce_scatter sum @mesh [{"x"}, {}] %p
  %3 = dtensor.reduce_scatter sum @mesh [{"x"}, {}] %p : (!p) -> !x
  // CHECK-NEXT: dtensor.all_gather @mesh [{"x"}, {}] %x
  %4 = dtensor.all_gather @mesh [{"x"}, {}] %x : (!x) -> !r
  // A part of an axis, at the minor end.
  // CHECK-NEXT: dtensor.all_gather @mesh [{"x":(2)2}, {}] %x
  %5 = dtensor.all_gather @mesh [{"x":(2)2}, {}] %x : (!x) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x":(1)2}, {}]>>
  // CHECK-NEXT: dtensor.unreduce sum @mesh {"x"} %r : (tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
  %u = dtensor.unreduce sum @mesh {"x"} %r : (!r) -> !p
  // CHECK-NEXT: dtensor.unscatter sum @mesh [{"x"}, {}] %x : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>
  %v = dtensor.unscatter sum @mesh [{"x"}, {}] %x : (!x) -> !p
  // CHECK-NEXT: dtensor.all_slice @mesh [{"x"}, {}] %r
  %6 = dtensor.all_slice @mesh [{"x"}, {}] %r : (!r) -> !x
  // CHECK-NEXT: dtensor.all_to_all @mesh {"x"} 0 to 1 %x
  %7 = dtensor.all_to_all @mesh {"x"} 0 to 1 %x : (!x) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
  // CHECK-NEXT: dtensor.collective_permute <@mesh, [{"x"}, {}]> to <@mesh, [{"x":(2)2, "x":(1)2}, {}]> %x
  %8 = dtensor.collective_permute <@mesh, [{"x"}, {}]> to <@mesh, [{"x":(2)2, "x":(1)2}, {}]> %x : (!x) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x":(2)2, "x":(1)2}, {}]>>
  // CHECK-NEXT: dtensor.exchange <@mesh, [{"x"}, {}]> to <@mesh, [{"y"}, {}]> %x
  %9 = dtensor.exchange <@mesh, [{"x"}, {}]> to <@mesh, [{"y"}, {}]> %x : (!x) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>
  return
}

// On per-device types: 8 rows over 4 devices are 2 each.
// CHECK: func.func private @local
func.func private @local(%a: tensor<2x8xf32>, %b: tensor<8x8xf32>) {
  // CHECK-NEXT: %0 = dtensor.all_gather @mesh [{"x"}, {}] %a : (tensor<2x8xf32>) -> tensor<8x8xf32>
  %0 = dtensor.all_gather @mesh [{"x"}, {}] %a : (tensor<2x8xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: %1 = dtensor.all_slice @mesh [{"x"}, {"y"}] %b : (tensor<8x8xf32>) -> tensor<2x4xf32>
  %1 = dtensor.all_slice @mesh [{"x"}, {"y"}] %b : (tensor<8x8xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %2 = dtensor.all_to_all @mesh {"x"} 0 to 1 %a : (tensor<2x8xf32>) -> tensor<8x2xf32>
  %2 = dtensor.all_to_all @mesh {"x"} 0 to 1 %a : (tensor<2x8xf32>) -> tensor<8x2xf32>
  // CHECK-NEXT: %3 = dtensor.axis_index @mesh {"x", "y"} : tensor<i32>
  %3 = dtensor.axis_index @mesh {"x", "y"} : tensor<i32>
  return
}
