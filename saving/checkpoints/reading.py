"""
Arrays out of a checkpoint: each chunk once, by several threads, straight into the boxes of all devices here.

Every chunk is compared with its hash before anybody has the array.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, cast

import numpy as np

from shardwright.diagnostics.telling import Step, lasting
from shardwright.frontends.functions.dtensor import DTensor
from shardwright.layout import Layout
from shardwright.saving.checkpoints.archive import records
from shardwright.saving.checkpoints.archive.chunks import HASH_BYTES, Shape, box_size, meet, within
from shardwright.saving.checkpoints.archive.file import raw_bytes, read_at, size_fault
from shardwright.saving.checkpoints.archive.hashes import HASHES, chunk_hash, running_hash, table_hash
from shardwright.saving.checkpoints.archive.places import ARCHIVE, Place, directory, places_of
from shardwright.saving.checkpoints.archive.threads import thread_count, work_off
from shardwright.saving.checkpoints.boxes import NOWHERE, empty_stacked, holdings
from shardwright.saving.checkpoints.entries import ArrayEntry
from shardwright.saving.checkpoints.manifest import SECOND, Manifest
from shardwright.saving.checkpoints.second.entries import SecondEntry
from shardwright.saving.checkpoints.second.reading import SecondReader
from shardwright.saving.checkpoints.transfers import ArrayTransfer, Transfers
from shardwright.saving.faults import SavingError

Stacked = np.ndarray[Any, Any]
"""The parts of an array that devices here hold, or all of it."""

_Target = tuple[Stacked, Any]
"""A part of a device's box, and which part of a chunk goes there."""

_RUN_BYTES = 1 << 20
"""How much of neighbouring small chunks is read at once."""


_WORTH_THREADS = 1 << 21
"""From how many bytes on one thread takes longer than several."""


def read_arrays(
    folder: Path,
    manifest: Manifest,
    wanted: Sequence[tuple[ArrayEntry, Layout | None]],
    moved: Transfers,
    code: str,
    message: str,
    everything: bool = False,
) -> list[Any]:
    """
    Arrays in their layouts, or as NumPy arrays without one; with `everything`, what others read is compared as well.

    Before memory is taken, all files are there and have the sizes that they must have, and all layouts fit; with other
    files, `SavingError` has this code and message. Raises `ValueError` (SW0873) for a chunk that was not written so.
    """
    if not wanted:
        return []
    store = open_arrays(folder, manifest)
    faults = store.faults() or (store.rest_faults() if everything else [])
    if faults:
        raise SavingError(code, message, *faults)
    for entry, layout in wanted:
        if layout is not None:
            layout.local_shape(entry.shape)
    return store.read(wanted, moved)


def open_arrays(folder: Path, manifest: Manifest) -> ArrayReader | SecondReader:
    """The arrays of a checkpoint, whatever its format."""
    if manifest.version == SECOND:
        return SecondReader(folder, cast("list[SecondEntry]", list(manifest.arrays.values())))
    return ArrayReader(folder, manifest)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A chunk, and the places to which parts of it go."""

    entry: ArrayEntry
    place: Place
    index: Shape
    number: int
    row: int
    """The number of its hash among those of all chunks."""

    targets: list[_Target]

    @property
    def name(self) -> str:
        """How it is called in messages."""
        return f"{ARCHIVE}: {self.place.name(self.index)}"

    @property
    def memory(self) -> memoryview | None:
        """Where all of it goes, if that is one place in one piece of memory."""
        target = self.targets[0][0]
        fits = len(self.targets) == 1 and target.shape == self.entry.grid.chunk and target.flags.c_contiguous
        return raw_bytes(target) if fits else None

    def copy(self, data: memoryview) -> None:
        """Puts the parts of the chunk, of which these are the bytes, where they belong."""
        chunk = np.frombuffer(data, self.entry.element).reshape(self.entry.grid.chunk)
        for target, part in self.targets:
            target[...] = chunk[part]


@dataclass(slots=True)
class _Run:
    """Bytes that are read at once, and the chunks in them, each with its place there."""

    at: int
    size: int
    pieces: list[tuple[int, _Piece]]


class ArrayReader:
    """The arrays in one folder. Raises `ImportError` (SW0877) when blake3 is not installed."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._hash = chunk_hash()
        self._folder, self._seal = folder, manifest.seal
        self._entries = list(manifest.arrays.values())
        self._places = places_of(self._entries)
        self._rows = [0, *accumulate(entry.grid.count for entry in self._entries)]
        self._table = b""

    def faults(self) -> list[str]:
        """What is wrong with the files' sizes, and with the hashes, which are read."""
        due = {ARCHIVE: self._seal.size, HASHES: self._rows[-1] * HASH_BYTES}
        found = [f"{name}: {fault}" for name, size in due.items() if (fault := size_fault(self._folder / name, size))]
        if not found and self._seal.size < self._places.directory:
            found = [f"{ARCHIVE}: it has no room for its arrays"]
        if not found:
            self._table = (self._folder / HASHES).read_bytes()
            found = [] if table_hash(self._table) == self._seal.hashes else [f"{HASHES}: it is not what was written"]
        return found

    def read(self, wanted: Sequence[tuple[ArrayEntry, Layout | None]], moved: Transfers) -> list[Any]:
        """
        Arrays in their layouts, on any mesh, or as NumPy arrays without one; `faults` has found nothing.

        Raises `ValueError` (SW0873) when a chunk is not what was written, (SW0879) where there is too little memory.
        """
        found = list[Stacked]()
        with self._opened() as descriptor, lasting("loading", "bytes") as step:
            runs = self._runs(wanted, found, moved, step)
            threads = self._threads(entry for entry, _ in wanted)
            work_off(runs, lambda: partial(self._read, _Buffer(descriptor)), threads)
        # Not before all is read: a distributed tensor may pass its elements on to workers when it is made.
        pairs = zip(found, wanted, strict=True)
        return [
            array if layout is None else DTensor(array, layout.for_rank(len(entry.shape)), entry.shape)
            for array, (entry, layout) in pairs
        ]

    def damages(self) -> list[str]:
        """What in the archive is not what was written: all of it is read."""
        found = list[str]()
        with self._opened() as descriptor:
            pieces = (piece for entry in self._entries for piece in self._pieces(entry, None))
            runs = (
                _Run(piece.place.chunk(piece.number), piece.entry.grid.chunk_bytes, [(0, piece)]) for piece in pieces
            )
            threads = self._threads(self._entries)
            work_off(runs, lambda: partial(self._compare, _Buffer(descriptor), found.append), threads)
        return sorted(found) + self.rest_faults()

    def rest_faults(self) -> list[str]:
        """
        What is not as it was written beside the chunks, for others: headers, documents and zip's directory.

        The directory has the checksums in the headers; it is made once more of those, and has the hash that it had.
        """
        found, digest = list[str](), running_hash()
        checksums = {entry.number: list[int]() for entry in self._entries}
        with self._opened() as descriptor:
            buffer = _Buffer(descriptor)
            for piece in (piece for entry in self._entries for piece in self._pieces(entry, None)):
                size, length = piece.entry.grid.chunk_bytes, piece.place.header
                header = bytes(buffer.read(piece.place.member(piece.number), length))
                checksum = records.checksum(header)
                checksums[piece.entry.number].append(checksum)
                if header != records.header(piece.place.name(piece.index).encode(), checksum, size, length):
                    found.append(f"{piece.name} has another header than was written")
            if any(any(part) for part in buffer.parts(*self._places.gap)):
                found.append(f"{ARCHIVE}: it has something between its chunks")
            for part in buffer.parts(self._places.directory, self._seal.size):
                digest.update(part)
        if digest.hexdigest() != self._seal.directory:
            return [*found, f"{ARCHIVE}: its directory is not what was written"]
        again = running_hash()
        for part in directory(self._entries, self._places, checksums):
            again.update(part)
        if again.hexdigest() != self._seal.directory and not found:
            found.append(f"{ARCHIVE}: some header has another checksum than was written")
        return found

    @contextmanager
    def _opened(self) -> Generator[int]:
        descriptor = os.open(self._folder / ARCHIVE, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _threads(self, entries: Iterable[ArrayEntry]) -> int:
        """As many as there is something to do for, and memory for what each reads at once."""
        sizes = [(entry.grid.chunk_bytes, entry.nbytes) for entry in entries]
        largest, total = max((chunk for chunk, _ in sizes), default=0), sum(size for _, size in sizes)
        return 1 if total < _WORTH_THREADS else thread_count(max(largest, _RUN_BYTES))

    def _runs(
        self,
        wanted: Sequence[tuple[ArrayEntry, Layout | None]],
        found: list[Stacked],
        moved: Transfers,
        step: Step | None,
    ) -> Iterator[_Run]:
        """What is to be read, small chunks that are neighbours at once; the arrays come into `found`."""
        run, done, total = _Run(0, 0, []), 0, sum(entry.nbytes for entry, _ in wanted)
        if step is not None:
            step(done, total)
        for entry, layout in wanted:
            for piece in self._placed(entry, layout, found, moved):
                place, number = piece.place, piece.number
                if not place.is_packed:
                    yield _Run(place.chunk(number), entry.grid.chunk_bytes, [(0, piece)])
                    continue
                at = place.member(number)
                if run.pieces and (at != run.at + run.size or run.size >= _RUN_BYTES):
                    yield run
                    run = _Run(at, 0, [])
                elif not run.pieces:
                    run = _Run(at, 0, [])
                run.pieces.append((run.size + place.header, piece))
                run.size += place.stride
            done += entry.nbytes
            if step is not None:
                step(done, total)
        if run.pieces:
            yield run

    def _placed(
        self, entry: ArrayEntry, layout: Layout | None, found: list[Stacked], moved: Transfers
    ) -> Iterable[_Piece]:
        """The chunks of which some part is wanted, in the order of the file; where they go to comes into `found`."""
        placed = NOWHERE if layout is None else layout.for_rank(len(entry.shape))
        stacked, boxes = empty_stacked(entry.name, placed, entry.shape, entry.element), holdings(placed, entry.shape)
        found.append(stacked)
        targets = dict[Shape, list[_Target]]()
        parts = 0
        for holding in boxes:
            here = holding.here
            parts += bool(here)
            for index in entry.grid.touching(holding.box) if here else ():
                box = entry.grid.box(index)
                part = meet(box, holding.box)
                inside, outside = within(part, box), within(part, holding.box)
                targets.setdefault(index, []).extend((stacked[(*at, ...)][outside], inside) for at in here)
        place = self._places.arrays[entry.number]
        each = place.stride if place.is_packed else entry.grid.chunk_bytes
        box_bytes = box_size(boxes[0].box) * entry.grid.itemsize
        moved.rows.append(ArrayTransfer(entry.name, parts, box_bytes, len(targets) * each, entry.grid.hash_bytes))
        return self._pieces(entry, targets)

    def _pieces(self, entry: ArrayEntry, targets: Mapping[Shape, list[_Target]] | None) -> Iterator[_Piece]:
        """Chunks of an array, of those that go somewhere or else of all, in the order of the file."""
        place, grid, row = self._places.arrays[entry.number], entry.grid, self._rows[entry.number]
        for index in grid.indices() if targets is None else sorted(targets):
            number = grid.number(index)
            yield _Piece(entry, place, index, number, row + number, [] if targets is None else targets[index])

    def _read(self, buffer: _Buffer, run: _Run) -> None:
        """Reads some chunks, compares them, and puts them where they belong."""
        direct = run.pieces[0][1].memory if len(run.pieces) == 1 and not run.pieces[0][0] else None
        data = buffer.read(run.at, run.size, direct)
        for at, piece in run.pieces:
            part = data[at : at + piece.entry.grid.chunk_bytes]
            if not self._is_right(piece, part):
                fault = f"{piece.name} is not what was written"
                raise SavingError("SW0873", f"{piece.entry.name!r} in {self._folder} is damaged", fault)
            if direct is None:
                piece.copy(part)

    def _compare(self, buffer: _Buffer, tell: Callable[[str], None], run: _Run) -> None:
        """Reads a chunk, and tells if it is another."""
        ((_, piece),) = run.pieces
        if not self._is_right(piece, buffer.read(run.at, run.size)):
            tell(f"{piece.name} is not what was written")

    def _is_right(self, piece: _Piece, data: memoryview) -> bool:
        """Whether the bytes of a chunk have the hash that they had; bytes that are not there have none."""
        at = piece.row * HASH_BYTES
        return len(data) == piece.entry.grid.chunk_bytes and self._hash(data) == self._table[at : at + HASH_BYTES]


class _Buffer:
    """Memory that a thread reads into, again and again."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._memory = descriptor, memoryview(b"")

    def read(self, at: int, size: int, direct: memoryview | None = None) -> memoryview:
        """The bytes from a place on, until this is used again, or in the memory given; none where there are fewer."""
        if direct is None and size > len(self._memory):
            self._memory = memoryview(bytearray(max(size, _RUN_BYTES)))
        target = self._memory[:size] if direct is None else direct
        return target if read_at(self._descriptor, target, at) else target[:0]

    def parts(self, start: int, stop: int) -> Iterator[memoryview]:
        """What lies from one place to another, piece by piece."""
        for at in range(start, stop, _RUN_BYTES):
            yield self.read(at, min(_RUN_BYTES, stop - at))
