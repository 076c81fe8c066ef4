// RUN: shardwright-opt %s -p lower-relayouts --split-input-file | filecheck %s

// Nothing to do, nothing left.
// CHECK-LABEL: module @same attributes {dtensor.stage = "planned"}
module @same attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> {
    // CHECK-NEXT: dtensor.mesh
    // CHECK-NEXT: func.func
    // CHECK-NEXT: return %a
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  }
}

// -----

// Split to whole: an all-gather. The reason goes along.
// CHECK-LABEL: module @gather attributes {dtensor.stage = "planned"}
module @gather attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>> {
    // CHECK: %0 = dtensor.all_gather @mesh [{"x"}, {}] %a {reason = "somebody asked"} : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a {reason = "somebody asked"} : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
  }
}

// -----

// Whole to split: everybody keeps a part, nothing is sent.
// CHECK-LABEL: module @slice attributes {dtensor.stage = "planned"}
module @slice attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>> {
    // CHECK: %0 = dtensor.all_slice @mesh [{"x"}, {"y"}] %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>
  }
}

// -----

// Partial to whole: an all-reduce of that kind.
// CHECK-LABEL: module @reduce attributes {dtensor.stage = "planned"}
module @reduce attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>> {
    // CHECK: %0 = dtensor.all_reduce sum @mesh {"x"} %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
  }
}

// -----

// Over two axes at once.
// CHECK-LABEL: module @reduce_max attributes {dtensor.stage = "planned"}
module @reduce_max attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=max{"x", "y"}>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>> {
    // CHECK: %0 = dtensor.all_reduce max @mesh {"x", "y"} %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=max{"x", "y"}>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=max{"x", "y"}>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}]>>
  }
}

// -----

// Partial to split: a reduce-scatter, half of an all-reduce.
// CHECK-LABEL: module @scatter attributes {dtensor.stage = "planned"}
module @scatter attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> {
    // CHECK: %0 = dtensor.reduce_scatter sum @mesh [{"x"}, {}] %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  }
}

// -----

// Partial over x, wanted split by y: slice before reducing, so that half as much is reduced.
// CHECK-LABEL: module @reduce_and_slice attributes {dtensor.stage = "planned"}
module @reduce_and_slice attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}]>> {
    // CHECK: %0 = dtensor.all_slice @mesh [{"y"}, {}] %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}], unreduced=sum{"x"}>>
    // CHECK-NEXT: %1 = dtensor.all_reduce sum @mesh {"x"} %0 : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}], unreduced=sum{"x"}>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {}], unreduced=sum{"x"}>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>
  }
}

// -----

// An axis moves to another dim: an all-to-all, never a gather.
// CHECK-LABEL: module @turn attributes {dtensor.stage = "planned"}
module @turn attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>> {
    // CHECK: %0 = dtensor.all_to_all @mesh {"x"} 0 to 1 %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{}, {"x"}]>>
  }
}

// -----

// Two axes change places: each device sends what it has to one other; no device ever holds more than its quarter.
// CHECK-LABEL: module @swap attributes {dtensor.stage = "planned"}
module @swap attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {"x"}]>> {
    // CHECK: %0 = dtensor.collective_permute <@mesh, [{"x"}, {"y"}]> to <@mesh, [{"y"}, {"x"}]> %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {"x"}]>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {"x"}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {"x"}]>>
  }
}

// -----

// One axis for another of the same size: a permute as well.
// CHECK-LABEL: module @rename attributes {dtensor.stage = "planned"}
module @rename attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}]>> {
    // CHECK: %0 = dtensor.collective_permute <@mesh, [{"x"}, {}]> to <@mesh, [{"y"}, {}]> %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{"y"}, {}]>>
  }
}

// -----

// The same axes in the other order.
// CHECK-LABEL: module @order attributes {dtensor.stage = "planned"}
module @order attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x", "y"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y", "x"}, {}]>> {
    // CHECK: %0 = dtensor.collective_permute <@mesh, [{"x", "y"}, {}]> to <@mesh, [{"y", "x"}, {}]> %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x", "y"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y", "x"}, {}]>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x", "y"}, {}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"y", "x"}, {}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{"y", "x"}, {}]>>
  }
}

// -----

// Only the minor axis is gathered, over half of the devices.
// CHECK-LABEL: module @minor attributes {dtensor.stage = "planned"}
module @minor attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x", "y"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> {
    // CHECK: %0 = dtensor.all_gather @mesh [{"y"}, {}] %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x", "y"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x", "y"}, {}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>
  }
}

// -----

// A part of an axis is gathered alone.
// CHECK-LABEL: module @parts attributes {dtensor.stage = "planned"}
module @parts attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x":(1)2}, {}]>> {
    // CHECK: %0 = dtensor.all_gather @mesh [{"x":(2)2}, {}] %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x":(1)2}, {}]>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x":(1)2}, {}]>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x":(1)2}, {}]>>
  }
}

// -----

// What is split becomes partial over the axes that split it: each device has its part among what adds nothing.
// CHECK-LABEL: module @unscatter attributes {dtensor.stage = "planned"}
module @unscatter attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}], unreduced=sum{"y"}>> {
    // CHECK: %0 = dtensor.unscatter sum @mesh [{}, {"y"}] %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}], unreduced=sum{"y"}>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {"y"}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}], unreduced=sum{"y"}>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}], unreduced=sum{"y"}>>
  }
}

// -----

// What is finished becomes partial: the first device has it, and nothing is sent.
// CHECK-LABEL: module @unreduce attributes {dtensor.stage = "planned"}
module @unreduce attributes {dtensor.stage = "aligned"} {
  dtensor.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}], unreduced=sum{"y"}>> {
    // CHECK: %0 = dtensor.unreduce sum @mesh {"y"} %a : (tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>>) -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}], unreduced=sum{"y"}>>
    // CHECK-NEXT: return
    %0 = dtensor.relayout %a : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}]>> -> tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}], unreduced=sum{"y"}>>
    return %0 : tensor<8x8xf32, #dtensor.layout<@mesh, [{"x"}, {}], unreduced=sum{"y"}>>
  }
}
