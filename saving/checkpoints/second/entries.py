"""
How an array of the second format is cut: files (zarr's shards) that each hold a part of one device's box, made of
chunks with checksums.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from shardwright.layout.boxes import Box
from shardwright.saving.checkpoints.archive.chunks import Grid, Shape, meet
from shardwright.saving.checkpoints.entries import ArrayEntry

ARRAYS = "arrays"
"""The folder in which each array has a folder."""

SMALL_CHUNK_BYTES = 256
"""What a chunk holds at least, if there are several in a file."""

MAX_FILE_BYTES = 16 << 20
MAX_FILE_CHUNKS = 1 << 16

_CHECKSUM_BYTES = 4
_INDEX_ENTRY_BYTES = 16


@dataclass(frozen=True)
class FileGrid(Grid):
    """
    The grid of an array, and the shape of its files, which are whole numbers of chunks.

    >>> grid = FileGrid((8, 4), (2, 2), 4, (4, 4))
    >>> grid.files, grid.file_bytes((0, 0)), [grid.file_name(index) for index in grid.file_indices()]
    ((2, 1), 148, ['c.0.0', 'c.1.0'])
    """

    file: Shape

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

        >>> FileGrid((8, 5), (4, 2), 4, (4, 6)).whole_chunks(((5, 6), (1, 5)))
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
        """What storage reads for a part of one file: whole chunks, and the file's index."""
        count = math.prod(span.stop - span.start for span in self.chunk_slices(piece))
        return count * (self.chunk_bytes + _CHECKSUM_BYTES) + self.index_bytes


@dataclass(frozen=True, slots=True)
class SecondEntry(ArrayEntry):
    """One array, whose number is its folder's name, with the SHA-256 of the table of its chunks' hashes."""

    grid: FileGrid
    hashes: str

    hashes_at: int
    """Where that table begins in the file of all tables."""

    @property
    def hashes_end(self) -> int:
        """Where the table ends, and that of the next array begins."""
        return self.hashes_at + self.grid.hash_bytes

    @property
    def folder(self) -> str:
        """Where its files are, below the checkpoint's folder."""
        return f"{ARRAYS}/{self.number}"


def is_file_grid(grid: FileGrid) -> bool:
    """Whether files are whole numbers of chunks, and no larger than what was written."""
    if len(grid.file) != len(grid.chunk) or any(a < b or a % b for a, b in zip(grid.file, grid.chunk, strict=True)):
        return False
    if grid.file_chunks > 1 and grid.chunk_bytes < SMALL_CHUNK_BYTES:  # whose hashes would be larger than the array
        return False
    return math.prod(grid.file) * grid.itemsize <= MAX_FILE_BYTES and grid.file_chunks <= MAX_FILE_CHUNKS
