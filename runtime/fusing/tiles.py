"""A fused group as a tile: how its space is cut into blocks, and the windows and scratch arrays of each block."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shardwright.runtime.fusing.fusion import Group, Places, trace
from shardwright.runtime.planning.storage import Buffer, Storage, Window
from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.program import Step, Value

BLOCK_ELEMENTS = 1 << 17
"""
Elements of the widest value in one block: 512 KB of float32.

Smaller blocks stay in the L2 cache more surely, but two threads that call short ufuncs wait for each other at the
interpreter's lock.
"""

PARALLEL_ELEMENTS = 1 << 16
"""Elements computed in a group (over all members) from which it is worth two threads."""


@dataclass(eq=False)
class Access:
    """A value that a tile reads from, or writes to, memory; its window has the tile's dims."""

    value: Value
    places: Places
    window: Window


@dataclass(eq=False)
class Tile:
    """
    A group cut into `outer` times `rows` slices of the `inner` shape; `block` rows are computed at a time.

    `shapes` gives each value's shape inside of a block, after the row dim; `axes` the inner dims that a reduction
    combines.
    """

    members: list[Step]
    outer: int
    rows: int
    inner: tuple[int, ...]
    block: int
    parallel: bool
    reads: list[Access] = field(default_factory=list[Access])
    writes: list[Access] = field(default_factory=list[Access])
    shapes: dict[Value, tuple[int, ...]] = field(default_factory=dict[Value, tuple[int, ...]])
    spaces: dict[Step, Places] = field(default_factory=dict[Step, Places])
    segments: list[list[int]] = field(default_factory=list[list[int]])

    def access(self, root: Value, places: Places) -> int:
        """The position among the reads of a value of memory, seen with these places."""
        return next(at for at, read in enumerate(self.reads) if read.value is root and read.places == places)

    def axes(self, step: Step) -> tuple[int, ...]:
        """The dims of a block that a reduction combines (the row dim is 0)."""
        space = self.spaces[step]
        reduced = {space[dim] for dim in step.static[0]}
        return tuple(at + 1 for at, segment in enumerate(self.segments) if segment[0] in reduced)

    def replaceable(self, write: Access) -> list[Buffer]:
        """
        The buffers over which a result may be written: same window, and read for the last time before or by its step.

        A selection reads its operands while it writes, so it must not be the one to read last.
        """
        made = next(at for at, step in enumerate(self.members) if step.results[0] is write.value)
        found: list[Buffer] = []
        for read in self.reads:
            last = max(at for at, step in enumerate(self.members) if read.value in map(_root, step.operands))
            before = last < made or (last == made and self.members[made].name != "select")
            same = read.window.strided == write.window.strided and read.value.dtype == write.value.dtype
            if before and same and sum(other.window.buffer is read.window.buffer for other in self.reads) == 1:
                found.append(read.window.buffer)
        return found


def _root(value: Value) -> Value:
    return trace(value)[0]


def plan_tile(group: Group, windows: Mapping[Value, Window], wanted: Sequence[Value], storage: Storage) -> Tile:
    """The tile of a closed group; gives the `wanted` results buffers in the group's memory order."""
    order, extents = group.order, group.extents
    for value in wanted:
        if value not in storage.homes:
            places = group.places[value]
            rank = {place: dim for dim, place in enumerate(places) if place is not None}
            dims = [rank[place] for place in order if place in rank]
            storage.new(value, [*(dim for dim in range(len(value.shape)) if dim not in dims), *dims])
    reads = [(value, places, _spread(windows[value].strided, places, group)) for value, places in group.reads]
    writes = [(v, group.places[v], _spread(storage.homes[v].strided, group.places[v], group)) for v in wanted]
    views = [view for _, _, view in (*reads, *writes)]
    presence = [{place for place in space if place is not None} for space in group.spaces.values()]
    presence += [{p for p in places if p is not None} for places in group.places.values()]
    everywhere = set(order).intersection(*[{p for p in s if p is not None} for s in group.spaces.values()])
    outer_count = 0
    while outer_count < len(order) and order[outer_count] in everywhere - group.reduced:
        outer_count += 1
    outer = _segments(order[:outer_count], views, presence)
    inner = _segments(order[outer_count:], views, presence)
    kept = _chunked(outer, inner, extents)
    inner, outer = outer[kept:] + inner, outer[:kept]
    sizes = [math.prod(extents[dim] for dim in segment) for segment in outer]
    first, rows = ([1] * (2 - len(sizes)) + sizes)[:2]
    shape = tuple(math.prod(extents[dim] for dim in segment) for segment in inner)
    block = max(1, min(rows, BLOCK_ELEMENTS // max(1, math.prod(shape))))
    work = first * rows * math.prod(shape) * len(group.members)
    parallel = work >= PARALLEL_ELEMENTS
    if parallel and first * -(-rows // block) == 1 and rows > 1:
        block = -(-rows // 2)
    tile = Tile(list(group.members), first, rows, shape, block, parallel, segments=inner, spaces=dict(group.spaces))
    tile.members.sort(key=lambda step: step.number)
    segments = [[]] * (2 - len(outer)) + outer + inner
    for source, target in ((reads, tile.reads), (writes, tile.writes)):
        for value, places, view in source:
            buffer = windows[value].buffer if source is reads else storage.homes[value].buffer
            target.append(Access(value, places, Window(buffer, _cut(view, segments, (first, rows)))))
    for value, places in group.places.items():
        tile.shapes[value] = _block_shape(places, inner, extents)
    return tile


def _chunked(outer: Sequence[Sequence[int]], inner: Sequence[Sequence[int]], extents: Sequence[int]) -> int:
    """How many outer segments to cut: one, or two when what lies below the first is more than a block."""
    below = math.prod(extents[dim] for segment in (*outer[1:], *inner) for dim in segment)
    return min(len(outer), 2 if below > BLOCK_ELEMENTS else 1)


def _spread(window: Strided, places: Places, group: Group) -> dict[int, tuple[int, int]]:
    """The extent and step of each iteration dim in a window, with its offset at -1."""
    view: dict[int, tuple[int, int]] = dict.fromkeys(range(len(group.extents)), (1, 0))
    for dim, place in enumerate(places):
        if place is not None:
            view[place] = (window.shape[dim], window.strides[dim])
    view[-1] = (window.offset, 0)
    return view


def _segments(
    order: Sequence[int], views: Sequence[dict[int, tuple[int, int]]], presence: Sequence[set[int]]
) -> list[list[int]]:
    """Runs of neighbouring dims that are one dim in every window and every value."""
    segments: list[list[int]] = []
    for dim in order:
        if segments and _joins(segments[-1][-1], dim, views, presence):
            segments[-1].append(dim)
        else:
            segments.append([dim])
    return segments


def _joins(outer: int, inner: int, views: Sequence[dict[int, tuple[int, int]]], presence: Sequence[set[int]]) -> bool:
    if any((outer in dims) != (inner in dims) for dims in presence):
        return False
    for view in views:
        (extent, step), (count, unit) = view[outer], view[inner]
        if (extent == 1) != (count == 1) or step != count * unit:
            return False
    return True


def _cut(view: dict[int, tuple[int, int]], segments: Sequence[Sequence[int]], outer: tuple[int, int]) -> Strided:
    """A window with one dim for each segment; the outer ones at full extent, repeated where the window lacks them."""
    shape: list[int] = []
    strides: list[int] = []
    for segment in segments:
        shape.append(math.prod(view[dim][0] for dim in segment))
        strides.append(view[segment[-1]][1] if segment else 0)
    return Strided((*outer, *shape[2:]), tuple(strides), view[-1][0])


def _block_shape(places: Places, inner: Sequence[Sequence[int]], extents: Sequence[int]) -> tuple[int, ...]:
    present = {place for place in places if place is not None}
    return tuple(math.prod(extents[d] for d in segment) if segment[0] in present else 1 for segment in inner)


@dataclass
class Scratch:
    """Hands out arrays for values that live only inside of a block; those of one shape and dtype are used again."""

    block: int
    slots: list[tuple[int, tuple[int, ...], np.dtype[Any]]] = field(
        default_factory=list[tuple[int, tuple[int, ...], np.dtype[Any]]]
    )
    free: dict[tuple[tuple[int, ...], str], list[int]] = field(
        default_factory=dict[tuple[tuple[int, ...], str], list[int]]
    )
    nbytes: int = 0

    def take(self, inner: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """The number of a slot for blocks of this inner shape."""
        waiting = self.free.get((inner, dtype.name), [])
        if waiting:
            return waiting.pop()
        shape = (self.block, *inner)
        self.slots.append((self.nbytes, shape, dtype))
        self.nbytes += -(-math.prod(shape) * dtype.itemsize // 64) * 64
        return len(self.slots) - 1

    def give(self, slot: int) -> None:
        """Lets the next value of that shape and dtype use the slot."""
        _, shape, dtype = self.slots[slot]
        self.free.setdefault((shape[1:], dtype.name), []).append(slot)
