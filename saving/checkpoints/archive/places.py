"""
Where everything lies in the archive: it follows from the manifest's arrays, so that nothing has to be looked up.

First come the chunks of small arrays, one behind the other, then those of the others, each on pages of its own, so that
processes on several machines never write one page. Each chunk stands behind a header of zip's; those of one array are
alike in length. Behind all chunks is the directory: zarr's documents, and zip's list of everything.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shardwright.saving.checkpoints.archive import records
from shardwright.saving.checkpoints.archive.chunks import Shape
from shardwright.saving.checkpoints.archive.metadata import DOCUMENT, array_text, chunk_key, group_text
from shardwright.saving.checkpoints.archive.names import groups_of, path_of
from shardwright.saving.checkpoints.entries import ArrayEntry

ARCHIVE = "arrays.zarr.zip"
"""The file with the elements of all arrays."""

LEAST_BYTES = 256
"""What an array takes in the archive at least, in its directory."""

_LINE, _PAGE = 64, 4096

SMALL_BYTES, MANY_BYTES = 64 << 10, 4 << 20
"""What a small array has at most; and what one has of which devices hold less than a page each."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an array's chunks lie: `header` bytes before each, `stride` from one to the next."""

    path: str
    at: int
    header: int
    stride: int
    is_packed: bool

    def name(self, index: Shape) -> str:
        """What zip calls a chunk."""
        return f"{self.path}/{chunk_key(index)}"

    def member(self, number: int) -> int:
        """Where the header of a chunk begins."""
        return self.at + number * self.stride

    def chunk(self, number: int) -> int:
        """Where a chunk begins."""
        return self.at + number * self.stride + self.header


@dataclass(frozen=True, slots=True)
class Places:
    """The place of each array, in the manifest's order; where the packed ones end, and where the directory begins."""

    arrays: list[Place]
    packed_end: int
    directory: int

    @property
    def gap(self) -> tuple[int, int]:
        """The bytes, all zero, between packed and other chunks."""
        return self.packed_end, min(_rounded(self.packed_end, _PAGE), self.directory)


def places_of(entries: Sequence[ArrayEntry]) -> Places:
    """The places of arrays, which begin with those that are packed."""
    found: dict[int, Place] = {}
    at = 0
    packed = [entry for entry in entries if _is_packed(entry)]
    for entry in packed:
        found[entry.number] = place = _placed(entry, at, _LINE, True)
        at = place.member(entry.grid.count)
    packed_end, others = at, [entry for entry in entries if entry.number not in found]
    at = _rounded(at, _PAGE) if others else at
    for entry in others:
        found[entry.number] = place = _placed(entry, at, _PAGE, False)
        at = place.member(entry.grid.count)
    return Places([found[entry.number] for entry in entries], packed_end, at)


def _is_packed(entry: ArrayEntry) -> bool:
    return entry.nbytes <= (MANY_BYTES if entry.grid.chunk_bytes <= _PAGE else SMALL_BYTES)


def _placed(entry: ArrayEntry, at: int, unit: int, is_packed: bool) -> Place:
    """The headers of an array are as long as that of its last chunk has to be, and up to where the next one may lie."""
    path, grid = path_of(entry.name), entry.grid
    longest = len(chunk_key(tuple([max(count - 1, 0) for count in grid.counts])))
    least = records.least_padded(len(path.encode()) + 1 + longest)
    stride = _rounded(least + grid.chunk_bytes, unit)
    return Place(path, at, stride - grid.chunk_bytes, stride, is_packed)


def directory(entries: Sequence[ArrayEntry], places: Places, checksums: Mapping[int, Any]) -> Iterator[bytes]:
    """What stands behind the chunks, piece by piece; `checksums` has the CRC-32 of each chunk, by array and number."""
    at, count, listed = places.directory, 0, list[bytes]()
    texts = [(_inside(group, DOCUMENT), group_text()) for group in groups_of([place.path for place in places.arrays])]
    paired = list(zip(entries, places.arrays, strict=True))
    texts += [(_inside(place.path, DOCUMENT), array_text(entry)) for entry, place in paired]
    for path, text in texts:
        name, checksum = path.encode(), zlib.crc32(text)
        header = records.header(name, checksum, len(text))
        listed.append(records.listing(name, checksum, len(text), at))
        at += len(header) + len(text)
        yield header + text
    start = at
    for piece in listed:
        yield piece
    at, count = at + sum(map(len, listed)), len(listed)
    for entry, place in paired:
        size, found = entry.grid.chunk_bytes, checksums[entry.number]
        for number, index in enumerate(entry.grid.indices()):
            piece = records.listing(place.name(index).encode(), int(found[number]), size, place.member(number))
            at, count = at + len(piece), count + 1
            yield piece
    yield records.end(count, at - start, start)


def _inside(group: str, name: str) -> str:
    return f"{group}/{name}" if group else name


def _rounded(size: int, unit: int) -> int:
    return -(-size // unit) * unit
