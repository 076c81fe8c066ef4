"""
Arrays in a folder: written box by box by the devices that hold them, read box by box by those that want them.

The storage is zarr 3 (sharded, with a CRC-32C for each chunk and each index) by way of tensorstore. What tensorstore
opens is made of the manifest's numbers alone: the files that other zarr libraries need are written, and never read.
What it gives is compared with our own hashes, chunk by chunk, before anybody has it.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from shardwright.compiler.tracing.reference import held
from shardwright.diagnostics.telling import counted
from shardwright.dialects.types import dtype_element, native_array
from shardwright.frontends.functions.dtensor import DTensor
from shardwright.layout import Layout, Mesh
from shardwright.layout.boxes import Box
from shardwright.saving.checkpoints.boxes import Holding, Place, holdings, stacked_shape
from shardwright.saving.checkpoints.chunks import MAX_CHUNK_BYTES, Grid, box_size, choose_grid
from shardwright.saving.checkpoints.hashes import HASHES, Table, chunk_hashes, empty_table, table_hash, wrong_chunks
from shardwright.saving.checkpoints.manifest import ARRAYS, MANIFEST, MAX_RANK, ArrayEntry, Manifest, Plain
from shardwright.saving.faults import MissingPackageError, SavingError
from shardwright.saving.team import Team
from shardwright.serialization.files.atomic_folder import sync_files

_NATIVE = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
}
"""The types that zarr has itself; others have one byte each, and are stored as that."""

Index = tuple[int, ...]
"""The place of a file in an array's grid of files."""

_Job = tuple[Index, Box, np.ndarray[Any, Any] | None]
"""A file, the part of the array that is read from it, and where that goes, if anywhere."""

_NOWHERE = Layout([], Mesh())
"""The layout of an array that is not distributed."""

_IN_FLIGHT = 2
"""How many files are written, and their chunks hashed, at a time."""

_COMPARED, _WORTH_A_THREAD = 2, 1 << 18
"""How many pieces are compared with their hashes beside reading the next one, and from how many bytes on."""

_ANY_HASH = table_hash(b"")
"""An entry has room for its hash before it is written."""

_MISSING_SHOWN, _OTHERS_SHOWN = 1000, 10
"""How many files that are missing, or of other names, a message lists."""

_ZARR = "zarr.json"
_ENDIAN = {"name": "bytes", "configuration": {"endian": "little"}}


@dataclass(frozen=True)
class ArrayTransfer:
    """
    What this process moved of one array: `count` boxes of `box_bytes`, or some files of each of them.

    `stored_bytes` is what storage moved for them, `hash_bytes` are the hashes of the array's chunks.
    """

    name: str
    count: int
    box_bytes: int
    stored_bytes: int
    hash_bytes: int


@dataclass
class Transfers:
    """What was written or read, array by array; `by_device` has what each device wrote."""

    rows: list[ArrayTransfer] = field(default_factory=list[ArrayTransfer])
    by_device: Counter[int] = field(default_factory=Counter[int])

    @property
    def box_bytes(self) -> int:
        return sum(row.count * row.box_bytes for row in self.rows)

    @property
    def stored_bytes(self) -> int:
        """The bytes that were written or read for them, with checksums, indices and hashes."""
        return sum(row.stored_bytes + row.hash_bytes for row in self.rows)


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

    Of a team each process writes, and flushes, files of what it holds, the first one arrays that are not distributed,
    and everything else. The first one flushes nothing, and the folder is not moved: `AtomicFolder` does both. Raises
    `ValueError`: SW0875 for what cannot be stored, before anything is written, SW0902 for a team that disagrees on it.
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
    store = ArrayStore(folder)
    if team.is_first:
        store.make(manifest)
    team.vote()
    moved = Transfers()
    place, tables = team.clients.place, list[bytes]()
    for name, value in counted("saving", kept.items(), lambda item: manifest.arrays[item[0]].nbytes, "bytes"):
        tables += store.write(manifest.arrays[name], value, moved, place)
    if not team.is_first:
        sync_files(store.written)
    layouts = {name: _layout(value) for name, value in kept.items()}
    team.vote(b"".join(tables), partial(store.conclude, manifest, layouts))
    return moved


def _planned(arrays: Mapping[str, Any], others: Manifest) -> Manifest:
    """The manifest of some arrays, with hashes to come, and of other things."""
    entries: dict[str, ArrayEntry] = {}
    hashes_at = 0
    for number, (name, value) in enumerate(arrays.items()):
        entries[name] = ArrayEntry(name, number, value.dtype.name, _grid(value), _ANY_HASH, hashes_at)
        hashes_at = entries[name].hashes_end
    manifest = replace(others, arrays=entries)
    fault = manifest.fault()
    if fault is not None:
        raise SavingError("SW0875", fault)
    return manifest


def _described(arrays: Mapping[str, Any], manifest: Manifest) -> str:
    """What all processes of a job save alike; of numbers and texts each may have its own."""
    texts = [f"{name} {value.dtype.name}{list(value.shape)} {_layout(value)}" for name, value in arrays.items()]
    return f"{len(texts)} arrays and {len(manifest.values)} values: " + "; ".join([*texts, *manifest.values])


def _fault(value: Any) -> str | None:
    try:
        dtype_element(value.dtype)
    except TypeError:
        return f"{value.dtype} is no element type of arrays"
    if len(value.shape) > MAX_RANK:
        return f"it has {len(value.shape)} dims; {MAX_RANK} can be stored"
    if isinstance(value, DTensor) and value.layout.spec.partial:
        return f"its layout {value.layout} has partial results; shardwright.relayout finishes them"
    if isinstance(value, DTensor) and value.layout.splits_unevenly(value.shape):
        return (
            f"its layout {value.layout} splits {list(value.shape)} unevenly; shardwright.relayout to one that divides"
        )
    if _grid(value).chunk_bytes > MAX_CHUNK_BYTES:
        return f"a dim of {list(value.shape)} can be cut into no parts small enough; pad it"
    return None


def _grid(value: Any) -> Grid:
    layout = _layout(value)
    parts = tuple(layout.mesh.group_size(axes) for axes in layout.spec.dims)
    return choose_grid(value.shape, parts, value.dtype.itemsize)


def _layout(value: Any) -> Layout:
    return value.layout if isinstance(value, DTensor) else _NOWHERE.for_rank(len(value.shape))


def read_arrays(
    folder: Path,
    manifest: Manifest,
    wanted: Sequence[tuple[ArrayEntry, Layout | None]],
    moved: Transfers,
    code: str,
    message: str,
) -> list[Any]:
    """
    Arrays in their layouts, or as NumPy arrays without one.

    Before memory is taken, all files are there and have the sizes that they must have, and all layouts fit; with other
    files, `SavingError` has this code and message.
    """
    if not wanted:
        return []
    store = ArrayStore(folder)
    faults = store.hashes_faults(manifest.arrays.values())
    faults += [fault for entry, layout in wanted for fault in store.faults(entry, layout)]
    if faults:
        raise SavingError(code, message, *faults)
    for entry, layout in wanted:
        if layout is not None:
            layout.local_shape(entry.shape)
    entries = counted("loading", wanted, lambda item: item[0].nbytes, "bytes")
    return [store.read(entry, layout, moved) for entry, layout in entries]


def storage_library() -> Any:
    """The module tensorstore. Raises `ImportError` (SW0877) when it is not installed."""
    try:
        return import_module("tensorstore")
    except ImportError:
        raise MissingPackageError("SW0877", "checkpoints need tensorstore") from None


class ArrayStore:
    """The arrays in one folder. Raises `ImportError` (SW0877) when tensorstore is not installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._library = storage_library()
        # A context of its own: nothing is remembered of another folder that was at this path before.
        self._context = self._library.Context({"file_io_sync": False})
        self._pool = ThreadPoolExecutor(_COMPARED)
        self.written: list[Path] = []

    def make(self, manifest: Manifest) -> None:
        """Makes the folders of all arrays, and what other zarr libraries need."""
        (self.folder / ARRAYS).mkdir()
        for entry in manifest.arrays.values():
            (self.folder / entry.folder).mkdir()
            (self.folder / entry.folder / _ZARR).write_bytes(zarr_text(entry))

    def write(self, entry: ArrayEntry, value: Any, moved: Transfers, process: int = 0) -> list[bytes]:
        """
        Write the files of an array whose turn it is for a process to write; the hashes of the chunks of each.

        What was moved is added to `moved`, the files to `written`.
        """
        handle = self._open(entry)
        parts = holdings(_layout(value), entry.shape)
        stacked = value if not isinstance(value, DTensor) else value.stacked if value.mesh.clients.is_here else None
        tables, stored, wrote = list[bytes](), 0, set[Box]()
        writing: deque[tuple[Any, Future[Table]]] = deque()
        try:
            for holding, index, piece, device in _turns(entry, parts):
                if holding.process(device) != process:
                    continue
                part = _contiguous(_local(stacked, holding.here[0])[_within(piece, holding.box)])
                hashing = self._pool.submit(chunk_hashes, part, entry.grid)
                writing.append((handle[_slices(piece)].write(_as_stored(part)), hashing))
                self.written.append(self.folder / entry.folder / entry.grid.file_name(index))
                stored += entry.grid.file_bytes(index)
                wrote.add(holding.box)
                moved.by_device[device] += part.nbytes
                if len(writing) == _IN_FLIGHT:
                    tables.append(_finish(*writing.popleft(), entry.name))
            while writing:
                tables.append(_finish(*writing.popleft(), entry.name))
        finally:
            _settle(future for future, _ in writing)
        box_bytes, hash_bytes = box_size(parts[0].box) * entry.grid.itemsize, entry.grid.hash_bytes
        moved.rows.append(ArrayTransfer(entry.name, len(wrote), box_bytes, stored, hash_bytes if process == 0 else 0))
        return tables

    def conclude(self, manifest: Manifest, layouts: Mapping[str, Layout], hashed: Sequence[bytes]) -> bytes:
        """Write the tables of all arrays, of what each process hashed, and the manifest, which comes last."""
        streams, entries = [BytesIO(data) for data in hashed], dict(manifest.arrays)
        with (self.folder / HASHES).open("wb") as file:
            for name, entry in entries.items():
                table = empty_table(entry.grid)
                for holding, _, piece, device in _turns(entry, holdings(layouts[name], entry.shape)):
                    part = table[entry.grid.chunk_slices(piece)]
                    found = streams[holding.process(device)].read(part.nbytes)
                    part[...] = np.frombuffer(found, np.uint8).reshape(part.shape)
                file.write(table.tobytes())
                entries[name] = replace(entry, hashes=table_hash(table.tobytes()))
        (self.folder / MANIFEST).write_bytes(replace(manifest, arrays=entries).to_bytes())
        return b""

    def read(self, entry: ArrayEntry, layout: Layout | None, moved: Transfers) -> Any:
        """
        An array in a layout, on any mesh, or as a NumPy array without one; each box is read into its place.

        Raises `ValueError` (SW0873) when what storage has is not what was written.
        """
        placed = (_NOWHERE if layout is None else layout).for_rank(len(entry.shape))
        shape = stacked_shape(placed, entry.shape)
        try:
            stacked = np.empty(shape, entry.element)
        except MemoryError as error:
            raise SavingError("SW0879", f"{entry.name!r}: there is no memory for {list(shape)}") from error
        boxes = holdings(placed, entry.shape)
        parts, jobs = [part for part in boxes if part.here], list[_Job]()
        for holding in parts:
            first = stacked[(*holding.here[0], ...)]
            pieces = entry.grid.pieces(holding.box)
            jobs += [(index, piece, first[_within(piece, holding.box)]) for index, piece in pieces]
        fault = next(self._read_faults(entry, jobs), None)
        if fault is not None:
            raise SavingError("SW0873", f"{entry.name!r} in {self.folder} is damaged", fault)
        for holding in parts:
            first, *others = holding.here
            for place in others:
                stacked[place] = stacked[first]
        stored = sum(entry.grid.read_bytes(piece) for _, piece, _ in jobs)
        box_bytes = box_size(boxes[0].box) * entry.grid.itemsize
        moved.rows.append(ArrayTransfer(entry.name, len(parts), box_bytes, stored, entry.grid.hash_bytes))
        return stacked if layout is None else DTensor(stacked, placed, entry.shape)

    def damages(self, entry: ArrayEntry) -> list[str]:
        """Which files of an array do not hold what was written: all of them are read."""
        boxes = ((index, entry.grid.file_box(index)) for index in entry.grid.file_indices())
        return list(self._read_faults(entry, [(index, box, None) for index, box in boxes]))

    def _read_faults(self, entry: ArrayEntry, jobs: Iterable[_Job]) -> Iterator[str]:
        """
        Reads parts of files into arrays, by way of whole chunks; what is wrong with the files, if anything is.

        One is read while those before it are compared: two reads of one file at a time would share its index, and what
        is read could not be foretold.
        """
        table = self._table(entry)
        if table is None:
            yield f"{HASHES}: what it has of {entry.folder} is not what was written"
            return
        handle = self._open(entry)
        comparing: deque[Future[str | None]] = deque()
        for index, piece, target in jobs:
            whole = entry.grid.whole_chunks(piece)
            direct = target if whole == piece else None
            part = np.empty([stop - start for start, stop in whole], entry.element) if direct is None else direct
            try:
                self._library.array(_as_stored(part)).write(handle[_slices(whole)]).result()
            except Exception as error:  # whatever a library says of a file: the file is not what was written
                yield f"{entry.folder}/{entry.grid.file_name(index)}: {str(error).splitlines()[0]}"
                continue
            if target is not None and direct is None:
                target[...] = part[_within(piece, whole)]
            if part.nbytes < _WORTH_A_THREAD:
                yield from filter(None, [_compared(entry, index, part, whole, table)])
                continue
            comparing.append(self._pool.submit(_compared, entry, index, part, whole, table))
            if len(comparing) > _COMPARED:
                yield from filter(None, [comparing.popleft().result()])
        yield from filter(None, (fault.result() for fault in comparing))

    def _table(self, entry: ArrayEntry) -> Table | None:
        """The hashes of an array's chunks, if they are those that the manifest has the hash of."""
        with (self.folder / HASHES).open("rb") as file:
            file.seek(entry.hashes_at)
            found = file.read(entry.grid.hash_bytes)
        if table_hash(found) != entry.hashes:
            return None
        return np.frombuffer(found, np.uint8).reshape(empty_table(entry.grid).shape)

    def _open(self, entry: ArrayEntry) -> Any:
        """The array in tensorstore; everything that it relies on comes from the entry."""
        spec = {
            "driver": "zarr3",
            "kvstore": {"driver": "file", "path": f"{self.folder.absolute() / entry.folder}/"},
            "metadata": _zarr_metadata(entry),
            "store_data_equal_to_fill_value": True,
            "fill_missing_data_reads": False,
        }
        return self._library.open(spec, open=True, assume_metadata=True, context=self._context).result()

    def hashes_faults(self, entries: Iterable[ArrayEntry]) -> list[str]:
        """What is wrong with the size of the file of hashes, which has those of all arrays and no more."""
        fault = _size_fault(self.folder / HASHES, max((entry.hashes_end for entry in entries), default=0))
        return [f"{HASHES}: {fault}"] if fault else []

    def faults(self, entry: ArrayEntry, layout: Layout | None = None) -> list[str]:
        """
        What is wrong with an array's files by name and size; nothing but `zarr.json` is opened.

        Of a mesh over several processes the first one looks at all files, the others at those that they will read.
        """
        if layout is not None and layout.mesh.clients.everyone.place > 0:
            return self._part_faults(entry, layout)
        folder, expected = self.folder / entry.folder, entry.grid.file_count + 1
        try:
            if not stat.S_ISDIR(folder.lstat().st_mode):
                return [f"{entry.folder} is no folder"]
            with os.scandir(folder) as found:
                present = sum(1 for _ in found)
        except OSError:
            return [f"{entry.folder} is missing"]
        if present < expected - _MISSING_SHOWN:
            return [f"{entry.folder} has {present} files instead of {expected}"]
        sizes = {entry.grid.file_name(index): entry.grid.file_bytes(index) for index in entry.grid.file_indices()}
        sizes[_ZARR] = len(zarr_text(entry))
        wrong = [
            f"{entry.folder}/{name}: {fault}" for name in sizes if (fault := _size_fault(folder / name, sizes[name]))
        ]
        if not wrong and (folder / _ZARR).read_bytes() != zarr_text(entry):
            wrong = [f"{entry.folder}/{_ZARR}: its contents changed"]
        if present > expected:
            with os.scandir(folder) as found:
                others = sorted(islice((item.name for item in found if item.name not in sizes), _OTHERS_SHOWN))
            wrong += [f"{entry.folder}/{name}: nothing of that name was written" for name in others]
        return wrong

    def _part_faults(self, entry: ArrayEntry, layout: Layout) -> list[str]:
        """What is wrong with the files that hold a part of what this process holds in a layout."""
        boxes = [part.box for part in holdings(layout, entry.shape) if part.here]
        due = dict.fromkeys(index for box in boxes for index, _ in entry.grid.pieces(box))
        sizes = {f"{entry.folder}/{entry.grid.file_name(index)}": entry.grid.file_bytes(index) for index in due}
        return [f"{name}: {fault}" for name in sizes if (fault := _size_fault(self.folder / name, sizes[name]))]


def _size_fault(path: Path, size: int) -> str | None:
    """What is wrong with a file's kind or size; links are not followed."""
    try:
        found = path.lstat()
    except OSError:
        return "it is missing"
    if not stat.S_ISREG(found.st_mode):
        return "it is no file"
    return None if found.st_size == size else f"it has {found.st_size} bytes instead of {size}"


def zarr_text(entry: ArrayEntry) -> bytes:
    """The `zarr.json` by which other zarr libraries find an array; it is never read here."""
    about = {"zarr_format": 3, "node_type": "array", **_zarr_metadata(entry)}
    return json.dumps({**about, "attributes": {"name": entry.name, "dtype": entry.dtype}}).encode()


def _zarr_metadata(entry: ArrayEntry) -> dict[str, Any]:
    """How an array is stored, as zarr says it."""
    kind = _stored_type(entry.element).name
    zero: Any = False if kind == "bool" else [0.0, 0.0] if kind.startswith("complex") else 0
    inner = {
        "chunk_shape": entry.grid.chunk,
        "codecs": [_ENDIAN, {"name": "crc32c"}],
        "index_codecs": [_ENDIAN, {"name": "crc32c"}],
        "index_location": "end",
    }
    return {
        "shape": entry.shape,
        "data_type": kind,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": entry.grid.file}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "fill_value": zero,
        "codecs": [{"name": "sharding_indexed", "configuration": inner}],
    }


def _stored_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.name in _NATIVE else np.dtype("uint8")


def _as_stored(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same memory in the type that is stored."""
    return array.view(_stored_type(array.dtype))


def _finish(written: Any, hashed: Future[Table], name: str) -> bytes:
    """
    The hashes of a part, once it was written.

    What storage says of the disk, that it is full for instance, is an `OSError`.
    """
    try:
        written.result()
    except Exception as error:  # tensorstore's ValueError, with a text of several paths
        code = re.search(r"os_error_code='(\d+)'", str(error))
        if code is None:
            raise OSError(f"{error}, while {name!r} was written") from error
        raise OSError(int(code[1]), os.strerror(int(code[1]))) from error
    return hashed.result().tobytes()


def _settle(writing: Iterable[Any]) -> None:
    """
    Waits for what is still being written when a save fails.

    The folder is closed then, and its way in may lead to another one: nothing may go there late.
    """
    for future in writing:
        with suppress(Exception):
            future.result()


def _turns(entry: ArrayEntry, parts: Iterable[Holding]) -> Iterator[tuple[Holding, Index, Box, int]]:
    """The files of an array, row-major in each box, and for each the device that writes it: holders take turns."""
    turn = entry.number
    for holding in parts:
        for index, piece in entry.grid.pieces(holding.box):
            turn += 1
            yield holding, index, piece, holding.owner(turn)


def _compared(entry: ArrayEntry, index: Index, part: Any, whole: Box, table: Table) -> str | None:
    """What is wrong with chunks that were read from a file, if they are not those that were written."""
    wrong, name = wrong_chunks(part, whole, entry.grid, table), f"{entry.folder}/{entry.grid.file_name(index)}"
    said = f"{name}: its checksums are right, but {wrong} of the chunks read are not those that were written"
    return said if wrong else None


def _local(stacked: Any, place: Place) -> Any:
    """What lies at a place; along mesh axes of size 1 in the stacked form all places are one."""
    return stacked[(*(min(at, size - 1) for at, size in zip(place, stacked.shape, strict=False)), ...)]


def _within(piece: Box, box: Box) -> tuple[Any, ...]:
    """Where a piece lies within a box; the dots make it a view of arrays without dims, too."""
    return (*(slice(start - low, stop - low) for (start, stop), (low, _) in zip(piece, box, strict=True)), ...)


def _slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(start, stop) for start, stop in box)


def _contiguous(array: Any) -> np.ndarray[Any, Any]:
    """The array, or a copy of it, in one piece of memory; `ascontiguousarray` would give a number a dim."""
    return np.require(array, requirements="C")
