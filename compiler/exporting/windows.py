"""Windows written with StableHLO's permutes: padding, over which devices write the boxes that they keep or are sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from xdsl.ir import SSAValue

from shardwright.compiler.exporting.devices import Piece, groups, spacing, windows
from shardwright.compiler.exporting.writer import Writer
from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.types import shape_of
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.window import Window

Round = tuple[tuple[int, ...], list[Piece]]
"""The extents of the boxes of a round, along the dims that move, and who sends what to whom."""


@dataclass(frozen=True)
class Move:
    """What a window op moves: the windows and axes of the dims whose parts need elements of others."""

    op: dtensor.WindowOp
    mesh: Mesh

    @cached_property
    def dims(self) -> dict[int, tuple[Window, tuple[Axis, ...]]]:
        """The windows that move, by dim, each with the axes that split it."""
        found = enumerate(zip(self.op.windows(self.mesh), self.op.dim_axes.data, strict=True))
        return {dim: (one, tuple(axes)) for dim, (one, axes) in found if one.moves}

    @property
    def steps(self) -> dict[int, tuple[int, int]]:
        """By dim, how far apart the elements of a box stand at the sender and at the receiver."""
        return {dim: spacing(one) for dim, (one, _) in self.dims.items()}

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes along which boxes move."""
        return tuple(axis for _, split in self.dims.values() for axis in split)

    @property
    def parts(self) -> list[tuple[Window, int]]:
        """The windows, each with the number of parts of its dim."""
        return [(one, self.mesh.group_size(split)) for one, split in self.dims.values()]

    @property
    def padding(self) -> object:
        """What stands where no element of the operand falls."""
        return 0 if self.op.padding is None else stablehlo.splat_value(self.op.padding)


def written(writer: Writer, ops: Sequence[dtensor.WindowOp]) -> list[SSAValue]:
    """What some windows give, whose boxes travel together; several are those of one dim, along the same axes."""
    moves = [Move(op, writer.mesh) for op in ops]
    steps, axes = moves[0].steps, moves[0].axes
    if not steps:
        return [op.inputs[0] for op in ops]
    first, count = next(iter(steps)), writer.mesh.group_size(axes)
    plan = windows([move.parts for move in moves])
    results = [_Result(writer, move, plan, number, count) for number, move in enumerate(moves)]
    values = [op.inputs[0] for op in ops]
    starts = [0, *accumulate(shape_of(value)[first] for value in values)]
    joined = values[0] if len(values) == 1 else writer.put(stablehlo.ConcatenateOp(values, first))
    members = groups(axes, writer.mesh)
    for sizes, messages in plan:
        what: list[tuple[int, ...]] = [(0,) * len(steps)] * count
        for one in messages:
            what[one.sender] = (one.what[0] + starts[one.number], *one.what[1:])
        sent = _read(writer, joined, dict(zip(steps, sizes, strict=True)), steps, _places(writer, steps, what, axes))
        pairs = np.concatenate([members[:, (one.sender, one.receiver)] for one in messages])
        moved = writer.permute(sent, pairs)
        for number in sorted({one.number for one in messages}):
            results[number].take(moved, messages)
    return [result.whole() for result in results]


class _Result:
    """Padding with room around it, over which boxes are written as they come."""

    def __init__(self, writer: Writer, move: Move, plan: Sequence[Round], number: int, parts: int) -> None:
        self.writer, self.move, self.number, self.parts = writer, move, number, parts
        self.shape = shape_of(move.op.outputs[0])
        mine = [(sizes, [one for one in messages if one.number == number]) for sizes, messages in plan]
        self.front, around = self._room([one for one in mine if one[1]])
        extents = [around.get(dim, extent) for dim, extent in enumerate(self.shape)]
        self.value = writer.splat(move.padding, move.op.inputs[0], extents)

    def _room(self, plan: Sequence[Round]) -> tuple[dict[int, int], dict[int, int]]:
        """How far boxes reach over the front, and the extents with all that they need, aside as well."""
        front, around = dict[int, int](), dict[int, int]()
        aside = 0
        for at, (dim, (_, apart)) in enumerate(self.move.steps.items()):
            spans = [((sizes[at] - 1) * apart + 1, messages) for sizes, messages in plan]
            front[dim] = max((-one.slot[at] for _, messages in spans for one in messages), default=0)
            front[dim] = max(front[dim], 0)
            ends = (one.slot[at] + span for span, messages in spans for one in messages)
            if at == 0:
                aside = max((span for span, messages in spans if len(messages) < self.parts), default=0)
            around[dim] = front[dim] + max(self.shape[dim] + (aside if at == 0 else 0), *ends, 0)
        return front, around

    def take(self, arrived: SSAValue, messages: Sequence[Piece]) -> None:
        """Writes what came where it belongs; who received nothing for this result writes aside, behind it."""
        writer, steps = self.writer, self.move.steps
        first = next(iter(steps))
        slot: list[tuple[int, ...]] = [(self.front[first] + self.shape[first], *(0 for _ in [*steps][1:]))] * self.parts
        for one in messages:
            if one.number == self.number:
                slot[one.receiver] = tuple(self.front[dim] + at for dim, at in zip(steps, one.slot, strict=True))
        spread = _spread(writer, arrived, steps, self.move.padding)
        starts = _at(writer, self.value, _places(writer, steps, slot, self.move.axes))
        self.value = writer.put(stablehlo.DynamicUpdateSliceOp(self.value, spread, starts))

    def whole(self) -> SSAValue:
        """What the window op gives."""
        return self.writer.part(self.value, self.front, self.shape)


def _places(
    writer: Writer, dims: Iterable[int], table: Sequence[tuple[int, ...]], axes: Sequence[Axis]
) -> dict[int, SSAValue]:
    """This device's start along each dim."""
    columns = zip(dims, zip(*table, strict=True), strict=True)
    return {dim: writer.lookup(column, writer.index(axes)) for dim, column in columns}


def _read(
    writer: Writer,
    value: SSAValue,
    extents: dict[int, int],
    steps: dict[int, tuple[int, int]],
    starts: dict[int, SSAValue],
) -> SSAValue:
    """A box from its lowest elements, in steps, in the order in which the result has them."""
    spans = {dim: (size - 1) * abs(steps[dim][0]) + 1 for dim, size in extents.items()}
    shape = tuple(spans.get(dim, extent) for dim, extent in enumerate(shape_of(value)))
    found = writer.put(stablehlo.DynamicSliceOp(value, _at(writer, value, starts), shape))
    strides = tuple(abs(steps[dim][0]) if dim in extents else 1 for dim in range(len(shape)))
    if any(stride > 1 for stride in strides):
        found = writer.put(stablehlo.SliceOp(found, (0,) * len(shape), shape, strides))
    backwards = [dim for dim, size in extents.items() if steps[dim][0] < 0 and size > 1]
    return writer.put(stablehlo.ReverseOp(found, backwards)) if backwards else found


def _spread(writer: Writer, value: SSAValue, steps: dict[int, tuple[int, int]], padding: object) -> SSAValue:
    """The elements further apart, with padding between them."""
    shape = shape_of(value)
    between = tuple(steps[dim][1] - 1 if dim in steps and shape[dim] > 1 else 0 for dim in range(len(shape)))
    if not any(between):
        return value
    none = (0,) * len(shape)
    return writer.put(stablehlo.PadOp(value, writer.splat(padding, value, ()), none, none, between))


def _at(writer: Writer, value: SSAValue, starts: dict[int, SSAValue]) -> list[SSAValue]:
    return [starts[dim] if dim in starts else writer.number(0) for dim in range(len(shape_of(value)))]
