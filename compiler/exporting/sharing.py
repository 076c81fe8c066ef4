"""Small collectives of one kind that are ready at the same time share a message: devices wait for each other once."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import accumulate, pairwise

from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness
from xdsl.ir import Attribute, Block, Operation, SSAValue

from shardwright.compiler.exporting.devices import groups
from shardwright.compiler.exporting.windows import Move, written
from shardwright.compiler.exporting.writer import Writer
from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import blocks_in
from shardwright.dialects.types import bit_width, element_of, element_size, is_complex, shape_of
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh

MESSAGE_BYTES = 1 << 16
"""What a device sends and receives in a message that others join: of more, copying costs more than waiting."""

Rows = dtensor.AllGatherOp | dtensor.AllToAllOp
Shared = Rows | dtensor.WindowOp
Key = tuple[Hashable, ...]
"""What collectives that travel together have in common."""


def bundles(module: ModuleOp, mesh: Mesh) -> dict[Operation, list[Shared]]:
    """The collectives of which several share messages, each with all of them: the last has their place."""
    blocks = [block for outer in module.walk() for block in blocks_in(outer)]
    return {op: bundle for block in blocks for bundle in _of(block, mesh) for op in bundle}


def _of(block: Block, mesh: Mesh) -> list[list[Shared]]:
    """In each bundle, nothing up to the last uses what another gives."""
    found: list[list[Shared]] = []
    waiting: dict[Key, list[Shared]] = {}
    given: dict[SSAValue, Key] = {}

    def close(key: Key) -> None:
        for op in waiting.pop(key, ()):
            del given[op.outputs[0]]

    for op in block.ops:
        used = [value for inner in op.walk() for value in inner.operands] if op.regions else op.operands
        for value in used:
            if value in given:
                close(given[value])
        if not isinstance(op, Shared) or _bytes(op) > MESSAGE_BYTES:
            continue
        key = _key(op, mesh)
        if sum(map(_bytes, waiting.get(key, ()))) + _bytes(op) > MESSAGE_BYTES:
            close(key)
        if key not in waiting:
            waiting[key] = []
            found.append(waiting[key])
        waiting[key].append(op)
        given[op.outputs[0]] = key
    return [bundle for bundle in found if len(bundle) > 1]


def _key(op: Shared, mesh: Mesh) -> Key:
    """Kind, axes and bits of an element; of windows the way in which one dim moves, and the extents of the others."""
    if not isinstance(op, dtensor.WindowOp):
        return (op.name, _axes(op), _bits(element_of(op.outputs[0])))
    move = Move(op, mesh)
    if len(move.dims) != 1:
        return (op,)
    (dim,) = move.dims
    shapes = [(*shape[:dim], *shape[dim + 1 :]) for shape in (shape_of(op.inputs[0]), shape_of(op.outputs[0]))]
    return (op.name, move.axes, tuple(move.steps.items()), element_of(op.outputs[0]), *shapes)


def _bytes(op: Shared) -> int:
    return max(math.prod(shape_of(value)) * element_size(element_of(value)) for value in (op.inputs[0], op.outputs[0]))


def _axes(op: Rows) -> tuple[Axis, ...]:
    """The axes, major to minor, over which the devices of a group differ."""
    if isinstance(op, dtensor.AllToAllOp):
        return tuple(op.axes.data)
    return tuple(axis for axes in op.dim_axes.data for axis in axes)


def _bits(element: Attribute) -> Attribute | int:
    """What elements that travel together have in common: their bits, where they are whole bytes."""
    return element if is_complex(element) or bit_width(element) < 8 else bit_width(element)


def together(writer: Writer, bundle: Sequence[Shared]) -> list[SSAValue]:
    """What each of some collectives of a bundle gives."""
    moved = [op for op in bundle if isinstance(op, dtensor.WindowOp)]
    return written(writer, moved) if moved else _in_one(writer, [op for op in bundle if isinstance(op, Rows)])


def _in_one(writer: Writer, bundle: Sequence[Rows]) -> list[SSAValue]:
    """One message, in whose rows each device sends its parts behind each other."""
    elements = [element_of(op.outputs[0]) for op in bundle]
    common = elements[0] if len(set(elements)) == 1 else IntegerType(bit_width(elements[0]), Signedness.UNSIGNED)
    rows = [writer.bits(_rows(writer, op), common) for op in bundle]
    ends = [0, *accumulate(shape_of(row)[1] for row in rows)]
    joined = rows[0] if len(rows) == 1 else writer.put(stablehlo.ConcatenateOp(rows, 1))
    axes = _axes(bundle[0])
    if isinstance(bundle[0], dtensor.AllToAllOp):
        moved = writer.all_to_all(joined, 0, 0, groups(axes, writer.mesh))
    else:
        moved = writer.all_gather(joined, 0, axes)
    count = shape_of(moved)[0]
    parts = (
        [moved]
        if len(rows) == 1
        else [writer.put(stablehlo.SliceOp(moved, (0, start), (count, stop))) for start, stop in pairwise(ends)]
    )
    return [
        _placed(writer, op, writer.bits(part, element))
        for op, part, element in zip(bundle, parts, elements, strict=True)
    ]


def _rows(writer: Writer, op: Rows) -> SSAValue:
    """What a device sends to each other one in a row; one row if all get the same."""
    value = op.inputs[0]
    shape = shape_of(value)
    if isinstance(op, dtensor.AllGatherOp):
        return writer.reshape(value, (1, math.prod(shape)))
    size, at = writer.mesh.group_size(op.axes.data), op.target
    cut = writer.reshape(value, (*shape[:at], size, shape[at] // size, *shape[at + 1 :]))
    order = [at, *(dim for dim in range(len(shape) + 1) if dim != at)]
    return writer.reshape(writer.transpose(cut, order), (size, math.prod(shape) // size))


def _placed(writer: Writer, op: Rows, rows: SSAValue) -> SSAValue:
    """What came from each device, in the dims that it is split along."""
    size, block = writer.mesh.group_size, list(shape_of(op.inputs[0]))
    if isinstance(op, dtensor.AllToAllOp):
        sizes = {op.source: size(op.axes.data)}
        block[op.target] //= sizes[op.source]
    else:
        sizes = {dim: size(axes) for dim, axes in enumerate(op.dim_axes.data) if axes}
    parts = writer.reshape(rows, (*sizes.values(), *block))
    lead = {dim: place for place, dim in enumerate(sizes)}
    order = [at for dim in range(len(block)) for at in ([lead[dim]] if dim in lead else []) + [len(sizes) + dim]]
    return writer.reshape(writer.transpose(parts, order), shape_of(op.outputs[0]))
