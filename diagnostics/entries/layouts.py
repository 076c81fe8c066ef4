"""The error codes of meshes and layouts."""

from __future__ import annotations

LAYOUTS = """
SW0101: malformed mesh
    A mesh needs axes with distinct, non-empty names and sizes of at least one, and as many devices as the product of
    the sizes.
    help: write the mesh as axis names and sizes: Mesh(batch=4, model=2) or <["batch"=4, "model"=2]>
SW0102: unknown mesh axis
    A layout, a collective or a call names an axis that the mesh does not have.
    help: use one of the axes that the message lists, or add the axis to the mesh
SW0103: unknown mesh
    A layout names a mesh that the module does not declare.
    help: declare it at the top of the module: dtensor.mesh @mesh = <["x"=8]> (or sdy.mesh)
SW0104: dim does not split evenly
    The axes that split a dim must divide its size, unless the layout may be uneven. Shardwright never pads or truncates
    by itself. In a manual computation, which sees the sizes of its parts, and after propagation all parts are equal.
    help: split the dim over fewer axes, choose another mesh, or let the layout be uneven: Layout(..., uneven=True)
SW0105: axis used twice
    In one layout each part of a mesh axis may split one dim once, or be partial, but not both.
    help: drop one of the two uses, or split the axis into sub-axes: "x":(1)2 and "x":(2)2
SW0106: layout of another rank
    A layout lists the axes of each dim, so it has as many entries as the tensor has dims.
    help: write one {...} for each dim, {} for a dim that is not split
SW0107: malformed sub-axis
    "x":(pre)size takes the digits of axis x between pre and pre * size: pre * size must divide the axis' size, and size
    must be at least 2. All of an axis is no part of it. Parts of one axis nest: of the places where a layout cuts it,
    each divides the next.
    help: use the sizes or the parts that the message lists
SW0108: text that is no layout
    A layout is written as in the IR, [{"x"}, {}], or around the type, f32[16@x, 64]; an open dim is {?} there and 64@?
    here, and a layout that is to be chosen is auto.
    help: compare the text with the two forms; brackets and commas matter
SW0109: wrong entry for a dim, or no entry at all
    Each entry of a layout says how one dim is split: by an axis, by several, or not at all. Ranks and sizes are whole
    numbers.
    help: give an axis name, a tuple of names, or Mesh.UNSHARDED for each dim
SW0110: mesh with its own device order
    An sdy.mesh with device_ids orders devices in a special way, or is one certain device. Programs refer to axes only;
    which device stands where is for the run to say. That is no matter unless the program numbers devices.
    help: drop device_ids, and give the devices to Mesh(devices=...)
SW0111: shardings that do not fit the results
    An op's sdy.sharding attribute must have one entry for each result.
    help: give #sdy.sharding_per_value<[...]> one entry for each result
SW0113: layout on something that is no tensor
    Only tensors have layouts.
    help: drop the sharding from this value
SW0114: sdy.sharding that is no sharding
    The attribute sdy.sharding of an argument or result must be a Shardy sharding; anything else would be lost silently.
    help: write #sdy.sharding<@mesh, [{...}, ...]>, one {...} for each dim
SW0115: unknown attribute of Shardy
    An argument, a result or an op has an attribute sdy.NAME that nothing reads. A sharding under a misspelt name would
    be lost silently.
    help: write sdy.sharding, or drop the attribute
SW0116: malformed device name
    The devices of a mesh are named as in TensorFlow, each once: a kind and a number, and before them the job and the
    task where there are several processes.
    help: write "GPU:0", "/worker:0/GPU:0" or "/job:worker/task:0/device:GPU:0", one for each place of the mesh
SW0117: text or message that is no mesh or layout
    TensorFlow's DTensor writes meshes and layouts as texts and as protocol buffers, which Shardwright reads and writes.
    This one is neither, or does not fit the mesh, or says what that form cannot say.
    help: give what Mesh.to_string, Layout.to_string or to_proto write; str(layout) can say everything
SW0118: OpSharding without a layout
    Some of XLA's shardings have no layout: those of tuples, of manual and of unknown ones, of one device out of many,
    and lists of devices that are no axes of the mesh.
    help: use a sharding of replicated or evenly tiled type, or leave out the mesh, so that one is made
SW0119: mesh with other axes
    A tensor keeps its sharding on another mesh only if that has the same axes: the same names and sizes, in the same
    order. A replicated tensor can go to every mesh.
    help: give relayout a layout on the other mesh, which says how the tensor is split there
SW0120: processes that hold no box of the mesh
    Each process of a mesh over several has as many devices, one after the other in row-major order. They have to be a
    box: some coordinates along the first axes, and all along the others. A part of such a mesh lies on processes that
    follow each other, each with as many of its devices.
    help: let the number of processes be a product of the first axes, the last of them in part
SW0121: what describes no topology
    A topology has for each axis of a mesh a latency and a bandwidth, and what a device computes and moves in a second.
    They are finite, rates are above zero, times are not below, and none is beyond what a machine may have (1e60).
    Where it meets a mesh, each axis of more than one device has a link of its name, unless one is named "any axis":
    that is for all that are not named. Links of further axes, as other meshes have them, may stand beside these.
    help: write the four kinds of numbers, all of them above zero, and a link for each axis
"""
