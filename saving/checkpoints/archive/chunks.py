"""
How an array is cut for storage: chunks, each a part of one device's box.

A chunk never crosses the border of a device's box, so that every device writes chunks of its own. A reader gets whole
chunks, because each is compared with its hash: their size is a compromise between what a chunk costs (microseconds)
and what is read of it in vain. Nothing is compressed, so that all sizes are known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from shardwright.layout.boxes import Box

CHUNK_BYTES = 1 << 20
"""What a chunk holds at most, wherever the extents can be divided so far: it shall fit into a processor's cache."""

SMALL_CHUNK_BYTES = 64 << 10
"""What a chunk holds at least, if the box is larger: to read less costs as much."""

MAX_CHUNK_BYTES = 16 << 20
"""What a chunk may hold at all: a reader needs one in memory at a time, in each of its threads."""

HASH_BYTES = 16
"""What the hash of a chunk takes, in a file of its own."""

_PARTS = 32
"""Into how many chunks a box is cut, if they are neither too small nor too large then."""

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Grid:
    """
    An array's shape and that of its chunks, in elements of `itemsize` bytes.

    All chunks have the same size, also those at the end of a dim, where the rest is zeros.

    >>> grid = Grid((8, 5), (4, 4), 4)
    >>> grid.counts, grid.chunk_bytes, [grid.box(index) for index in grid.indices()][:2]
    ((2, 2), 64, [((0, 4), (0, 4)), ((0, 4), (4, 5))])
    """

    shape: Shape
    chunk: Shape
    itemsize: int

    @cached_property
    def counts(self) -> Shape:
        """The number of chunks along each dim."""
        return tuple([-(-size // extent) for size, extent in zip(self.shape, self.chunk, strict=True)])

    @cached_property
    def count(self) -> int:
        """The number of chunks."""
        return math.prod(self.counts)

    @cached_property
    def chunk_bytes(self) -> int:
        """The bytes of a chunk."""
        return math.prod(self.chunk) * self.itemsize

    @cached_property
    def nbytes(self) -> int:
        """The bytes of the array's elements."""
        return math.prod(self.shape) * self.itemsize

    @property
    def hash_bytes(self) -> int:
        """The bytes of the hashes of all chunks."""
        return self.count * HASH_BYTES

    def indices(self) -> Iterator[Shape]:
        """The places of all chunks in the grid, row-major: in the order of their numbers."""
        return product(*map(range, self.counts))

    def number(self, index: Shape) -> int:
        """The number of a chunk, row-major."""
        number = 0
        for at, count in zip(index, self.counts, strict=True):
            number = number * count + at
        return number

    def box(self, index: Shape) -> Box:
        """The part of the array that a chunk has."""
        return tuple(
            [
                (at * extent, min(at * extent + extent, size))
                for at, extent, size in zip(index, self.chunk, self.shape, strict=True)
            ]
        )

    def touching(self, box: Box) -> Iterator[Shape]:
        """
        The chunks that have a part of a box.

        >>> list(Grid((8, 5), (4, 4), 4).touching(((3, 5), (0, 2))))
        [(0, 0), (1, 0)]
        >>> list(Grid((8, 5), (4, 4), 4).touching(((5, 5), (0, 2))))  # of nothing
        []
        """
        spans = zip(box, self.chunk, strict=True)
        return product(
            *[range(start // extent, -(-stop // extent) if stop > start else 0) for (start, stop), extent in spans]
        )


def meet(first: Box, second: Box) -> Box:
    """What two boxes share."""
    return tuple([(max(a, c), min(b, d)) for (a, b), (c, d) in zip(first, second, strict=True)])


def within(piece: Box, box: Box) -> tuple[Any, ...]:
    """Where a piece lies within a box; the dots make it a view of arrays without dims, too."""
    return (*[slice(start - low, stop - low) for (start, stop), (low, _) in zip(piece, box, strict=True)], ...)


def box_size(box: Box) -> int:
    """The number of elements in a box."""
    return math.prod([stop - start for start, stop in box])


@lru_cache(1 << 12)
def choose_grid(shape: Shape, parts: Shape, itemsize: int) -> Grid:
    """
    The grid of an array whose dims are split into `parts`, of which the last may be shorter, or empty.

    >>> choose_grid((8192, 8192), (2, 4), 4)
    Grid(shape=(8192, 8192), chunk=(128, 2048), itemsize=4)
    >>> choose_grid((50257,), (1,), 4)
    Grid(shape=(50257,), chunk=(12565,), itemsize=4)
    >>> choose_grid((10,), (4,), 4)
    Grid(shape=(10,), chunk=(3,), itemsize=4)
    """
    local = tuple([max(-(-size // count), 1) for size, count in zip(shape, parts, strict=True)])
    free = tuple([count == 1 for count in parts])
    return Grid(shape, _chunk_shape(local, free, itemsize), itemsize)


def _chunk_shape(local: Shape, free: tuple[bool, ...], itemsize: int) -> Shape:
    """
    The shape of a chunk: the first dim is divided until it fits, then the next one.

    So a chunk is one piece of memory, where the box is, and is read straight into it. A dim that is `free`, not split
    over devices, may also be cut where its extent has no small divisor.
    """
    chunk, size = list(local), math.prod(local) * itemsize
    aim = _aim(size)
    for dim in range(len(chunk)):
        while size > aim and (cut := _cut(chunk[dim], local[dim], free[dim], size // (aim // 8))) is not None:
            size = size // chunk[dim] * cut
            chunk[dim] = cut
    return tuple(chunk)


def _aim(size: int) -> int:
    """
    What the chunks of a box of `size` bytes shall hold.

    >>> [_aim(size << 10) >> 10 for size in (1, 1024, 4096, 65536)]
    [64, 64, 128, 1024]
    """
    return min(max(size // _PARTS, SMALL_CHUNK_BYTES), CHUNK_BYTES)


def _cut(extent: int, local: int, free: bool, most: int) -> int | None:
    """The extent divided by its smallest divisor, if that is at most `most`; else halved, where that is allowed."""
    if extent == 1 or most < 2:
        return None
    factor = _smallest_factor(extent)
    if local % extent == 0 and factor <= most:
        return extent // factor
    return -(-extent // 2) if free else None


def _smallest_factor(number: int) -> int:
    """The smallest prime that divides a number above 1."""
    if number % 2 == 0:
        return 2
    for factor in range(3, math.isqrt(number) + 1, 2):
        if number % factor == 0:
            return factor
    return number
