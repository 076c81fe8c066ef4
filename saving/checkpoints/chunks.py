"""
How an array is cut for storage: files that each hold a part of one device's box, made of small chunks with checksums.

A file (zarr's shard) never crosses the border of a device's box, so that every device writes files of its own. The
chunks in it are small and as square as possible, because a reader gets whole chunks: any even split of the array then
begins and ends at the border of a chunk, or close to it. Nothing is compressed, so that all sizes are known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from shardwright.layout.boxes import Box

CHUNK_BYTES = 64 << 10
"""What a chunk holds at most, wherever the extents can be divided so far."""

SMALL_CHUNK_BYTES = 256
"""What a chunk holds at least, if there are several: tensorstore reads shorter gaps rather than skip them."""

FILE_BYTES = 8 << 20
"""
What a file may hold, which is also what is held in memory beyond the array while one is written or read.

Larger ones do not fit into a processor's cache, which halves the speed.
"""

MAX_CHUNK_BYTES = 16 << 20
"""What a chunk may hold at all: a reader needs one in memory at a time."""

MAX_FILE_BYTES = 16 << 20
MAX_FILE_CHUNKS = 1 << 16

HASH_BYTES = 16
"""What the hash of a chunk takes, in a file of its own."""

_RUN_BYTES = 256
_CHECKSUM_BYTES = 4
_INDEX_ENTRY_BYTES = 16

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """
    An array's shape, that of its files, and that of the chunks in a file, in elements of `itemsize` bytes.

    >>> grid = Grid((8, 4), (4, 4), (2, 2), 4)
    >>> grid.files, grid.file_bytes((0, 0)), [grid.file_name(index) for index in grid.file_indices()]
    ((2, 1), 148, ['c.0.0', 'c.1.0'])
    """

    shape: Shape
    file: Shape
    chunk: Shape
    itemsize: int

    @property
    def files(self) -> Shape:
        """The number of files along each dim."""
        return tuple(-(-size // extent) for size, extent in zip(self.shape, self.file, strict=True))

    @property
    def file_count(self) -> int:
        return math.prod(self.files)

    @property
    def file_chunks(self) -> int:
        """The number of chunks for which a file's index has room."""
        return math.prod(extent // chunk for extent, chunk in zip(self.file, self.chunk, strict=True))

    @property
    def chunks(self) -> Shape:
        """The number of chunks along each dim of the array; files are whole numbers of chunks."""
        return tuple(-(-size // extent) for size, extent in zip(self.shape, self.chunk, strict=True))

    @property
    def hash_bytes(self) -> int:
        """The bytes of the hashes of all chunks."""
        return math.prod(self.chunks) * HASH_BYTES

    @property
    def chunk_bytes(self) -> int:
        """The bytes of one chunk, without its checksum."""
        return math.prod(self.chunk) * self.itemsize

    @property
    def index_bytes(self) -> int:
        """The bytes of a file's index: where each chunk begins and how long it is, and a checksum."""
        return self.file_chunks * _INDEX_ENTRY_BYTES + _CHECKSUM_BYTES

    def file_indices(self) -> Iterator[Shape]:
        """The places of all files, row-major."""
        return product(*map(range, self.files))

    def file_name(self, index: Shape) -> str:
        """The name of a file, as zarr has it."""
        return ".".join(("c", *map(str, index)))

    def file_box(self, index: Shape) -> Box:
        starts = [place * extent for place, extent in zip(index, self.file, strict=True)]
        ends = [start + extent for start, extent in zip(starts, self.file, strict=True)]
        return tuple((start, min(end, size)) for start, end, size in zip(starts, ends, self.shape, strict=True))

    def file_bytes(self, index: Shape) -> int:
        """The size of a file: its chunks within the array, and its index."""
        extents = [stop - start for start, stop in self.file_box(index)]
        count = math.prod(-(-extent // chunk) for extent, chunk in zip(extents, self.chunk, strict=True))
        return count * (self.chunk_bytes + _CHECKSUM_BYTES) + self.index_bytes

    def pieces(self, box: Box) -> Iterator[tuple[Shape, Box]]:
        """The files that hold a part of a box, and which part."""
        spans = [
            range(start // extent, -(-stop // extent)) for (start, stop), extent in zip(box, self.file, strict=True)
        ]
        for index in product(*spans):
            yield index, meet(self.file_box(index), box)

    def whole_chunks(self, piece: Box) -> Box:
        """
        The chunks that hold a part of an array, as far as the array goes.

        >>> Grid((8, 5), (4, 6), (4, 2), 4).whole_chunks(((5, 6), (1, 5)))
        ((4, 8), (0, 5))
        """
        return tuple(
            (start // extent * extent, min(-(-stop // extent) * extent, size))
            for (start, stop), extent, size in zip(piece, self.chunk, self.shape, strict=True)
        )

    def chunk_slices(self, piece: Box) -> tuple[slice, ...]:
        """Where the chunks of a part are in the grid of chunks."""
        spans = zip(piece, self.chunk, strict=True)
        return tuple(slice(start // extent, -(-stop // extent)) for (start, stop), extent in spans)

    def read_bytes(self, piece: Box) -> int:
        """
        What storage reads for a part of one file: whole chunks, and the file's index.

        >>> grid = Grid((64, 64), (64, 64), (8, 16), 4)
        >>> [grid.read_bytes(piece) - grid.index_bytes for piece in (((0, 64), (0, 64)), ((0, 9), (16, 24)))]
        [16512, 1032]
        """
        count = math.prod(span.stop - span.start for span in self.chunk_slices(piece))
        return count * (self.chunk_bytes + _CHECKSUM_BYTES) + self.index_bytes


def meet(first: Box, second: Box) -> Box:
    """What two boxes share."""
    return tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(first, second, strict=True))


def box_size(box: Box) -> int:
    """The number of elements in a box."""
    return math.prod(stop - start for start, stop in box)


def choose_grid(shape: Shape, parts: Shape, itemsize: int) -> Grid:
    """
    The grid of an array whose dims are split evenly into `parts`.

    >>> choose_grid((8192, 8192), (2, 4), 4)
    Grid(shape=(8192, 8192), file=(1024, 2048), chunk=(128, 128), itemsize=4)
    >>> choose_grid((50257,), (1,), 4)
    Grid(shape=(50257,), file=(50358,), chunk=(109,), itemsize=4)
    """
    local = tuple(max(size // count, 1) for size, count in zip(shape, parts, strict=True))
    free = tuple(count == 1 for count in parts)
    chunk = _chunk_shape(local, free, itemsize) if local else ()
    counts = [-(-size // extent) for size, extent in zip(local, chunk, strict=True)]
    room = max(FILE_BYTES // (math.prod(chunk) * itemsize), 1)
    for dim in range(len(counts)):
        while counts[dim] > 1 and math.prod(counts) > room:
            counts[dim] = -(-counts[dim] // 2) if free[dim] else counts[dim] // _smallest_factor(counts[dim])
    file = tuple(count * extent for count, extent in zip(counts, chunk, strict=True))
    return Grid(shape, file, chunk, itemsize)


def _chunk_shape(local: Shape, free: tuple[bool, ...], itemsize: int) -> Shape:
    """
    The shape of a chunk: the longest dim is divided until it fits, the last one not into runs of a few bytes.

    A dim that is `free`, not split over devices, may also be cut where its extent has no small divisor.
    """
    chunk = list(local)
    aim = _aim(math.prod(local) * itemsize)
    shortest = [1] * (len(chunk) - 1) + [-(-min(_RUN_BYTES, math.isqrt(aim * itemsize)) // itemsize)]
    while (now := math.prod(chunk) * itemsize) > aim:
        cuts = [
            (_cut(chunk[dim], local[dim], free[dim], now // max(aim // 8, SMALL_CHUNK_BYTES)), dim)
            for dim in range(len(chunk))
        ]
        good = [(cut, dim) for cut, dim in cuts if cut is not None and cut.extent >= shortest[dim]]
        if not good:
            break
        cut, dim = max(good)
        chunk[dim] = cut.extent
    return tuple(chunk)


def _aim(size: int) -> int:
    """
    What the chunks of a part of `size` bytes shall hold: about 256 chunks, whose index is small beside them.

    >>> [_aim(4**power) for power in (1, 10, 11, 14)]
    [256, 4096, 16384, 65536]
    """
    return min(max(size // 256, SMALL_CHUNK_BYTES), CHUNK_BYTES)


class _Cut(NamedTuple):
    """A way to make a chunk smaller along a dim; the larger the better."""

    exact: bool
    before: int
    extent: int


def _cut(extent: int, local: int, free: bool, most: int) -> _Cut | None:
    """The extent divided by its smallest divisor, if that is at most `most`; else halved, where that is allowed."""
    if extent == 1 or most < 2:
        return None
    factor = _smallest_factor(extent)
    if local % extent == 0 and factor <= most:
        return _Cut(True, extent, extent // factor)
    return _Cut(False, extent, -(-extent // 2)) if free else None


def _smallest_factor(number: int) -> int:
    """The smallest prime that divides a number above 1."""
    if number % 2 == 0:
        return 2
    for factor in range(3, math.isqrt(number) + 1, 2):
        if number % factor == 0:
            return factor
    return number
