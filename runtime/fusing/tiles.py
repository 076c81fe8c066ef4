"""A fused group as a tile: how its space is cut into blocks, and the windows and scratch arrays of each block."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shardwright.runtime.fusing.fusion import Group, Places, Source
from shardwright.runtime.planning.storage import Buffer, Storage, Window
from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.program import Step, Value

_BLOCK_ELEMENTS = 1 << 17
"""
Elements of the widest value in one block: 512 KB of float32.

Smaller blocks stay in the L2 cache more surely, but two threads that call short ufuncs wait for each other at the
interpreter's lock: with blocks of 8K elements a transformer block's step takes 24 ms instead of 12, softmax 3.8 instead
of 1.3.
"""

_PARALLEL_ELEMENTS = 1 << 16
"""Elements computed in a group (over all members) from which it is worth two threads, whose round trip takes 16 us."""


@dataclass(eq=False)
class Access:
    """A value that a tile reads from, or writes to, memory; its window has the tile's dims."""

    value: Value
    places: Places
    window: Window

    @property
    def kind(self) -> tuple[Strided, np.dtype[Any]]:
        """What two values have in common that can lie in the same bytes."""
        return self.window.strided, self.value.dtype


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
    positions: dict[tuple[Value, Places], int] = field(default_factory=dict[tuple[Value, Places], int])
    """Where among `reads` each access to a value stands."""
    shapes: dict[Value, tuple[int, ...]] = field(default_factory=dict[Value, tuple[int, ...]])
    spaces: dict[Step, Places] = field(default_factory=dict[Step, Places])
    sources: dict[Step, list[Source]] = field(default_factory=dict[Step, list[Source]])
    segments: list[list[int]] = field(default_factory=list[list[int]])

    def access(self, root: Value, places: Places) -> int:
        """The position among the reads of a value of memory, seen with these places."""
        return self.positions[root, places]

    def axes(self, step: Step) -> tuple[int, ...]:
        """The dims of a block that a reduction combines (the row dim is 0)."""
        space = self.spaces[step]
        reduced = {space[dim] for dim in step.static[0]}
        return tuple(at + 1 for at, segment in enumerate(self.segments) if segment[0] in reduced)

    def replacements(
        self, begins: Callable[[Buffer], bool], dies: Callable[[Buffer], bool]
    ) -> Iterator[tuple[Buffer, Buffer]]:
        """
        For each result whose buffer begins here, a buffer that dies here and over which it may be written, if any.

        That has the same window, and is read for the last time before the result's step or by it. A selection reads its
        operands while it writes, so it must not be the one to read last.
        """
        made = {step.results[0]: at for at, step in enumerate(self.members)}
        last = {root: at for at, step in enumerate(self.members) for root, _ in self.sources[step]}
        readers = Counter(read.window.buffer for read in self.reads)
        free: dict[tuple[Strided, np.dtype[Any]], list[tuple[int, Buffer]]] = {}
        for read in self.reads:
            if readers[read.window.buffer] == 1 and dies(read.window.buffer):
                free.setdefault(read.kind, []).append((last[read.value], read.window.buffer))
        for write in self.writes:
            at, candidates = made[write.value], free.get(write.kind, [])
            latest = at - 1 if self.members[at].name == "select" else at
            fitting = (each for each in candidates if each[0] <= latest)
            if begins(write.window.buffer) and (found := next(fitting, None)) is not None:
                candidates.remove(found)
                yield write.window.buffer, found[1]


def plan_tile(group: Group, windows: Mapping[Value, Window], wanted: Sequence[Value], storage: Storage) -> Tile:
    """The tile of a closed group; gives the `wanted` results buffers in the group's memory order."""
    for value in wanted:
        if value not in storage.homes:
            storage.new(value, _order_of(value, group))
    reads = [(value, places, windows[value]) for value, places in group.reads]
    writes = [(value, group.places[value], storage.homes[value]) for value in wanted]
    accesses = [Access(value, places, _spread(window, places, group)) for value, places, window in (*reads, *writes)]
    outer, inner = _nested(group, [access.window.strided for access in accesses])
    first, rows = ([1] * (2 - len(outer)) + _extents(outer, group))[-2:]
    shape = tuple(_extents(inner, group))
    block, parallel = _shared_out(first, rows, math.prod(shape), len(group.members))
    # With fewer than two outer segments, the missing ones are of no dims.
    segments = [[]] * (2 - len(outer)) + outer + inner
    for access in accesses:
        access.window = Window(access.window.buffer, _cut(access.window.strided, segments, (first, rows)))
    tile = Tile(sorted(group.members, key=lambda step: step.number), first, rows, shape, block, parallel)
    tile.reads, tile.writes = accesses[: len(reads)], accesses[len(reads) :]
    tile.positions = {read: at for at, read in enumerate(group.reads)}
    tile.segments, tile.spaces, tile.sources = inner, group.spaces, group.sources
    for value, places in group.places.items():
        present = [segment[0] in places for segment in inner]
        tile.shapes[value] = tuple(extent if own else 1 for extent, own in zip(shape, present, strict=True))
    return tile


def _order_of(value: Value, group: Group) -> list[int]:
    """
    A value's dims in the group's order, those of one element first.

    So a block is written from its first byte to its last; in any other order each row of it would lie scattered.
    """
    rank = {place: dim for dim, place in enumerate(group.places[value]) if place is not None}
    dims = [rank[place] for place in group.order if place in rank]
    return [*(dim for dim in range(len(value.shape)) if dim not in dims), *dims]


def _nested(group: Group, windows: Sequence[Strided]) -> tuple[list[list[int]], list[list[int]]]:
    """The segments of the group's dims over which blocks go (two at most), and those that lie inside of a block."""
    # A value that lacks a dim, or a reduction over it, would be computed again in each step along it: only dims that
    # every member has can be cut. They are the major ones: a cut along a minor dim would take bytes here and there.
    spaces = [_present(space) for space in group.spaces.values()]
    everywhere = set(group.order).intersection(*spaces) - group.reduced
    cut = next((at for at, dim in enumerate(group.order) if dim not in everywhere), len(group.order))
    presence = spaces + [_present(places) for places in group.places.values()]
    outer = _segments(group.order[:cut], windows, presence)
    inner = _segments(group.order[cut:], windows, presence)
    # One dim of long rows is enough as a rule: NumPy loops faster inside of a call than Python does over calls. Where
    # one step along it is more than a block already, the next dim is cut, too.
    below = math.prod(_extents(outer[1:] + inner, group))
    kept = min(len(outer), 2 if below > _BLOCK_ELEMENTS else 1)
    return outer[:kept], outer[kept:] + inner


def _shared_out(first: int, rows: int, row: int, members: int) -> tuple[int, bool]:
    """How many rows of so many elements make a block, and whether threads share the blocks."""
    block = max(1, min(rows, _BLOCK_ELEMENTS // max(1, row)))
    parallel = first * rows * row * members >= _PARALLEL_ELEMENTS
    if parallel and first == 1 and rows > 1:
        blocks = -(-rows // block)
        block = -(-rows // (blocks + blocks % 2))  # an even number of equal blocks, or one thread would wait at the end
    return block, parallel


def _present(places: Places) -> set[int]:
    return {place for place in places if place is not None}


def _extents(segments: Sequence[Sequence[int]], group: Group) -> list[int]:
    return [math.prod(group.extents[dim] for dim in segment) for segment in segments]


def _spread(window: Window, places: Places, group: Group) -> Window:
    """A value's window with all iteration dims of the group, of size 1 where the value lacks them."""
    shape, strides = [1] * len(group.extents), [0] * len(group.extents)
    for dim, place in enumerate(places):
        if place is not None:
            shape[place], strides[place] = window.strided.shape[dim], window.strided.strides[dim]
    return Window(window.buffer, Strided(tuple(shape), tuple(strides), window.strided.offset))


def _segments(order: Sequence[int], windows: Sequence[Strided], presence: Sequence[set[int]]) -> list[list[int]]:
    """
    Runs of neighbouring dims that are one dim in every window and every value.

    Fewer, longer dims: a ufunc's inner loop runs over the last one alone.
    """
    segments: list[list[int]] = []
    for dim in order:
        if segments and _joins(segments[-1][-1], dim, windows, presence):
            segments[-1].append(dim)
        else:
            segments.append([dim])
    return segments


def _joins(outer: int, inner: int, windows: Sequence[Strided], presence: Sequence[set[int]]) -> bool:
    if any((outer in dims) != (inner in dims) for dims in presence):
        return False
    return all(
        (window.shape[outer] == 1) == (window.shape[inner] == 1)
        and window.strides[outer] == window.shape[inner] * window.strides[inner]
        for window in windows
    )


def _cut(window: Strided, segments: Sequence[Sequence[int]], outer: tuple[int, int]) -> Strided:
    """A window with one dim for each segment; the outer ones at full extent, repeated where the window lacks them."""
    shape = [math.prod(window.shape[dim] for dim in segment) for segment in segments]
    strides = [window.strides[segment[-1]] if segment else 0 for segment in segments]
    return Strided((*outer, *shape[2:]), tuple(strides), window.offset)


@dataclass
class Scratch:
    """Hands out arrays for values that live only inside of a block; those of one shape and dtype are used again."""

    block: int
    slots: list[tuple[int, tuple[int, ...], np.dtype[Any]]] = field(
        default_factory=list[tuple[int, tuple[int, ...], np.dtype[Any]]]
    )
    free: dict[tuple[tuple[int, ...], np.dtype[Any]], list[int]] = field(
        default_factory=dict[tuple[tuple[int, ...], np.dtype[Any]], list[int]]
    )
    nbytes: int = 0

    def take(self, inner: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """The number of a slot for blocks of this inner shape."""
        waiting = self.free.get((inner, dtype), [])
        if waiting:
            return waiting.pop()
        shape = (self.block, *inner)
        self.slots.append((self.nbytes, shape, dtype))
        self.nbytes += -(-math.prod(shape) * dtype.itemsize // 64) * 64
        return len(self.slots) - 1

    def give(self, slot: int) -> None:
        """Lets the next value of that shape and dtype use the slot."""
        _, shape, dtype = self.slots[slot]
        self.free.setdefault((shape[1:], dtype), []).append(slot)
