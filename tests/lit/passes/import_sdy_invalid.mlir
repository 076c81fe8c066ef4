// RUN: shardwright-opt %s -p import-sdy --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=2]>
// expected-error @+2 {{there is no mesh @other}}
// expected-help @+1 {{the module declares @mesh}}
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@other, [{"x"}]>}) {
  return
}

// -----

// expected-error @+2 {{there is no mesh @mesh}}
// expected-help @+1 {{declare it: dtensor.mesh @mesh = <["x"=8]>}}
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+2 {{mesh @mesh has no axis 'z'}}
// expected-help @+1 {{its axes are x=2, y=4}}
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{axis 'x' is used twice: by dim 0 and by dim 1}}
func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=8]>
// expected-error @+1 {{axis 'x' is used twice: by dim 0 and by dim 0}}
func.func @main(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "x":(2)2}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{axis 'x' is used twice: by dim 0 and by the replicated axes}}
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], replicated={"x"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%x: tensor<8x6xf32>) {
  // A manual computation sees the sizes of its parts, so they are equal.
  // expected-error @+4 {{dim 1 has 6 elements and does not split evenly over x=4}}
  // expected-note @+3 {{the mesh is Mesh(x=4, y=2)}}
  // expected-note @+2 {{the tensor is tensor<8x6xf32>}}
  // expected-help @+1 {{axes that divide 6: y=2, x:(1)2; sizes that fit: 4, 8}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{}, {"x"}]>] manual_axes={"x"} (%y: tensor<8x2xf32>) {
    sdy.return %y : tensor<8x2xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+2 {{the layout [{"x"}] has 1 dims, but the tensor has 2}}
// expected-help @+1 {{write one {...} for each of the 2 dims}}
func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=8]>
// expected-error @+2 {{"x":(2)8 is no part of axis 'x', which has size 8}}
// expected-help @+1 {{sizes that divide 8: 2, 4}}
func.func @main(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)8}]>}) {
  return
}

// -----

sdy.mesh @one = <["x"=2, "y"=4]>
// expected-error @+1 {{one program uses several meshes: @one is Mesh(x=2, y=4), @two is Mesh(x=4, y=4)}}
sdy.mesh @two = <["x"=4, "y"=4]>
func.func @main(%x: tensor<64xf32> {sdy.sharding = #sdy.sharding<@one, [{"x"}]>}, %y: tensor<64xf32> {sdy.sharding = #sdy.sharding<@two, [{"x"}]>}) {
  return
}

// -----

// expected-error @+2 {{mesh @mesh lists its devices by device_ids}}
// expected-help @+1 {{give the devices to Mesh(devices=...)}}
sdy.mesh @mesh = <["x"=2], device_ids=[1, 0]>
func.func @main() -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

// expected-error @+2 {{mesh @mesh lists its devices by device_ids}}
// expected-help @+1 {{give the devices to Mesh(devices=...)}}
sdy.mesh @mesh = <["x"=2], device_ids=[1, 0]>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<1xf32>) {
    %1 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
    sdy.return %1 : tensor<1xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// The number of that one device counts here.
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @maximal = <[], device_ids=[0]>
func.func @main(%x: tensor<ui32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
  %0 = stablehlo.partition_id : tensor<ui32>
  // expected-error @+1 {{mesh @maximal lists its devices by device_ids}}
  %1 = stablehlo.add %x, %0 {sdy.sharding = #sdy.sharding_per_value<[<@maximal, []>]>} : tensor<ui32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.negate' op has 1 results, which sdy.sharding}}
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>} : tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{a value of type index cannot have a layout}}
func.func @main(%x: index {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
// expected-error @+2 {{SW0464: the sharding <@mesh, [{"y", "x"}]> of a manual computation names free axes before manual ones}}
func.func @free_axes_first(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y", "x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
    sdy.return %b : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @wrong_part(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{SW0464: the manual computation takes or gives tensor<4xf32> where its sharding makes it tensor<2xf32>}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @no_axes(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<1xf32>) {
    // expected-error @+1 {{SW0460: 'stablehlo.all_gather' has replica_groups [[0, 3], [1, 2]], which no axes of the mesh make}}
    %1 = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<1xf32>) -> tensor<2xf32>
    %2 = stablehlo.slice %1 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    sdy.return %2 : tensor<1xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @replicas(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{SW0466: 'stablehlo.collective_permute' lists replicas [[0, 1], [1, 0]], but the program has one replica}}
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=3]>
// expected-error @+1 {{SW0467: mhlo.sharding = {devices=[4]<=[4]} cannot be read as a layout: it is for 4 devices, but the mesh Mesh(x=2, y=3) has 6}}
func.func @main(%x: tensor<4xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=3]>
// expected-error @+1 {{SW0467: mhlo.sharding = {devices=[2,3]<=[3,2]T(1,0)} cannot be read as a layout: no axes of the mesh Mesh(x=2, y=3) count 2 devices in steps of 1}}
func.func @main(%x: tensor<4x6xf32> {mhlo.sharding = "{devices=[2,3]<=[3,2]T(1,0)}"}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{SW0467: mhlo.sharding = {maximal device=0} cannot be read as a layout: it puts the value on one device}}
func.func @main(%x: tensor<4xf32> {mhlo.sharding = "{maximal device=0}"}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{SW0467: mhlo.sharding = {devices=[2] cannot be read as a layout: {devices=[2] is no sharding}}
func.func @main(%x: tensor<4xf32> {mhlo.sharding = "{devices=[2]"}) {
  return
}

// -----

// Without a mesh, one is made of the tiles; these do not nest.
// expected-error @+1 {{SW0467: mhlo.sharding = {devices=[2,3]<=[6]} cannot be read as a layout: shardings count devices in steps of 3 and of 2, which do not nest}}
func.func @main(%x: tensor<4x6xf32> {mhlo.sharding = "{devices=[2,3]<=[6]}"}, %y: tensor<3x4xf32> {mhlo.sharding = "{devices=[3,2]<=[6]}"}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @no_such_axis(%a: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{SW0102: 'stablehlo.all_gather': mesh @mesh has no axis 'z'}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "z">]>}> : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @no_such_part(%a: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{SW0107: 'stablehlo.all_gather': "x":(2)3 is no part of axis 'x', which has size 4}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (2)3>]>}> : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @other_size(%a: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{SW0460: 'stablehlo.all_gather' has groups of 4 devices, but dims that grow or shrink otherwise}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-error @+1 {{SW0466: the program is for 2 replicas}}
module attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main() {
    return
  }
}

// -----

sdy.mesh @mesh = <["x"=4]>
func.func @other_kind(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<4xf32> {
  // expected-error @+1 {{SW0407: 'sdy.all_reduce' takes the sum of partial results that are for a max}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
