"""Windows written with StableHLO's permutes: padding, over which devices write the boxes that they keep or are sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from xdsl.ir import SSAValue

from shardwright.compiler.exporting.messages.devices import Numbers, Piece, groups, spacing, windows
from shardwright.compiler.exporting.writer import Writer
from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.types import shape_of
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.window import Window

Round = tuple[tuple[int, ...], list[Piece]]
"""The extents of the boxes of a round, along the dims that move, and who sends what to whom."""

Place = tuple[int, ...]
"""Where a box starts, or how far it reaches, along the dims that move."""


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
    source = _only_sender(moves, plan, count)
    if source is not None:
        whole = _handed_on(writer, joined, members, source, writer.index(axes))
        return [
            writer.part(whole, {first: start}, shape_of(value)) for start, value in zip(starts, values, strict=False)
        ]
    for at, (sizes, messages) in enumerate(plan):
        found = {one.sender: (one.what[0] + starts[one.number], *one.what[1:]) for one in messages}
        what = [found.get(part, found[messages[0].sender]) for part in range(count)]
        sent = _read(writer, joined, dict(zip(steps, sizes, strict=True)), steps, _places(writer, steps, what, axes))
        pairs = np.concatenate([members[:, (one.sender, one.receiver)] for one in messages])
        moved = writer.permute(sent, pairs)
        for number in sorted({one.number for one in messages}):
            results[number].take(moved, at)
    return [result.whole() for result in results]


def _only_sender(moves: Sequence[Move], plan: Sequence[Round], count: int) -> int | None:
    """The part that sends all that it has to all others, who keep nothing of their own; None where that is not so."""
    everything = {(number, part, *(0 for _ in move.dims)) for number, move in enumerate(moves) for part in range(count)}
    found = {(one.number, one.receiver, *one.what) for _, messages in plan for one in messages}
    pieces = [one for _, messages in plan for one in messages]
    senders = {one.sender for one in pieces}
    whole = all(
        tuple(shape_of(value)[dim] for dim in move.dims) == sizes
        for move in moves
        for value in (move.op.inputs[0], move.op.outputs[0])
        for sizes, _ in plan
    )
    aside = any(any(one.slot) for one in pieces)
    alone = whole and not aside and found == everything and len(senders) == 1 and count > 2
    return senders.pop() if alone else None


def _handed_on(writer: Writer, value: SSAValue, members: Numbers, source: int, place: SSAValue) -> SSAValue:
    """
    What one part of a group has, on all of them: in each round all that have it hand it on.

    As much is sent as if one sent it to each, in the logarithm of as many rounds.
    """
    count, having = members.shape[1], 1
    while having < count:
        ahead = [((source + at) % count, (source + at + having) % count) for at in range(min(having, count - having))]
        moved = writer.permute(value, np.concatenate([members[:, pair] for pair in ahead]))
        receivers = {receiver for _, receiver in ahead}
        told = writer.lookup([int(part in receivers) for part in range(count)], place)
        arrived = writer.put(stablehlo.CompareOp(told, writer.number(1), "EQ"))
        value = writer.put(stablehlo.SelectOp(arrived, moved, value))
        having *= 2
    return value


class _Result:
    """Padding with room around it, over which boxes are written as they come."""

    def __init__(self, writer: Writer, move: Move, plan: Sequence[Round], number: int, parts: int) -> None:
        self.writer, self.move, self.parts = writer, move, parts
        self.shape = shape_of(move.op.outputs[0])
        self.spans = [self._span(sizes) for sizes, _ in plan]
        self.slots = self._slots([messages for _, messages in plan], number)
        self.front, around = self._room()
        extents = [around.get(dim, extent) for dim, extent in enumerate(self.shape)]
        self.value = writer.splat(move.padding, move.op.inputs[0], extents)

    def _span(self, sizes: Sequence[int]) -> Place:
        """How far a box reaches in the result, where its elements may stand apart."""
        return tuple((size - 1) * apart + 1 for size, (_, apart) in zip(sizes, self.move.steps.values(), strict=True))

    def _slots(self, plan: Sequence[Sequence[Piece]], number: int) -> list[dict[int, Place]]:
        """
        Where each part writes in each round, if it does not write aside.

        Who is sent nothing gets zeros from a permute: where its result has zeros it writes them like the others.
        """
        mine = [{one.receiver: one.slot for one in messages if one.number == number} for messages in plan]
        zeros = not any(np.asarray(self.move.padding).tobytes())
        for at, (messages, slots) in enumerate(zip(plan, mine, strict=True)):
            place = next(iter(slots.values()), None)
            if place is None or not zeros or messages[0].sender == messages[0].receiver:
                continue
            idle = set(range(self.parts)) - {one.receiver for one in messages}
            written = [(self.spans[other], taken) for other, taken in enumerate(mine)]
            if all(self._free(part, place, self.spans[at], written) for part in idle):
                slots |= dict.fromkeys(idle, place)
        return mine

    @staticmethod
    def _free(part: int, place: Place, span: Place, written: Sequence[tuple[Place, dict[int, Place]]]) -> bool:
        """Whether nothing is written to a box of a part's result."""
        for other, slots in written:
            sides = zip(place, span, slots.get(part, place), other, strict=True)
            if part in slots and all(a < there + b and there < a + size for a, size, there, b in sides):
                return False
        return True

    def _room(self) -> tuple[dict[int, int], dict[int, int]]:
        """How far boxes reach over the front, and the extents with all that they need, aside as well."""
        front, around = dict[int, int](), dict[int, int]()
        used = [(span, slots) for span, slots in zip(self.spans, self.slots, strict=True) if slots]
        aside = max((span[0] for span, slots in used if len(slots) < self.parts), default=0)
        for at, dim in enumerate(self.move.dims):
            places = [(slot[at], slot[at] + span[at]) for span, slots in used for slot in slots.values()]
            front[dim] = max(0, -min((start for start, _ in places), default=0))
            stop = max((stop for _, stop in places), default=0)
            around[dim] = front[dim] + max(self.shape[dim] + (0 if at else aside), stop)
        return front, around

    def take(self, arrived: SSAValue, number: int) -> None:
        """Writes what came in a round where it belongs; who received nothing of this value writes aside, behind it."""
        writer, dims, slots = self.writer, self.move.dims, self.slots[number]
        first = next(iter(dims))
        aside = (self.shape[first], *(0 for _ in [*dims][1:]))
        places = [slots.get(part, aside) for part in range(self.parts)]
        table = [tuple(self.front[dim] + at for dim, at in zip(dims, place, strict=True)) for place in places]
        spread = _spread(writer, arrived, self.move.steps, self.move.padding)
        starts = _at(writer, self.value, _places(writer, dims, table, self.move.axes))
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
