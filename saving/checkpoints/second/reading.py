"""
Arrays of the second format: zarr 3 in folders, read by tensorstore.

What tensorstore opens is made of the manifest's numbers alone, and what it gives is compared with our own hashes, chunk
by chunk, before anybody has it.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any, cast

import numpy as np

from shardwright.diagnostics.telling import counted
from shardwright.frontends.functions.dtensor import DTensor
from shardwright.layout import Layout
from shardwright.layout.boxes import Box
from shardwright.saving.checkpoints.archive.chunks import HASH_BYTES, box_size, within
from shardwright.saving.checkpoints.archive.file import size_fault
from shardwright.saving.checkpoints.archive.hashes import HASHES
from shardwright.saving.checkpoints.boxes import NOWHERE, empty_stacked, holdings
from shardwright.saving.checkpoints.entries import ArrayEntry
from shardwright.saving.checkpoints.second.entries import ARRAYS, FileGrid, SecondEntry
from shardwright.saving.checkpoints.transfers import ArrayTransfer, Transfers
from shardwright.saving.faults import SavingError, storage_library

_NATIVE = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
}
"""The types that were stored as themselves; others have one byte each, and were stored as that."""

Table = np.ndarray[Any, Any]
"""Hashes in the grid of chunks: its shape, and then the bytes of one hash."""

_Job = tuple[tuple[int, ...], Box, np.ndarray[Any, Any] | None]
"""A file, the part of the array that is read from it, and where that goes, if anywhere."""

_MISSING_SHOWN, _OTHERS_SHOWN = 1000, 10
"""How many files that are missing, or of other names, a message lists."""

_ZARR = "zarr.json"
_ENDIAN = {"name": "bytes", "configuration": {"endian": "little"}}


class SecondReader:
    """The arrays in one folder. Raises `ImportError` (SW0877) when tensorstore is not installed."""

    def __init__(self, folder: Path, entries: Sequence[SecondEntry]) -> None:
        self.folder, self._entries = folder, entries
        self._library = storage_library()
        # A context of its own: nothing is remembered of another folder that was at this path before.
        self._context = self._library.Context({})

    def faults(self) -> list[str]:
        """What is wrong with files by name and size; nothing but `zarr.json` is opened."""
        fault = size_fault(self.folder / HASHES, max((entry.hashes_end for entry in self._entries), default=0))
        found = [f"{HASHES}: {fault}"] if fault else []
        return found + [fault for entry in self._entries for fault in self._file_faults(entry)]

    def rest_faults(self) -> list[str]:
        """Nothing: what others read, `zarr.json`, is among what `faults` compares."""
        return []

    def read(self, wanted: Sequence[tuple[ArrayEntry, Layout | None]], moved: Transfers) -> list[Any]:
        """Arrays in their layouts, or as NumPy arrays without one. Raises `ValueError` (SW0873) for damage."""
        each = counted("loading", wanted, lambda item: item[0].nbytes, "bytes")
        return [self._read(cast("SecondEntry", entry), layout, moved) for entry, layout in each]

    def damages(self) -> list[str]:
        """Which files do not hold what was written: all of them are read."""
        return [fault for entry in self._entries for fault in self._damages(entry)]

    def _read(self, entry: SecondEntry, layout: Layout | None, moved: Transfers) -> Any:
        """An array in a layout, on any mesh, or as a NumPy array without one; each box is read into its place."""
        placed = NOWHERE if layout is None else layout.for_rank(len(entry.shape))
        stacked = empty_stacked(entry.name, placed, entry.shape, entry.element)
        boxes = holdings(placed, entry.shape)
        parts, jobs = [part for part in boxes if part.here], list[_Job]()
        for holding in parts:
            first = stacked[(*holding.here[0], ...)]
            pieces = entry.grid.pieces(holding.box)
            jobs += [(index, piece, first[within(piece, holding.box)]) for index, piece in pieces]
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

    def _damages(self, entry: SecondEntry) -> list[str]:
        boxes = ((index, entry.grid.file_box(index)) for index in entry.grid.file_indices())
        return list(self._read_faults(entry, [(index, box, None) for index, box in boxes]))

    def _read_faults(self, entry: SecondEntry, jobs: Iterable[_Job]) -> Iterator[str]:
        """Reads parts of files into arrays, by way of whole chunks; what is wrong with the files, if anything is."""
        table = self._table(entry)
        if table is None:
            yield f"{HASHES}: what it has of {entry.folder} is not what was written"
            return
        handle = self._open(entry)
        for index, piece, target in jobs:
            whole = entry.grid.whole_chunks(piece)
            direct = target if whole == piece else None
            part = np.empty([stop - start for start, stop in whole], entry.element) if direct is None else direct
            name = f"{entry.folder}/{entry.grid.file_name(index)}"
            try:
                self._library.array(_as_stored(part)).write(handle[_slices(whole)]).result()
            except Exception as error:  # whatever a library says of a file: the file is not what was written
                yield f"{name}: {str(error).splitlines()[0]}"
                continue
            if target is not None and direct is None:
                target[...] = part[within(piece, whole)]
            wrong = _wrong_chunks(part, whole, entry.grid, table)
            if wrong:
                yield f"{name}: its checksums are right, but {wrong} of the chunks read are not those that were written"

    def _table(self, entry: SecondEntry) -> Table | None:
        """The hashes of an array's chunks, if they are those that the manifest has the hash of."""
        with (self.folder / HASHES).open("rb") as file:
            file.seek(entry.hashes_at)
            found = file.read(entry.grid.hash_bytes)
        if hashlib.sha256(found).hexdigest() != entry.hashes:
            return None
        return np.frombuffer(found, np.uint8).reshape(*entry.grid.counts, HASH_BYTES)

    def _open(self, entry: SecondEntry) -> Any:
        """The array in tensorstore; everything that it relies on comes from the entry."""
        spec = {
            "driver": "zarr3",
            "kvstore": {"driver": "file", "path": f"{self.folder.absolute() / entry.folder}/"},
            "metadata": _zarr_metadata(entry),
            "store_data_equal_to_fill_value": True,
            "fill_missing_data_reads": False,
        }
        return self._library.open(spec, open=True, assume_metadata=True, context=self._context).result()

    def _file_faults(self, entry: SecondEntry) -> list[str]:
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
        text = _zarr_text(entry)
        sizes = {entry.grid.file_name(index): entry.grid.file_bytes(index) for index in entry.grid.file_indices()}
        sizes[_ZARR] = len(text)
        wrong = [
            f"{entry.folder}/{name}: {fault}" for name in sizes if (fault := size_fault(folder / name, sizes[name]))
        ]
        if not wrong and (folder / _ZARR).read_bytes() != text:
            wrong = [f"{entry.folder}/{_ZARR}: its contents changed"]
        if present > expected:
            with os.scandir(folder) as found:
                others = sorted(islice((item.name for item in found if item.name not in sizes), _OTHERS_SHOWN))
            wrong += [f"{entry.folder}/{name}: nothing of that name was written" for name in others]
        return wrong


def strangers(folder: Path, count: int) -> list[str]:
    """What lies among the folders of so many arrays, and is none of them."""
    known = {str(number) for number in range(count)}
    return sorted(f"{ARRAYS}/{path.name}" for path in (folder / ARRAYS).iterdir() if path.name not in known)


def _zarr_text(entry: SecondEntry) -> bytes:
    """The `zarr.json` by which other zarr libraries find an array; it is never read here."""
    about = {"zarr_format": 3, "node_type": "array", **_zarr_metadata(entry)}
    return json.dumps({**about, "attributes": {"name": entry.name, "dtype": entry.dtype}}).encode()


def _zarr_metadata(entry: SecondEntry) -> dict[str, Any]:
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


def _wrong_chunks(part: np.ndarray[Any, Any], place: Box, grid: FileGrid, table: Table) -> int:
    """How many chunks of a part, which lies at a place that begins and ends where chunks do, have other hashes."""
    cuts = [
        [slice(start, start + extent) for start in range(0, size, extent)]
        for size, extent in zip(part.shape, grid.chunk, strict=True)
    ]
    found = b"".join(hashlib.sha256(part[(*cut, ...)].tobytes()).digest()[:HASH_BYTES] for cut in product(*cuts))
    hashes = np.frombuffer(found, np.uint8).reshape(*map(len, cuts), HASH_BYTES)
    return int((hashes != table[grid.chunk_slices(place)]).any(axis=-1).sum())


def _slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(start, stop) for start, stop in box)
