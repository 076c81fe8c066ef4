"""Writing the program that each device runs with StableHLO's own collectives, so that others can run it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from shardwright.compiler.exporting.messages.devices import Piece, groups, permutation, rounds
from shardwright.compiler.exporting.messages.sharing import Bundle, bundles, in_rounds, paired, together
from shardwright.compiler.exporting.messages.windows import written
from shardwright.compiler.exporting.writer import Writer
from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import ops_in
from shardwright.dialects.dtensor import manual
from shardwright.dialects.dtensor.kinds import adds_nothing
from shardwright.dialects.stablehlo.collectives import GroupedOp
from shardwright.dialects.types import element_of, shape_of
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.passes.rewriter import replace


def lower_collectives(module: ModuleOp, mesh: Mesh) -> None:
    """
    Turns each `dtensor` op of a local program into ops of StableHLO, in place.

    A collective becomes StableHLO's of the same name, with the groups listed. What goes by no such name (an exchange, a
    window) becomes an `all_to_all`, or a permute for each round of pieces that move, or with a gather behind these, so
    that no device is sent more than it lacks. Small ones share a message: each is sent when somebody needs one of them.
    """
    _drop_lonely(module)
    writer, together_from, shared = Writer(mesh), dict[Operation, Bundle](), set[Operation]()
    for bundle in bundles(module, mesh):
        together_from[bundle.ops[0]] = bundle
        shared.update(bundle.ops)
    for op in ops_in(module):
        writer.anchor = op
        if op in together_from:
            bundle = together_from[op].ops
            for one, value in zip(bundle, together(writer, bundle), strict=True):
                _replace(one, [value])
        if op in shared:
            continue
        if isinstance(op, GroupedOp) and op.groups is not None:
            op.properties |= writer.listed(groups(op.groups.axes, writer.mesh), type(op))
        values = _lowered(writer, op)
        if values is not None:
            _replace(op, values)


def _drop_lonely(module: ModuleOp) -> None:
    """Leaves out what joins or deals out along axes of one device alone, as a user may write it."""
    for op in ops_in(module):
        if isinstance(op, dtensor.AllGatherOp | dtensor.ReduceScatterOp) and not any(op.dim_axes.data):
            replace(op, list(op.inputs))


def _replace(op: Operation, values: Sequence[SSAValue]) -> None:
    for old, new in zip(op.results, values, strict=True):
        new.name_hint = old.name_hint or new.name_hint
    replace(op, values)


def _lowered(writer: Writer, op: Operation) -> list[SSAValue] | None:
    """What each of our ops becomes; None for all others."""
    if not op.name.startswith("dtensor."):
        return None
    match op:
        case dtensor.AllReduceOp():
            # One for each value: XLA joins the messages itself, and takes no several values in a manual computation.
            return [writer.all_reduce(value, op.kind.data, op.axes.data) for value in op.inputs]
        case dtensor.AllGatherOp():
            return [_all_gather(writer, op)]
        case dtensor.AllSliceOp():
            local = shape_of(op.outputs[0])
            starts = [_start(writer, axes, extent) for axes, extent in zip(op.dim_axes.data, local, strict=True)]
            return [writer.put(stablehlo.DynamicSliceOp(op.inputs[0], starts, local))]
        case dtensor.UnreduceOp():
            return [_unreduced(writer, op, value) for value in op.inputs]
        case dtensor.UnscatterOp():
            return [_unscattered(writer, op)]
        case dtensor.ReduceScatterOp():
            return [_reduce_scatter(writer, op)]
        case dtensor.AllToAllOp():
            return [writer.all_to_all(op.inputs[0], op.source, op.target, groups(op.axes.data, writer.mesh))]
        case dtensor.CollectivePermuteOp():
            return [writer.permute(op.inputs[0], permutation(op.source.data, op.target.data, writer.mesh))]
        case dtensor.AxisIndexOp():
            return [writer.index(op.axes.data)]
        case dtensor.ExchangeOp():
            return together(writer, [op])
        case dtensor.WindowOp():
            return written(writer, [op])
        case manual.FetchOp():
            return [_fetch(writer, op)]
        case manual.UnvaryingOp():
            return [op.inputs[0]]
        case _:
            return None


def _all_gather(writer: Writer, op: dtensor.AllGatherOp) -> SSAValue:
    """Along several dims: all parts behind each other in one message, then each dim's parts into their dim."""
    split = [dim for dim, axes in enumerate(op.dim_axes.data) if axes]
    if len(split) > 1:
        return together(writer, [op])[0]
    return writer.all_gather(op.inputs[0], split[0], groups(op.dim_axes.data[split[0]], writer.mesh))


def _unreduced(writer: Writer, op: dtensor.UnreduceOp, value: SSAValue) -> SSAValue:
    """The first device along the axes has the value."""
    nothing = writer.splat(adds_nothing(op.kind.data, element_of(value)), value, shape_of(value))
    first = writer.put(stablehlo.CompareOp(writer.index(op.axes.data), writer.number(0), "EQ"))
    return writer.put(stablehlo.SelectOp(first, value, nothing))


def _unscattered(writer: Writer, op: dtensor.UnscatterOp) -> SSAValue:
    """Each device's part at its place."""
    value, whole = op.inputs[0], shape_of(op.outputs[0])
    nothing = writer.splat(adds_nothing(op.kind.data, element_of(value)), value, whole)
    starts = [_start(writer, axes, extent) for axes, extent in zip(op.dim_axes.data, shape_of(value), strict=True)]
    return writer.put(stablehlo.DynamicUpdateSliceOp(nothing, value, starts))


def _start(writer: Writer, axes: Sequence[Axis], extent: int) -> SSAValue:
    """Where this device's part of a dim starts."""
    if writer.mesh.group_size(axes) == 1:
        return writer.number(0)
    return writer.put(stablehlo.MultiplyOp(writer.index(axes), writer.number(extent)))


def _reduce_scatter(writer: Writer, op: dtensor.ReduceScatterOp) -> SSAValue:
    """Along several dims: the parts of each device behind each other, then one message."""
    split = [dim for dim, axes in enumerate(op.dim_axes.data) if axes]
    if len(split) > 1:
        return together(writer, [op])[0]
    return writer.reduce_scatter(op.inputs[0], op.kind.data, split[0], op.dim_axes.data[split[0]])


def _fetch(writer: Writer, op: manual.FetchOp) -> SSAValue:
    """One permute where each device sends to one other; who receives nothing has zeros."""
    value = op.inputs[0]
    pieces = [
        Piece(int(group[source]), int(group[place]), (0,), (0,))
        for group in groups(op.axes.data, writer.mesh)
        for place, source in enumerate(op.sources)
        if source >= 0
    ]
    plan = rounds(pieces, writer.mesh.size)
    at_once = len(plan) == 1 and any(one.sender != one.receiver for one in plan[0])
    if at_once or writer.shares_axes():
        return writer.united([writer.permute(value, paired(messages), fills=True) for messages in plan], value)
    row = writer.reshape(value, (1, math.prod(shape_of(value))))
    return writer.reshape(in_rounds(writer, [row], [plan], [1])[0], shape_of(value))
