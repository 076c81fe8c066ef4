"""Small collectives share a message where one can carry them, and so do exchanges: devices wait for each other once."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness
from xdsl.ir import Attribute, Block, Operation, SSAValue

from shardwright.compiler.exporting.messages.devices import AllToAll, Numbers, Piece, Route, cuts, groups, route
from shardwright.compiler.exporting.messages.windows import Move, written
from shardwright.compiler.exporting.writer import Writer
from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import blocks_in, free_values, ops_in
from shardwright.dialects.purity import is_pure
from shardwright.dialects.stablehlo.collectives import GroupedOp
from shardwright.dialects.types import bit_width, element_of, element_size, is_complex, shape_of, tensor
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.passes.rewriter import insert_before
from shardwright.passes.stages import REGIONS_OF_TENSORS

MESSAGE_BYTES = 1 << 16
"""What a device sends and receives in a message that others join: of more, copying costs more than waiting."""

Rows = dtensor.AllGatherOp | dtensor.AllToAllOp | dtensor.ReduceScatterOp
Shared = Rows | dtensor.WindowOp | dtensor.ExchangeOp
Key = tuple[Hashable, ...]
"""What collectives that travel together have in common."""


@dataclass(eq=False)
class Bundle:
    """Collectives that share a message; the first stands where it is sent."""

    ops: list[Shared]
    bytes: int
    place: int | None = None
    """The number in the block of the op for which it is sent, once one needs it."""

    def joined(self, op: Shared, ready: int) -> bool:
        """Whether another one, whose operands are there from the op of this number on, has room; then it joins."""
        size = self.bytes + _bytes(op)
        if (self.place is not None and ready > self.place) or size > MESSAGE_BYTES:
            return False
        self.ops.append(op)
        self.bytes = size
        return True


def bundles(module: ModuleOp, mesh: Mesh) -> list[Bundle]:
    """The collectives of which several share messages; with them wait ops that use what they give, in place."""
    holders = REGIONS_OF_TENSORS | {"func.func"}
    blocks = [block for outer in ops_in(module) if outer.name in holders for block in blocks_in(outer)]
    return [bundle for block in blocks for bundle in _Waiting(mesh).bundles(block) if len(bundle.ops) > 1]


class _Waiting:
    """
    The collectives of a block, each in the bundle that was there last of its kind, or in a new one.

    None is sent before it has to be: what makes the operands of another collective needs it, or a loop, or the end.
    What is ready early may travel long before it is used, with what is sent by then: no more is held for that than a
    message has.
    """

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self.latest: dict[Key, Bundle] = {}
        self.waits: dict[SSAValue, Bundle | Operation] = {}
        self.ready: dict[SSAValue, int] = {}

    def bundles(self, block: Block) -> list[Bundle]:
        """All bundles of a block, in which ops move to the first one that cannot wait."""
        found: list[Bundle] = []
        for place, op in enumerate(list(block.ops)):
            used = free_values(op)
            needed = list(self.waits) if op.next_op is None else [value for value in used if value in self.waits]
            if needed and _can_wait(op):
                self.waits |= dict.fromkeys(op.results, op)
                continue
            for value in needed:
                self._settle(value, place, op)
            self.ready |= dict.fromkeys(op.results, place + 1)
            if isinstance(op, Shared) and _bytes(op) <= MESSAGE_BYTES:
                since = max((self.ready.get(value, 0) for value in used), default=0)
                found += self._send(op, since)
        return found

    def _send(self, op: Shared, since: int) -> list[Bundle]:
        """Lets a collective join the bundle of its kind; else the one that it begins."""
        key = _key(op, self.mesh)
        old = self.latest.get(key)
        joined = old is not None and old.joined(op, since)
        bundle = self.latest[key] = old if old is not None and joined else Bundle([op], _bytes(op))
        if bundle.place is None:
            self.waits[op.outputs[0]] = bundle
        else:
            self.ready[op.outputs[0]] = bundle.place + 1
        return [] if joined else [bundle]

    def _settle(self, value: SSAValue, place: int, anchor: Operation) -> None:
        """Moves what `value` waits for in front of `anchor`, operands first."""
        stack = [value]
        while stack:
            what = self.waits.get(stack[-1])
            if isinstance(what, Bundle):
                what.place = place
                self._move(what.ops[0], [op.outputs[0] for op in what.ops], place, anchor)
            elif what is None:
                stack.pop()
            elif unmet := [operand for operand in free_values(what) if operand in self.waits]:
                stack += unmet
            else:
                self._move(what, what.results, place, anchor)

    def _move(self, op: Operation, values: Iterable[SSAValue], place: int, anchor: Operation) -> None:
        for value in values:
            del self.waits[value]
            self.ready[value] = place + 1
        op.detach()
        insert_before(anchor, op)


def _can_wait(op: Operation) -> bool:
    """Whether an op only computes: it sends nothing, is no loop or branch, and is not what ends a block."""
    return (
        op.next_op is not None
        and is_pure(op)
        and not isinstance(op, dtensor.CollectiveOp | GroupedOp)
        and op.name not in REGIONS_OF_TENSORS
    )


def _key(op: Shared, mesh: Mesh) -> Key:
    """Axes and bits of an element; of sums their kind; of windows the way of one dim, and the extents of the others."""
    if isinstance(op, dtensor.ReduceScatterOp):
        return (op.name, _axes(op), op.kind.data, element_of(op.outputs[0]))
    if isinstance(op, dtensor.ExchangeOp):
        return (op.name, route(op.source.data, op.target.data, mesh).pairs, _bits(element_of(op.outputs[0])))
    if not isinstance(op, dtensor.WindowOp):
        return (_axes(op), _bits(element_of(op.outputs[0])))
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
    exchanges = [op for op in bundle if isinstance(op, dtensor.ExchangeOp)]
    if moved or exchanges:
        return written(writer, moved) if moved else _exchanged(writer, exchanges)
    return _in_one(writer, [op for op in bundle if isinstance(op, Rows)])


def _in_one(writer: Writer, bundle: Sequence[Rows]) -> list[SSAValue]:
    """One message, in whose rows each device sends its parts behind each other."""
    elements = [element_of(op.outputs[0]) for op in bundle]
    kind = next((op for op in bundle if isinstance(op, dtensor.AllToAllOp)), bundle[0])
    rows = _alike(writer, [_addressed(writer, kind, _rows(writer, op)) for op in bundle])
    parts = _joint_rows(writer, rows, lambda joined: _moved(writer, kind, joined))
    return [
        _placed(writer, op, writer.bits(part, element))
        for op, part, element in zip(bundle, parts, elements, strict=True)
    ]


def _alike(writer: Writer, values: Sequence[SSAValue]) -> list[SSAValue]:
    """The values as elements of one type: as their bits, where there are several."""
    elements = [element_of(value) for value in values]
    common = elements[0] if len(set(elements)) == 1 else IntegerType(bit_width(elements[0]), Signedness.UNSIGNED)
    return [writer.bits(value, common) for value in values]


def _joint_rows(writer: Writer, values: Sequence[SSAValue], move: Callable[[SSAValue], SSAValue]) -> list[SSAValue]:
    """What becomes of the rows of each value when those of all are moved as one row."""
    if len(values) == 1:
        return [move(values[0])]
    ends = [0, *accumulate(shape_of(value)[1] for value in values)]
    moved = move(writer.put(stablehlo.ConcatenateOp(values, 1)))
    count = shape_of(moved)[0]
    return [writer.put(stablehlo.SliceOp(moved, (0, start), (count, stop))) for start, stop in pairwise(ends)]


def _moved(writer: Writer, kind: Rows, rows: SSAValue) -> SSAValue:
    """What a device gets of all rows: from each device its row, or the rows that are its own, combined."""
    axes = _axes(kind)
    match kind:
        case dtensor.AllToAllOp():
            return writer.all_to_all(rows, 0, 0, groups(axes, writer.mesh))
        case dtensor.AllGatherOp():
            return writer.all_gather(rows, 0, groups(axes, writer.mesh))
        case dtensor.ReduceScatterOp():
            return writer.reduce_scatter(rows, kind.kind.data, 0, axes)


def _split(writer: Writer, op: Rows) -> dict[int, int]:
    """Into how many parts, one for each device, the dims are cut of what is sent to each another part of."""
    size = writer.mesh.group_size
    match op:
        case dtensor.AllToAllOp():
            return {op.target: size(op.axes.data)}
        case dtensor.AllGatherOp():
            return {}
        case dtensor.ReduceScatterOp():
            return {dim: size(axes) for dim, axes in enumerate(op.dim_axes.data) if axes}


def _joint(writer: Writer, op: Rows) -> dict[int, int]:
    """Of how many parts, one of each device, the dims are made of what a device gets."""
    size = writer.mesh.group_size
    match op:
        case dtensor.AllToAllOp():
            return {op.source: size(op.axes.data)}
        case dtensor.AllGatherOp():
            return {dim: size(axes) for dim, axes in enumerate(op.dim_axes.data) if axes}
        case dtensor.ReduceScatterOp():
            return {}


def _rows(writer: Writer, op: Rows) -> SSAValue:
    """What a device sends to each other one in a row; one row if all get the same."""
    sizes, shape = _split(writer, op), shape_of(op.inputs[0])
    cut = [part for dim, extent in enumerate(shape) for part in _parts(extent, sizes.get(dim))]
    ahead = [dim + number for number, dim in enumerate(sizes)]
    order = [*ahead, *(place for place in range(len(cut)) if place not in ahead)]
    count = math.prod(sizes.values())
    return writer.rearranged(op.inputs[0], cut, order, (count, math.prod(shape) // count))


def _addressed(writer: Writer, kind: Rows, rows: SSAValue) -> SSAValue:
    """A row for each device, where what all get travels with what each gets a part of."""
    (count, size), devices = shape_of(rows), writer.mesh.group_size(_axes(kind))
    if count == devices or not isinstance(kind, dtensor.AllToAllOp):
        return rows
    wanted = tensor((devices, size), element_of(rows))
    return writer.put(stablehlo.BroadcastInDimOp(writer.reshape(rows, (size,)), (1,), wanted))


def _parts(extent: int, count: int | None) -> list[int]:
    return [extent] if count is None else [count, extent // count]


def _placed(writer: Writer, op: Rows, rows: SSAValue) -> SSAValue:
    """What came from each device, in the dims that it is split along."""
    sizes, block = _joint(writer, op), list(shape_of(op.inputs[0]))
    for dim, count in _split(writer, op).items():
        block[dim] //= count
    lead = {dim: place for place, dim in enumerate(sizes)}
    order = [at for dim in range(len(block)) for at in ([lead[dim]] if dim in lead else []) + [len(sizes) + dim]]
    return writer.rearranged(rows, (*sizes.values(), *block), order, shape_of(op.outputs[0]))


def _exchanged(writer: Writer, bundle: Sequence[dtensor.ExchangeOp]) -> list[SSAValue]:
    """Blocks cut into pieces that are whole on both sides, which travel in as few messages as there can be."""
    mesh = writer.mesh
    made = [cuts(op.source.data, op.target.data, mesh) for op in bundle]
    routes = [route(op.source.data, op.target.data, mesh) for op in bundle]
    shapes = [
        [extent // cut.needed for cut, extent in zip(one, shape_of(op.outputs[0]), strict=True)]
        for one, op in zip(made, bundle, strict=True)
    ]
    piles = [
        _piled(writer, op.inputs[0], [cut.held for cut in one], piece)
        for op, one, piece in zip(bundle, made, shapes, strict=True)
    ]
    moved = _routed(writer, _alike(writer, piles), routes)
    return [
        _unpiled(writer, writer.bits(value, element_of(op.outputs[0])), [cut.needed for cut in one], piece)
        for op, value, one, piece in zip(bundle, moved, made, shapes, strict=True)
    ]


def _routed(writer: Writer, piles: Sequence[SSAValue], routes: Sequence[Route]) -> list[SSAValue]:
    """The pieces that each device needs of each pile of pieces."""
    first = routes[0]
    if first.at_once is not None and len(piles) == 1:
        return [_at_once(writer, piles[0], first.at_once)]
    piles = [writer.reshape(pile, (shape_of(pile)[0], math.prod(shape_of(pile)[1:]))) for pile in piles]
    if first.at_once is not None:
        moves = [one.at_once for one in routes if one.at_once is not None]
        members = first.at_once.groups
        taken = [writer.take(pile, move.sends) for pile, move in zip(piles, moves, strict=True)]
        moved = _by_rows(writer, taken, members.shape[1], lambda rows: writer.all_to_all(rows, 0, 0, members))
        return [writer.take(pile, np.argsort(move.slots).tolist()) for pile, move in zip(moved, moves, strict=True)]
    shares = in_rounds(writer, piles, [one.rounds for one in routes], [one.places for one in routes])
    members = first.groups
    if members is None:
        return shares
    return _by_rows(writer, shares, 1, lambda rows: writer.all_gather(rows, 0, members))


def _at_once(writer: Writer, pile: SSAValue, move: AllToAll) -> SSAValue:
    """The pieces of one pile that each device needs, in the shape that they have: kernels divide for no index then."""
    taken, count = writer.take(pile, move.sends), move.groups.shape[1]
    pieces, *piece = shape_of(taken)
    rows = writer.reshape(taken, (count, pieces // count, *piece))
    moved = writer.reshape(writer.all_to_all(rows, 0, 0, move.groups), (pieces, *piece))
    return writer.take(moved, np.argsort(move.slots).tolist())


def _by_rows(
    writer: Writer, piles: Sequence[SSAValue], count: int, move: Callable[[SSAValue], SSAValue]
) -> list[SSAValue]:
    """Piles moved as so many rows: of each as many pieces in a row."""
    rows = [writer.reshape(pile, (count, math.prod(shape_of(pile)) // count)) for pile in piles]
    return [
        writer.reshape(value, (shape_of(value)[0] * shape_of(pile)[0] // count, shape_of(pile)[1]))
        for value, pile in zip(_joint_rows(writer, rows, move), piles, strict=True)
    ]


def _piled(writer: Writer, value: SSAValue, counts: Sequence[int], piece: Sequence[int]) -> SSAValue:
    """The pieces of a block, one behind the other."""
    cut = [n for pair in zip(counts, piece, strict=True) for n in pair]
    rank = len(piece)
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    return writer.rearranged(value, cut, order, (math.prod(counts), *piece))


def _unpiled(writer: Writer, value: SSAValue, counts: Sequence[int], piece: Sequence[int]) -> SSAValue:
    """The block made of the pieces behind each other."""
    rank = len(piece)
    order = [at for dim in range(rank) for at in (dim, rank + dim)]
    shape = [count * extent for count, extent in zip(counts, piece, strict=True)]
    return writer.rearranged(value, (*counts, *piece), order, shape)


def in_rounds(
    writer: Writer, piles: Sequence[SSAValue], plans: Sequence[list[list[Piece]]], places: Sequence[int]
) -> list[SSAValue]:
    """
    The pieces of each pile that a device needs, received round by round; who receives none writes aside.

    In all plans the same devices send to each other in a round.
    """
    found = [_Received(writer, pile, plan, count) for pile, plan, count in zip(piles, plans, places, strict=True)]
    for at, messages in enumerate(plans[0]):
        pairs = paired(messages)
        moved = _joint_rows(
            writer, [one.sent(at) for one in found], lambda rows, pairs=pairs: writer.permute(rows, pairs)
        )
        for one, value in zip(found, moved, strict=True):
            one.take(at, value)
    return [one.whole() for one in found]


def paired(messages: Sequence[Piece]) -> Numbers:
    """Who sends, and who receives, in the order of the receivers' and senders' numbers."""
    return np.array(sorted((one.sender, one.receiver) for one in messages))


class _Received:
    """What a device has of one pile, as it comes."""

    def __init__(self, writer: Writer, pile: SSAValue, plan: list[list[Piece]], places: int) -> None:
        self.writer, self.pile, self.plan, self.places = writer, pile, plan, places
        self.size = shape_of(pile)[1]
        self.value: SSAValue | None = None
        self.spare = any(len(messages) < writer.mesh.size for messages in plan)

    def sent(self, at: int) -> SSAValue:
        """The piece that each device sends in a round."""
        if shape_of(self.pile)[0] == 1:
            return self.pile
        what = [0] * self.writer.mesh.size
        for one in self.plan[at]:
            what[one.sender] = one.what[0]
        writer = self.writer
        start = writer.lookup(what, writer.device())
        return writer.put(stablehlo.DynamicSliceOp(self.pile, [start, writer.number(0)], (1, self.size)))

    def take(self, at: int, piece: SSAValue) -> None:
        """Puts what came in a round in its place."""
        if self.places == len(self.plan) == 1 and not self.spare:
            self.value = piece
            return
        writer = self.writer
        slot = [self.places] * writer.mesh.size
        for one in self.plan[at]:
            slot[one.receiver] = one.slot[0]
        room = (self.places + self.spare, self.size)
        before = writer.splat(0, self.pile, room) if self.value is None else self.value
        place = writer.lookup(slot, writer.device())
        self.value = writer.put(stablehlo.DynamicUpdateSliceOp(before, piece, [place, writer.number(0)]))

    def whole(self) -> SSAValue:
        """All pieces."""
        whole = (self.places, self.size)
        return self.writer.splat(0, self.pile, whole) if self.value is None else self.writer.part(self.value, {}, whole)
