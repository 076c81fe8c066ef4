"""
Chains: units that threads go through without waiting for each other, each thread with its own part of every unit.

A wait costs as much as a small unit, and what a thread made last lies in its own cache. Units form a chain when no
part of one touches memory that another thread's part of another writes, by the bytes from first to last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from shardwright.runtime.fusing.products import Batch, Product
from shardwright.runtime.fusing.tiles import Tile
from shardwright.runtime.planning.storage import Buffer, Home, Window
from shardwright.runtime.planning.strided import Strided

LONGEST = 32
"""Links in a chain: each new one is checked against all others."""

_EVEN_EXTENT = 8
"""Items for each thread from which parts that differ by one item count as even."""

Link: TypeAlias = "tuple[Tile | Product, int]"
"""What runs, and the dim of its result's window (of a tile: of all its windows) that is cut."""


@dataclass(eq=False)
class Chain:
    """Units in order, of which each thread runs its part."""

    links: list[Link]


class _Touch(NamedTuple):
    """The bytes that each part touches in one memory: (first, behind the last)."""

    memory: tuple[Home, int]
    writes: bool
    spans: tuple[tuple[int, int], ...]

    def clashes(self, other: _Touch) -> bool:
        """Whether a part writes what another part of the other touches."""
        if self.memory != other.memory or not (self.writes or other.writes):
            return False
        # These two answers are quick; the last one compares every part with every other.
        if max(self.spans)[1] <= min(other.spans)[0] or max(other.spans)[1] <= min(self.spans)[0]:
            return False
        if self.spans == other.spans:
            return any(one[1] > two[0] for one, two in pairwise(self.spans))
        return any(
            one[0] < two[1] and two[0] < one[1]
            for at, one in enumerate(self.spans)
            for place, two in enumerate(other.spans)
            if at != place
        )


@dataclass
class ChainBuilder:
    """Collects units that follow each other, as long as `threads` parts of them stay apart."""

    offsets: Mapping[Buffer, int]
    threads: int
    units: list[Tile | Product | Batch] = field(default_factory=list[Tile | Product | Batch])
    links: list[Link] = field(default_factory=list[Link])
    touches: dict[_Touch, None] = field(default_factory=dict[_Touch, None])

    def take(self, unit: Tile | Product | Batch) -> bool:
        """Adds a unit, unless its parts are uneven or get in the way of others."""
        products = unit.products if isinstance(unit, Batch) else [unit]
        links = [(part, axis) for part in products if (axis := _axis(part, self.threads)) is not None]
        if len(links) < len(products) or len(self.links) + len(links) > LONGEST:
            return False
        touches = dict.fromkeys(touch for link in links for touch in self._touches(*link))
        known = [*self.touches, *touches]
        if any(touch.clashes(other) for touch in touches for other in known):
            return False
        self.touches |= touches
        self.links += links
        self.units.append(unit)
        return True

    def close(self) -> list[Tile | Product | Batch | Chain]:
        """What was collected: one chain, or the lone unit as it was."""
        units, links = self.units, self.links
        self.units, self.links, self.touches = [], [], {}
        return [Chain(links)] if len(units) > 1 else list(units)

    def _touches(self, unit: Tile | Product, axis: int) -> list[_Touch]:
        if isinstance(unit, Tile):
            seen = [(read.window, axis, False) for read in unit.reads]
            seen += [(write.window, axis, True) for write in unit.writes]
        else:
            dims = len(unit.out.strided.shape)
            seen = [(unit.lhs, axis if axis != dims - 1 else None, False)]
            seen += [(unit.rhs, axis if axis != dims - 2 else None, False), (unit.out, axis, True)]
        return [
            self._touch(window, dim, writes)
            for window, dim, writes in seen
            if window.buffer.home in (Home.ARENA, Home.OUTPUT)
        ]

    def _touch(self, window: Window, dim: int | None, writes: bool) -> _Touch:
        buffer, size = window.buffer, window.buffer.dtype.itemsize
        base = self.offsets.get(buffer, 0)
        spans = [_span(window.strided, dim, part, self.threads) for part in range(self.threads)]
        places = tuple((base + first * size, base + behind * size) for first, behind in spans)
        return _Touch((buffer.home, buffer.index), writes, places)


def _span(window: Strided, dim: int | None, part: int, parts: int) -> tuple[int, int]:
    """From the first element of a part's window to the one behind its last."""
    low = high = window.offset
    for at, (extent, step) in enumerate(zip(window.shape, window.strides, strict=True)):
        first, last = 0, extent - 1
        if at == dim and extent > 1:
            first, last = extent * part // parts, extent * (part + 1) // parts - 1
        low += min(first * step, last * step)
        high += max(first * step, last * step)
    return low, high + 1


def _axis(unit: Tile | Product, threads: int) -> int | None:
    """The dim to cut, so that parts of the result lie one behind the other; `None` if uneven or slow."""
    if isinstance(unit, Tile):
        axis, extent = (0, unit.outer) if unit.outer > 1 else (1, unit.rows)
        shared = unit.parallel
    else:
        out = unit.out.strided
        axis = max(range(len(out.shape)), key=lambda dim: (out.shape[dim] > 1, out.strides[dim]))
        extent, shared = out.shape[axis], unit.axis is not None and not _across(out, axis)
    even = extent % threads == 0 or extent >= _EVEN_EXTENT * threads
    return axis if shared and even else None


def _across(out: Strided, axis: int) -> bool:
    """Whether the shorter side of the matrices is cut: BLAS would prepare the larger operand once for each part."""
    rows, columns = out.shape[-2:]
    cut = len(out.shape) - axis
    return (cut == 2 and rows < columns) or (cut == 1 and columns < rows)
