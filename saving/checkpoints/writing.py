"""
Arrays into a checkpoint: each process writes chunks of what its devices hold, the first one small arrays and the rest.

Where everything lies follows from names, shapes and layouts, so that all write at once and nobody waits for a place.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

import numpy as np

from shardwright.compiler.tracing.reference import held
from shardwright.diagnostics.telling import Step, lasting
from shardwright.dialects.types import dtype_element, native_array
from shardwright.frontends.functions.dtensor import DTensor
from shardwright.layout.boxes import Box
from shardwright.saving.checkpoints.archive import records
from shardwright.saving.checkpoints.archive.chunks import (
    HASH_BYTES,
    MAX_CHUNK_BYTES,
    Grid,
    Shape,
    box_size,
    choose_grid,
    within,
)
from shardwright.saving.checkpoints.archive.file import flushing, raw_bytes, write_at
from shardwright.saving.checkpoints.archive.hashes import HASHES, chunk_hash, running_hash, table_hash
from shardwright.saving.checkpoints.archive.places import ARCHIVE, Place, directory, places_of
from shardwright.saving.checkpoints.archive.threads import thread_count, work_off
from shardwright.saving.checkpoints.boxes import NOWHERE, Holding, Place as DevicePlace, holdings
from shardwright.saving.checkpoints.entries import ArrayEntry
from shardwright.saving.checkpoints.manifest import MANIFEST, MAX_RANK, Manifest, Plain, Seal
from shardwright.saving.checkpoints.transfers import ArrayTransfer, Transfers
from shardwright.saving.faults import SavingError
from shardwright.saving.team import Team

_CHECKSUM_BYTES = 4
_PIECE_BYTES = 1 << 20
"""How much of small arrays, and of the directory, is written at a time."""


def write_arrays(
    folder: Path,
    arrays: Mapping[str, Any],
    values: Mapping[str, Plain] | None = None,
    *,
    sequence: int = 0,
    time: float = 0.0,
    team: Team | None = None,
) -> Transfers:
    """
    Write arrays, variables and distributed tensors, and plain values, into an empty folder; the manifest comes last.

    Of a team each process writes, and flushes, chunks of what it holds, the first one arrays that are not distributed,
    and everything else. The first one flushes nothing, and the folder is not moved: `AtomicFolder` does both. Raises
    `ValueError`: SW0875 for what cannot be stored, before anything is written, SW0902 for a team that disagrees on it,
    and `ImportError` (SW0877) without blake3.
    """
    team = Team.over((), "writing") if team is None else team
    now = {name: held(value) for name, value in arrays.items()}
    kept = {
        name: value if isinstance(value, DTensor) else native_array(np.asarray(value)) for name, value in now.items()
    }
    faults = [f"{name!r}: {fault}" for name, value in kept.items() if (fault := _fault(value))]
    if faults:
        raise SavingError("SW0875", f"{len(faults)} of {len(arrays)} arrays cannot be saved", *faults)
    manifest = _planned(kept, Manifest({}, dict(values or {}), sequence, time))
    team.agree("what they save", _described(kept, manifest))
    writer = ArrayWriter(folder, manifest, list(kept.values()), team.clients.place)
    if team.is_first:
        writer.make()
    team.vote()
    moved = Transfers()
    with writer:
        team.vote(writer.write(moved), writer.conclude)
    return moved


def _planned(arrays: Mapping[str, Any], others: Manifest) -> Manifest:
    """The manifest of some arrays and of other things, to be sealed."""
    entries = {
        name: ArrayEntry(name, number, value.dtype.name, _grid(value))
        for number, (name, value) in enumerate(arrays.items())
    }
    manifest = replace(others, arrays=entries)
    fault = manifest.fault()
    if fault is not None:
        raise SavingError("SW0875", fault)
    return manifest


def _described(arrays: Mapping[str, Any], manifest: Manifest) -> str:
    """What all processes of a job save alike; of numbers and texts each may have its own."""
    texts = [f"{name} {value.dtype.name}{list(value.shape)} {_placed(value)}" for name, value in arrays.items()]
    return f"{len(texts)} arrays and {len(manifest.values)} values: " + "; ".join([*texts, *manifest.values])


def _placed(value: Any) -> str:
    return str(value.layout) if isinstance(value, DTensor) else ""


def _fault(value: Any) -> str | None:
    try:
        dtype_element(value.dtype)
    except TypeError:
        return f"{value.dtype} is no element type of arrays"
    if len(value.shape) > MAX_RANK:
        return f"it has {len(value.shape)} dims; {MAX_RANK} can be stored"
    if isinstance(value, DTensor) and value.layout.spec.partial:
        return f"its layout {value.layout} has partial results; shardwright.relayout finishes them"
    if _grid(value).chunk_bytes > MAX_CHUNK_BYTES:
        return f"a dim of {list(value.shape)} can be cut into no parts small enough; pad it"
    return None


def _grid(value: Any) -> Grid:
    if not isinstance(value, DTensor):
        return choose_grid(value.shape, (1,) * value.ndim, value.dtype.itemsize)
    layout = value.layout
    parts = tuple(layout.mesh.group_size(axes) for axes in layout.spec.dims)
    return choose_grid(value.shape, parts, value.dtype.itemsize)


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A chunk: its number and place in the grid, its part of the array, the box it is of, and who writes it."""

    number: int
    index: Shape
    box: Box
    holding: Holding
    device: int

    @property
    def process(self) -> int:
        return self.holding.process(self.device)


class _Source:
    """An array that is written, of which this process has `stacked`, and what is known of its chunks so far."""

    def __init__(self, entry: ArrayEntry, place: Place, value: Any) -> None:
        self.entry, self.place = entry, place
        layout = value.layout if isinstance(value, DTensor) else NOWHERE
        self.parts = holdings(layout, entry.shape)
        self._stacked = _stacked(value)
        self.hashes = np.zeros((entry.grid.count, HASH_BYTES), np.uint8)
        self.checksums = np.zeros(entry.grid.count, np.uint32)
        self._packed = list(self._chunks()) if place.is_packed else None

    def chunks(self) -> Iterable[_Chunk]:
        """
        All chunks, in the order of the boxes; holders of a box take turns, so that all have something to write.

        Of small arrays the first holder gives all.
        """
        return self._chunks() if self._packed is None else self._packed

    def data(self, chunk: _Chunk) -> memoryview:
        """The bytes of a chunk that is here, with zeros where the array ends before it does."""
        grid, holding = self.entry.grid, chunk.holding
        part = _local(self._stacked, holding.here[0])[within(chunk.box, holding.box)]
        if part.shape != grid.chunk:
            whole = np.zeros(grid.chunk, part.dtype)
            whole[tuple(map(slice, part.shape))] = part
            part = whole
        return raw_bytes(np.require(part, requirements="C"))

    def note(self, chunk: _Chunk, digest: bytes, checksum: int) -> None:
        """Remembers what was written."""
        self.hashes[chunk.number] = np.frombuffer(digest, np.uint8)
        self.checksums[chunk.number] = checksum

    def header(self, chunk: _Chunk) -> bytes:
        """What zip has before a chunk of which everything is known."""
        name, checksum = self.place.name(chunk.index).encode(), int(self.checksums[chunk.number])
        return records.header(name, checksum, self.entry.grid.chunk_bytes, self.place.header)

    def moved(self, chunks: Sequence[_Chunk], by_device: Counter[int], hash_bytes: int) -> ArrayTransfer:
        """What it means that some of the chunks are written."""
        itemsize = self.entry.grid.itemsize
        for chunk in chunks:
            by_device[chunk.device] += box_size(chunk.box) * itemsize
        boxes = len({chunk.holding.box for chunk in chunks})
        box_bytes = box_size(self.parts[0].box) * itemsize
        return ArrayTransfer(self.entry.name, boxes, box_bytes, len(chunks) * self.place.stride, hash_bytes)

    def _chunks(self) -> Iterator[_Chunk]:
        grid, turn = self.entry.grid, self.entry.number
        for holding in self.parts:
            for index in grid.touching(holding.box):
                turn += 1
                device = holding.owner(0 if self.place.is_packed else turn)
                yield _Chunk(grid.number(index), index, grid.box(index), holding, device)


_Job = tuple[_Source, _Chunk]


class ArrayWriter:
    """The archive while this process, of that number, writes its part of it."""

    def __init__(self, folder: Path, manifest: Manifest, values: Sequence[Any], process: int) -> None:
        self._hash = chunk_hash()
        self._folder, self._manifest, self.process = folder, manifest, process
        self._entries = list(manifest.arrays.values())
        self._places = places_of(self._entries)
        places = zip(self._entries, self._places.arrays, values, strict=True)
        self._sources = [_Source(*each) for each in places]
        self._descriptor = -1

    def make(self) -> None:
        """Makes the file, with room for all chunks."""
        with (self._folder / ARCHIVE).open("xb") as file:
            file.truncate(self._places.directory)

    def __enter__(self) -> Self:
        self._descriptor = os.open(self._folder / ARCHIVE, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def write(self, moved: Transfers) -> bytes:
        """
        Write what this process has of large arrays; what the first one needs of it: hashes, checksums, small chunks.

        What was moved is added to `moved`.
        """
        largest = max((entry.grid.chunk_bytes for entry in self._entries), default=0)
        own = list[_Job]()
        with lasting("saving", "bytes") as step, flushing(self._descriptor):
            work_off(self._due(own, moved, step), lambda: self._write_chunk, thread_count(largest))
        if self.process == 0:
            return b""
        os.fsync(self._descriptor)
        return b"".join(map(self._said, own))

    def _due(self, own: list[_Job], moved: Transfers, step: Step | None) -> Iterator[_Job]:
        """The chunks that this process writes at once, and, in `own`, all that it has to tell the first one of."""
        done, total = 0, sum(entry.nbytes for entry in self._entries)
        if step is not None:
            step(done, total)
        for source in self._sources:
            chunks = [chunk for chunk in source.chunks() if chunk.process == self.process]
            hash_bytes = source.entry.grid.hash_bytes if self.process == 0 else 0
            moved.rows.append(source.moved(chunks, moved.by_device, hash_bytes))
            jobs = [(source, chunk) for chunk in chunks]
            if self.process:
                own += jobs
            if not source.place.is_packed:
                yield from jobs
            done += source.entry.nbytes
            if step is not None:
                step(done, total)

    def _write_chunk(self, job: _Job) -> None:
        source, chunk = job
        data = source.data(chunk)
        source.note(chunk, self._hash(data), zlib.crc32(data))
        write_at(self._descriptor, [source.header(chunk), data], source.place.member(chunk.number))

    def _said(self, job: _Job) -> bytes | memoryview:
        """What the first process is told of a chunk; a small one itself."""
        source, chunk = job
        if source.place.is_packed:
            return source.data(chunk)
        return source.hashes[chunk.number].tobytes() + source.checksums[chunk.number].tobytes()

    def conclude(self, said: Sequence[bytes]) -> bytes:
        """Write small arrays, of what each process said, the directory, the hashes, and the manifest, which is last."""
        streams = [BytesIO(data) for data in said]
        self._put(self._packed(streams), 0)
        digest = running_hash()
        checksums = {source.entry.number: source.checksums for source in self._sources}
        size = self._put(directory(self._entries, self._places, checksums), self._places.directory, digest.update)
        hashes = b"".join(source.hashes.tobytes() for source in self._sources)
        (self._folder / HASHES).write_bytes(hashes)
        seal = Seal(size, digest.hexdigest(), table_hash(hashes))
        (self._folder / MANIFEST).write_bytes(replace(self._manifest, seal=seal).to_bytes())
        return b""

    def _packed(self, streams: Sequence[BytesIO]) -> Iterator[bytes | memoryview]:
        """The chunks of small arrays with their headers; on the way, what others said of large ones is noted."""
        for source in self._sources:
            if source.place.is_packed:
                yield from self._packed_one(source, streams)
            elif len(streams) > 1:
                for chunk in source.chunks():
                    if chunk.process:
                        told = streams[chunk.process].read(HASH_BYTES + _CHECKSUM_BYTES)
                        source.note(chunk, told[:HASH_BYTES], int.from_bytes(told[HASH_BYTES:], sys.byteorder))

    def _packed_one(self, source: _Source, streams: Sequence[BytesIO]) -> Iterator[bytes | memoryview]:
        found = list[tuple[int, bytes, Any]]()
        for chunk in source.chunks():
            size = source.entry.grid.chunk_bytes
            data = streams[chunk.process].read(size) if chunk.process else source.data(chunk)
            source.note(chunk, self._hash(data), zlib.crc32(data))
            found.append((chunk.number, source.header(chunk), data))
        for _, header, data in sorted(found, key=itemgetter(0)):
            yield header
            yield data

    def _put(self, pieces: Iterable[bytes | memoryview], at: int, told: Callable[[Any], Any] | None = None) -> int:
        """Writes pieces one behind the other, many at a time, and tells them; where they end."""
        buffer = bytearray()
        for piece in chain(pieces, [None]):
            if piece is not None:
                buffer += piece
            if buffer and (piece is None or len(buffer) > _PIECE_BYTES):
                write_at(self._descriptor, [buffer], at)
                at += len(buffer)
                if told is not None:
                    told(bytes(buffer))
                buffer.clear()
        return at


def _stacked(value: Any) -> Any:
    """What this process holds of an array; None of one that is on other processes."""
    if not isinstance(value, DTensor):
        return value
    return value.stacked if value.mesh.clients.is_here else None


def _local(stacked: Any, place: DevicePlace) -> Any:
    """What lies at a place; along mesh axes of size 1 in the stacked form all places are one."""
    return stacked[(*(min(at, size - 1) for at, size in zip(place, stacked.shape, strict=False)), ...)]
