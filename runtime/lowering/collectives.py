"""
Emitters of the collectives: on stacked arrays each is a reduction or a relabelling of dims.

The global tensor is `[atoms..., local dims...]` in memory, so a gather merges leading dims into a local dim, a slice
splits a local dim into leading dims, and an all-reduce sums over leading dims. Nothing loops over devices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from xdsl.ir import Operation

from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor import WindowOp, layout_of
from shardwright.dialects.dtensor.kinds import adds_nothing
from shardwright.dialects.dtensor.manual import FetchOp, UnvaryingOp
from shardwright.dialects.types import element_of
from shardwright.layout.axes import Axis
from shardwright.layout.forms.clients import ALONE
from shardwright.layout.planning.algebra import moved_axes
from shardwright.layout.planning.window import Window
from shardwright.layout.spec import LayoutSpec
from shardwright.runtime.atoms import Atoms, DimAtoms
from shardwright.runtime.ledger import Message
from shardwright.runtime.lowering import across
from shardwright.runtime.lowering.emitters import Lowering, data, emitter, result_shape
from shardwright.runtime.program import Value


def _message(lowering: Lowering, kind: str, axes: Sequence[Axis], moved: Fraction | None = None) -> Message:
    size = lowering.atoms.mesh.group_size(axes)
    return Message(kind, tuple(axes), size, lowering.builder.lead, moved)


@emitter("dtensor.all_reduce")
def _all_reduce(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    axes, kind = data(op, "axes"), data(op, "kind")
    positions = lowering.atoms.positions(axes)
    results = [combine(lowering, operand, kind, positions) for operand in operands]
    lowering.builder.count(_message(lowering, "all_reduce", axes), operands)
    return results


def combine(lowering: Lowering, value: Value, kind: str, positions: Sequence[int]) -> Value:
    """
    The value combined over mesh atoms.

    Along atoms where it does not vary, a sum multiplies, a product takes a power, and the others leave it alone.
    """
    crossing = across.crossed(lowering, positions)
    held = combine_held(lowering, value, kind, [position for position in positions if position not in crossing])
    return across.all_reduce(lowering, held, kind, crossing)


def combine_held(lowering: Lowering, value: Value, kind: str, positions: Sequence[int]) -> Value:
    """The value combined over mesh atoms that this process holds, or along which nothing varies."""
    atoms, builder = lowering.atoms, lowering.builder
    reduced = builder.reduce(kind, value, [position for position in positions if value.shape[position] > 1])
    repeats = math.prod(atoms.sizes[position] for position in positions if value.shape[position] == 1)
    if repeats == 1 or kind not in ("sum", "prod") or value.dtype.kind == "b":
        return reduced
    factor = builder.splat(repeats, (1,) * len(value.shape), value.dtype)
    return builder.pointwise("multiply" if kind == "sum" else "power", [reduced, factor], value.dtype)


@emitter("dtensor.all_gather")
def _all_gather(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    dim_axes = data(op, "dim_axes")
    parts = _dim_atoms(lowering.atoms, dim_axes)
    result = move(lowering, operands[0], parts, ((),) * len(parts))
    lowering.builder.count(_message(lowering, "all_gather", _flat(dim_axes)), [result])
    return [result]


@emitter("dtensor.all_slice")
def _all_slice(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    return [split(lowering, operands[0], _dim_atoms(lowering.atoms, data(op, "dim_axes")))]


@emitter("dtensor.reduce_scatter")
def _reduce_scatter(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    dim_axes, kind, (value,) = data(op, "dim_axes"), data(op, "kind"), operands
    parts, positions = _dim_atoms(lowering.atoms, dim_axes), lowering.atoms.positions(_flat(dim_axes))
    crossing = across.crossed(lowering, positions)
    held = combine_held(lowering, value, kind, [position for position in positions if position not in crossing])
    lowering.builder.count(_message(lowering, "reduce_scatter", _flat(dim_axes)), operands)
    scattered = across.reduce_scatter(lowering, held, kind, parts, crossing)
    rest = tuple(tuple(at for at in positions if at not in crossing) for positions in parts)
    return [split(lowering, scattered, rest)]


@emitter("dtensor.all_to_all")
def _all_to_all(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    axes, value = data(op, "axes"), operands[0]
    source, target = data(op, "source_dim"), data(op, "target_dim")
    rank, positions = len(lowering.builder.local(value)), lowering.atoms.positions(axes)
    before: DimAtoms = tuple(positions if dim == source else () for dim in range(rank))
    after: DimAtoms = tuple(positions if dim == target else () for dim in range(rank))
    lowering.builder.count(_message(lowering, "all_to_all", axes), operands)
    return [move(lowering, value, before, after)]


@emitter("dtensor.collective_permute")
def _collective_permute(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    source, target = data(op, "source"), data(op, "target")
    share = moved_share(source, target, lowering.atoms)
    lowering.builder.count(
        _message(lowering, "collective_permute", moved_axes(source, target, lowering.atoms.mesh), share), operands
    )
    return [_relaid(lowering, operands[0], source, target)]


@emitter("dtensor.exchange")
def _exchange(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    source, target = data(op, "source"), data(op, "target")
    result = _relaid(lowering, operands[0], source, target)
    share = missing_share(source, target, lowering.builder.local(operands[0]), lowering.atoms)
    lowering.builder.count(
        _message(lowering, "exchange", moved_axes(source, target, lowering.atoms.mesh), share), [result]
    )
    return [result]


@emitter("dtensor.window")
def _window(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    """All parts side by side, then the move that the op makes on the whole dim, then each device's part again."""
    assert isinstance(op, WindowOp)
    builder, dim_axes = lowering.builder, op.dim_axes.data
    windows = op.windows(lowering.atoms.mesh)
    if layout_of(op.inputs[0]) is not None:  # a global program in an unsharded run: the whole dims are here
        return [_moved(lowering, operands[0], windows, op)]
    parts = _dim_atoms(lowering.atoms, dim_axes)
    if across.crossed(lowering, [position for positions in parts for position in positions]):
        fill = stablehlo.splat_value(op.padding) if op.padding else 0
        moved = across.exchange(lowering, operands[0], parts, parts, [_sources(window) for window in windows], fill)
        result = split(lowering, moved, lowering.atoms.held_dims(parts))
    else:
        result = split(lowering, _moved(lowering, merge(lowering, operands[0], parts), windows, op), parts)
    share = _lacking_share(windows, [lowering.atoms.mesh.group_size(axes) for axes in dim_axes])
    builder.count(_message(lowering, "window", _flat(dim_axes), share), [result])
    return [result]


def _moved(lowering: Lowering, value: Value, windows: Sequence[Window], op: WindowOp) -> Value:
    """Each dim read as its window says: in frames, or from its start by its stride, cut where it leaves the operand."""
    builder, lead = lowering.builder, lowering.builder.lead
    padding = builder.splat(stablehlo.splat_value(op.padding) if op.padding else 0, (1,) * lead, value.dtype)
    ranges = [(0, extent, 1) for extent in value.shape[:lead]]
    edges: list[tuple[int, int, int]] = []
    for dim, window in enumerate(windows):
        if window.frame or (window.dilation > 1 and window.stride != 1):
            value = _framed(lowering, value, dim, window, padding)
            window = Window(window.result, window.result, 0)
        cut, edge = _cut_and_padded(window)
        ranges.append(cut)
        edges.append(edge)
    cut = builder.slice(value, ranges)
    low, high, interior = zip(*edges, strict=True)
    if not any(map(any, edges)):
        return cut
    shape = (*cut.shape[:lead], *(window.result for window in windows))
    return builder.call("pad", [cut, padding], shape, value.dtype, low, high, interior)


def _cut_and_padded(window: Window) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """The range of the operand that a dim's window reads, and what is padded before, after and between its elements."""
    if window.dilation > 1:
        spread = max(0, (window.operand - 1) * window.dilation + 1)
        edges = -window.start, window.result + window.start - spread, window.dilation - 1
        return (0, window.operand, 1), edges
    sources = window.start + window.stride * np.arange(window.result)
    inside = np.flatnonzero((sources >= 0) & (sources < window.operand))
    if not inside.size:
        return (0, 0, 1), (window.result, 0, 0)
    first, last = int(sources[inside[0]]), int(sources[inside[-1]])
    edges = int(inside[0]), window.result - 1 - int(inside[-1]), 0
    return (first, last + (1 if window.stride > 0 else -1), window.stride), edges


def _framed(lowering: Lowering, value: Value, dim: int, window: Window, padding: Value) -> Value:
    """One dim in frames, or by steps over elements with holes between them."""
    at = lowering.builder.lead + dim
    shape = (*value.shape[:at], window.result, *value.shape[at + 1 :])
    numbers = (window.start, window.stride, window.dilation, window.frame or window.result, window.step)
    return lowering.builder.call("frames", [value, padding], shape, value.dtype, at, window.result, *numbers)


def _lacking_share(windows: Sequence[Window], parts: Sequence[int]) -> Fraction:
    """The part of its result block that a device receives from others, counted element by element."""
    needed = held = elements = 1
    for window, count in zip(windows, parts, strict=True):
        sources = _sources(window)
        inside = sources >= 0
        owner = sources * count // max(window.operand, 1)
        mine = np.arange(window.result) * count // max(window.result, 1)
        needed *= int(inside.sum())
        held *= int((inside & (owner == mine)).sum())
        elements *= window.result
    return Fraction(needed - held, elements) if elements else Fraction()


def _sources(window: Window) -> np.ndarray[Any, Any]:
    """For each element of a window's result the element of the operand that it shows; -1 for padding."""
    index, frame = np.arange(window.result), max(window.frame or window.result, 1)
    places = window.start + window.step * (index // frame) + window.stride * (index % frame)
    sources = places // window.dilation
    inside = (places % window.dilation == 0) & (sources >= 0) & (sources < window.operand)
    return np.where(inside, sources, -1)


def _relaid(lowering: Lowering, value: Value, source: LayoutSpec, target: LayoutSpec) -> Value:
    atoms = lowering.atoms
    before, after = (replace(lowering, atoms=atoms.fitting(spec.axes())) for spec in (source, target))
    value = lowering.refitted(value, atoms, before.atoms)
    if before.atoms.axes == after.atoms.axes:
        moved = move(before, value, before.atoms.dims(source), after.atoms.dims(target))
    else:
        moved = _recut(before, after, before.narrowed(value, before.atoms, source.axes()), source, target)
    return lowering.refitted(moved, after.atoms, atoms)


def _recut(before: Lowering, after: Lowering, value: Value, source: LayoutSpec, target: LayoutSpec) -> Value:
    """The value with its dims split by parts that cross those by which they were split."""
    dims = after.atoms.dims(target)
    if before.atoms.across:
        return split(after, across.recut(before, after, value, source, target), after.atoms.held_dims(dims))
    whole = merge(before, value, before.atoms.dims(source))
    return split(after, before.refitted(whole, before.atoms, after.atoms), dims)


def move(lowering: Lowering, value: Value, before: DimAtoms, after: DimAtoms) -> Value:
    """The value with its dims split by other atoms: merged here and split again, with an exchange across processes."""
    if not across.crossed(lowering, [position for positions in before for position in positions]):
        return split(lowering, merge(lowering, value, before), after)
    moved = across.exchange(lowering, value, before, after)
    return split(lowering, moved, lowering.atoms.held_dims(after))


@emitter("dtensor.fetch")
def _fetch(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    """One `take` along the leading dims of the op's axes, which may lie apart in memory."""
    assert isinstance(op, FetchOp)
    builder, atoms, (value,) = lowering.builder, lowering.atoms, operands
    positions = atoms.positions(op.axes.data)
    builder.count(_message(lowering, "collective_permute", op.axes.data, op.moved_share()), operands)
    if not atoms.across.isdisjoint(positions):
        return [_fetched_across(lowering, value, positions, op.sources)]
    if -1 not in op.sources and all(value.shape[position] == 1 for position in positions):
        return [value]
    lead = [atoms.sizes[at] if at in positions else extent for at, extent in enumerate(value.shape[: builder.lead])]
    shape = (*lead, *builder.local(value))
    return [builder.call("fetch", [builder.broadcast(value, shape)], shape, value.dtype, positions, op.sources)]


def _fetched_across(lowering: Lowering, value: Value, positions: tuple[int, ...], sources: Sequence[int]) -> Value:
    """The devices' values as the parts of one more dim, each read where its source says."""
    builder, rank = lowering.builder, len(lowering.builder.local(value))
    stacked = builder.reshape(value, (*value.shape[: builder.lead], 1, *builder.local(value)))
    parts = (positions, *((),) * rank)
    reads = [np.asarray(sources), *[None] * rank]
    read = split(lowering, across.exchange(lowering, stacked, parts, parts, reads, 0), lowering.atoms.held_dims(parts))
    return builder.reshape(read, (*read.shape[: builder.lead], *builder.local(value)))


@emitter("dtensor.unvarying")
def _unvarying(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    """The first device's value stands for all of its group."""
    assert isinstance(op, UnvaryingOp)
    builder, positions, (value,) = lowering.builder, lowering.atoms.positions(op.axes.data), operands
    ranges = [(0, 1 if place in positions else extent, 1) for place, extent in enumerate(value.shape)]
    first = builder.slice(value, ranges)
    crossing = first.across.intersection(positions)
    return [builder.differing(first, first.across.difference(crossing)) if crossing else first]


@emitter("dtensor.unreduce")
def _unreduce(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    """The first device along the axes has the values."""
    builder, (index, across) = lowering.builder, _index_here(lowering.atoms, data(op, "axes"))
    results: list[Value] = []
    for value, made in zip(operands, op.results, strict=True):
        first = builder.array((index == 0).reshape(index.shape + (1,) * len(builder.local(value))), across)
        nothing = builder.splat(adds_nothing(data(op, "kind"), element_of(made)), value.shape, value.dtype)
        results.append(builder.pointwise("select", [first, value, nothing], value.dtype))
    return results


@emitter("dtensor.unscatter")
def _unscatter(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    """Each dim in as many parts as it has then: a device's own value at its place, and nothing elsewhere."""
    builder, dim_axes, (value,) = lowering.builder, data(op, "dim_axes"), operands
    own, differs = np.ones((1,) * builder.lead, np.bool_), frozenset[int]()
    parts, extents, made = list(value.shape[: builder.lead]), builder.local(value), op.results[0]
    for axes, extent in zip(dim_axes, extents, strict=True):
        index, crossing = _index_here(lowering.atoms, axes)
        count = lowering.atoms.mesh.group_size(axes)
        here = index.reshape(*index.shape, *(1,) * (own.ndim - builder.lead), 1, 1) == np.arange(count)[:, None]
        own, differs = own[..., None, None] & here, differs | crossing
        parts += [1, extent]
    nothing = builder.splat(adds_nothing(data(op, "kind"), element_of(made)), (1,) * own.ndim, value.dtype)
    placed = [builder.array(own, differs), builder.reshape(value, tuple(parts)), nothing]
    found = builder.pointwise("select", placed, value.dtype)
    return [builder.reshape(found, (*found.shape[: builder.lead], *result_shape(op)))]


@emitter("dtensor.axis_index")
def _axis_index(lowering: Lowering, op: Operation, operands: list[Value]) -> list[Value]:
    index, across = _index_here(lowering.atoms, data(op, "axes"))
    return [lowering.builder.array(index.astype(np.int32), across)]


def _index_here(atoms: Atoms, axes: Sequence[Axis]) -> tuple[np.ndarray[Any, Any], frozenset[int]]:
    """The index over axes of each device of this process, and the atoms across along which others have another."""
    positions = atoms.positions(axes)
    here = tuple(
        slice(atoms.coordinates[at], atoms.coordinates[at] + 1)
        if at in atoms.across and at in positions
        else slice(None)
        for at in range(atoms.count)
    )
    return linear_index(positions, atoms)[here], atoms.across.intersection(positions)


def linear_index(positions: Sequence[int], atoms: Atoms) -> np.ndarray[Any, Any]:
    """Each device's index over atoms, major to minor, as an array with the mesh's leading dims."""
    index = np.zeros((1,) * atoms.count, np.int64)
    for position in positions:
        steps = np.arange(atoms.sizes[position]).reshape([-1 if at == position else 1 for at in range(atoms.count)])
        index = index * atoms.sizes[position] + steps
    return index


def _place_along(axes: Sequence[Axis], atoms: Atoms) -> np.ndarray[Any, Any]:
    """Each device's index over axes, as `linear_index` gives it, also where their parts cross with the atoms."""
    everywhere = replace(atoms, clients=ALONE)
    own = everywhere.fitting(axes)
    index = linear_index(own.positions(axes), own)
    full, shape = own.refitting(index.shape, everywhere)
    return np.broadcast_to(index, full).reshape(shape)


def _dim_atoms(atoms: Atoms, dim_axes: Sequence[Sequence[Axis]]) -> DimAtoms:
    return tuple(atoms.positions(axes) for axes in dim_axes)


def _flat(dim_axes: Sequence[Sequence[Axis]]) -> tuple[Axis, ...]:
    return tuple(axis for axes in dim_axes for axis in axes)


def merge(lowering: Lowering, value: Value, dims: DimAtoms) -> Value:
    """The leading dims of each dim's atoms moved in front of it: what a gather does (see `Atoms.merging`)."""
    builder = lowering.builder
    full, order, shape = lowering.atoms.merging(value.shape, dims)
    return builder.reshape(builder.transpose(builder.broadcast(value, full), order), shape)


def split(lowering: Lowering, value: Value, dims: DimAtoms) -> Value:
    """
    Each dim's major parts moved to the leading dims of its atoms: what a slice does (see `Atoms.splitting`).

    Where the value already varies along such an atom, each device keeps its own part.
    """
    builder, count = lowering.builder, lowering.builder.lead
    shape, places, order = lowering.atoms.splitting(value.shape, dims)
    parts = builder.reshape(value, shape)
    for position in [at for at in places if at < count and value.shape[at] > 1]:
        parts = _diagonal(lowering, parts, position, places[position])
    parts = across.own_part(lowering, parts, {at: place for at, place in places.items() if at < count})
    moved = builder.transpose(parts, order)
    return builder.reshape(moved, moved.shape[: len(value.shape)])


def _diagonal(lowering: Lowering, value: Value, lead: int, dim: int) -> Value:
    """Along the leading dim and `dim`, the elements with equal index, at `dim`; the leading dim gets size 1."""
    shape = tuple(1 if at == lead else extent for at, extent in enumerate(value.shape))
    return lowering.builder.call("diagonal", [value], shape, value.dtype, lead, dim)


def moved_share(source: LayoutSpec, target: LayoutSpec, atoms: Atoms) -> Fraction:
    """The share of devices whose buffer comes from another device, counted over all devices at once."""
    stays = np.ones(atoms.sizes, bool)
    for before, after in zip(source.dims, target.dims, strict=True):
        stays &= _place_along(before, atoms) == _place_along(after, atoms)
    return 1 - Fraction(int(stays.sum()), stays.size)


def missing_share(source: LayoutSpec, target: LayoutSpec, local: Sequence[int], atoms: Atoms) -> Fraction:
    """
    The part of its new block that a device lacks, on average, counted over all devices at once; of an empty block none.

    `local` is the per-device shape under `source`.
    """
    held, whole, mesh = np.ones(atoms.sizes, np.int64), 1, atoms.mesh
    for before, after, extent in zip(source.dims, target.dims, local, strict=True):
        length = extent * mesh.group_size(before) // mesh.group_size(after)
        start, other = _place_along(before, atoms) * extent, _place_along(after, atoms) * length
        held = held * np.maximum(np.minimum(start + extent, other + length) - np.maximum(start, other), 0)
        whole *= length
    return 1 - Fraction(int(held.sum()), held.size * whole) if whole else Fraction()
