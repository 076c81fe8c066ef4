"""
A checkpoint's manifest: what is in it, line by line, and a hash over all of that.

The first line says what the file is, then comes one line of JSON for each array and each plain value, the last one has
the SHA-256 of everything before it. Names are data: the folder of an array is its number, so that no name ever
becomes a path. Everything is checked before it is used; how arrays are stored follows from these lines alone.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import numpy as np

from shardwright.dialects.types import element_dtype, element_type_named
from shardwright.saving.checkpoints.chunks import (
    MAX_CHUNK_BYTES,
    MAX_FILE_BYTES,
    MAX_FILE_CHUNKS,
    SMALL_CHUNK_BYTES,
    Grid,
)
from shardwright.saving.faults import SavingError

MANIFEST = "checkpoint.jsonl"
"""The manifest's name; a folder without one is not, or not yet, a checkpoint."""

ARRAYS = "arrays"
"""The folder in which each array has a folder."""

FORMAT = "shardwright checkpoint"
VERSION = 2
"""Version 1 had one checksum for an array, with which a part of it could not be compared."""

MAX_BYTES = 16 << 20
"""What a manifest may have; it is read whole."""

MAX_LINE_BYTES = 1 << 20
MAX_VALUES = 1 << 16

MAX_RANK = 32
"""The most dims that tensorstore stores."""

_ROOM_BYTES = 1 << 10
_MAX_ELEMENTS = 1 << 60

_MAX_BARE_BYTES = 1 << 13
"""What a line may have outside of its texts: lists of numbers are short, and JSON makes an object of every `[]`."""

_SHA256 = re.compile("[0-9a-f]{64}")

_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')

Plain = bool | int | float | complex | str | None


@dataclass(frozen=True, slots=True)
class ArrayEntry:
    """One array: its name, its number, which is its folder's name, its type, how it is cut, and its hashes."""

    name: str
    number: int
    dtype: str
    grid: Grid
    hashes: str
    """The SHA-256 of the table of its chunks' hashes."""

    hashes_at: int
    """Where that table begins in the file of all tables."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.grid.shape

    @property
    def nbytes(self) -> int:
        """The bytes of its elements."""
        return math.prod(self.shape) * self.grid.itemsize

    @property
    def element(self) -> np.dtype[Any]:
        """The element type, as NumPy and ml_dtypes have it."""
        return element_dtype(element_type_named(self.dtype))

    @property
    def hashes_end(self) -> int:
        """Where the table ends, and that of the next array begins."""
        return self.hashes_at + self.grid.hash_bytes

    @property
    def folder(self) -> str:
        """Where its files are, below the checkpoint's folder."""
        return f"{ARRAYS}/{self.number}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a checkpoint; `sequence` orders the checkpoints of a directory, `time` is in seconds since 1970."""

    arrays: dict[str, ArrayEntry]
    values: dict[str, Plain]
    sequence: int = 0
    time: float = 0.0

    def to_bytes(self) -> bytes:
        body = b"".join(map(_line, self._items()))
        return body + _line({"sha256": hashlib.sha256(body).hexdigest()})

    def fault(self) -> str | None:
        """Why this could not be read again: there is a limit to what a manifest may hold."""
        sizes = [len(_line(item)) for item in self._items()]
        if max(sizes) > MAX_LINE_BYTES:
            return f"a name or a text needs more than {MAX_LINE_BYTES} bytes"
        if sum(sizes) > MAX_BYTES - _ROOM_BYTES or len(self.values) > MAX_VALUES:
            return f"the names, shapes and values need more than {MAX_BYTES} bytes, or are more than {MAX_VALUES}"
        return None

    def _items(self) -> Iterator[dict[str, Any]]:
        yield {"format": FORMAT, "version": VERSION, "sequence": self.sequence, "time": self.time.hex()}
        for entry in self.arrays.values():
            grid = entry.grid
            cut = {"shape": grid.shape, "file": grid.file, "chunk": grid.chunk}
            yield {"name": entry.name, "dtype": entry.dtype, **cut, "hashes": entry.hashes}
        for name, value in self.values.items():
            yield {"name": name, **_written(value)}


def read_manifest(folder: Path) -> Manifest:
    """
    The manifest of a checkpoint; `ValueError` for a folder without one (SW0872), one whose bytes changed (SW0873), and
    one whose hash is right but whose contents are not what is written here (SW0874).
    """
    path = folder / MANIFEST
    if os.path.islink(path) or not os.path.isfile(path):
        raise _not_a_checkpoint(folder)
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise _Senseless(f"has {size} bytes; at most {MAX_BYTES} are read")
        return _parsed(path.read_bytes(), path)
    except _Senseless as fault:
        raise SavingError("SW0874", f"{path} {fault}") from None


def read_head(folder: Path) -> tuple[int, float] | None:
    """The sequence and time of a checkpoint, from the first line alone; None if that says nothing of the kind."""
    path = folder / MANIFEST
    if not os.path.isfile(path):
        return None
    try:
        with path.open("rb") as file:
            return _order(_object(file.readline(MAX_LINE_BYTES)))
    except (OSError, _Senseless):
        return None


class _Senseless(Exception):
    """What makes no sense in a manifest whose hash is right."""


def _not_a_checkpoint(folder: Path) -> SavingError:
    there = "is no checkpoint: it has no manifest" if os.path.isdir(folder) else "does not exist"
    if os.path.isfile(folder):
        there = "is no checkpoint: it is a file"
    return SavingError("SW0872", f"{os.fspath(folder)!r} {there}")


def _array_folders(folder: Path) -> int:
    """How many folders of arrays there are; a link to some is none."""
    if os.path.islink(folder / ARRAYS):
        return 0
    try:
        with os.scandir(folder / ARRAYS) as found:
            return sum(1 for _ in found)
    except OSError:
        return 0


def _parsed(data: bytes, path: Path) -> Manifest:
    """The manifest in these bytes; what it says is kept only as far as there are folders for its arrays."""
    folders = _array_folders(path.parent)
    end = data.rfind(b"\n", 0, -1) + 1
    body = memoryview(data)[:end]
    if data[end:] != _line({"sha256": hashlib.sha256(body).hexdigest()}):
        raise SavingError("SW0873", f"the hash of {path} is not that of its contents")
    if data.count(b"\n") > folders + MAX_VALUES + 2:
        raise _Senseless(f"has more lines than for {folders} arrays and {MAX_VALUES} values")
    lines = BytesIO(body)
    head = _object(lines.readline())
    if head.get("format") != FORMAT:
        raise _Senseless(f"does not begin with {FORMAT!r}")
    version = head.get("version")
    if version != VERSION:
        raise SavingError("SW0881", f"{path} is of version {version!r}; this is read: {VERSION}")
    arrays: dict[str, ArrayEntry] = {}
    values: dict[str, Plain] = {}
    hashes_at = 0
    for line in lines:
        item = _object(line)
        name = item.pop("name", None)
        if not isinstance(name, str) or name in arrays or name in values:
            raise _Senseless(f"names {name!r}, which is no name, or there twice")
        if len(arrays) > folders:
            break
        if "dtype" in item:
            arrays[name] = _entry(name, len(arrays), item, hashes_at)
            hashes_at = arrays[name].hashes_end
        else:
            values[name] = _read(item)
    if len(arrays) != folders:
        fault = _folder_fault(path.parent / ARRAYS, len(arrays))
        raise SavingError("SW0873", f"{path} does not list what is there", fault)
    return Manifest(arrays, values, *_order(head))


def _order(head: dict[str, Any]) -> tuple[int, float]:
    """The sequence and the time in the first line."""
    return _natural(head.get("sequence")), _float(head.get("time"))


def _folder_fault(folder: Path, arrays: int) -> str:
    """Which folders of arrays are missing, or too many; so far some are."""
    present = set(os.listdir(folder)) if folder.is_dir() and not folder.is_symlink() else set[str]()
    missing = [str(number) for number in range(min(arrays, len(present) + 1)) if str(number) not in present]
    if missing:
        return f"{ARRAYS}/{missing[0]} is missing"
    other = min(present - set(map(str, range(arrays))))
    return f"{ARRAYS}/{other}: nothing of that name was written"


def _line(item: dict[str, Any]) -> bytes:
    return json.dumps(item, separators=(",", ":")).encode() + b"\n"


def _object(line: bytes) -> dict[str, Any]:
    fits = len(line) <= _MAX_BARE_BYTES
    if not fits and len(line) <= MAX_LINE_BYTES:
        fits = len(_TEXT.sub(b"", line)) <= _MAX_BARE_BYTES
    try:
        found = json.loads(line) if fits else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _Senseless("has a line that is no JSON object, or too long")
    return cast("dict[str, Any]", found)


def _entry(name: str, number: int, item: dict[str, Any], hashes_at: int) -> ArrayEntry:
    """An array's line, with everything that storage relies on checked."""
    try:
        itemsize = element_dtype(element_type_named(item["dtype"])).itemsize
    except (TypeError, AttributeError):
        raise _Senseless(f"gives {name!r} the element type {item['dtype']!r}") from None
    shape, file, chunk = (_extents(item.get(key)) for key in ("shape", "file", "chunk"))
    grid = Grid(shape, file, chunk, itemsize)
    if not _is_grid(grid):
        raise _Senseless(f"cuts {name!r}, of shape {list(shape)[:MAX_RANK]}, in a way that no checkpoint does")
    hashes = item.get("hashes")
    if not isinstance(hashes, str) or not _SHA256.fullmatch(hashes):
        raise _Senseless(f"gives {name!r} a hash that is none")
    return ArrayEntry(name, number, item["dtype"], grid, hashes, hashes_at)


def _is_grid(grid: Grid) -> bool:
    """Whether files are whole numbers of chunks, and neither is larger than what is written."""
    if not len(grid.shape) == len(grid.file) == len(grid.chunk) <= MAX_RANK or math.prod(grid.shape) > _MAX_ELEMENTS:
        return False
    if any(size < 1 for size in grid.chunk) or any(a < b or a % b for a, b in zip(grid.file, grid.chunk, strict=True)):
        return False
    if grid.file_chunks > 1 and grid.chunk_bytes < SMALL_CHUNK_BYTES:  # whose hashes would be larger than the array
        return False
    small = grid.chunk_bytes <= MAX_CHUNK_BYTES and math.prod(grid.file) * grid.itemsize <= MAX_FILE_BYTES
    return small and grid.file_chunks <= MAX_FILE_CHUNKS


def _extents(given: Any) -> tuple[int, ...]:
    if not isinstance(given, list) or len(cast("list[Any]", given)) > MAX_RANK:
        raise _Senseless("has a shape that is no list of whole numbers")
    return tuple(_natural(size) for size in cast("list[Any]", given))


def _natural(given: Any) -> int:
    if type(given) is not int or not 0 <= given <= _MAX_ELEMENTS:
        raise _Senseless("has a number that is out of its range")
    return given


def _float(given: Any) -> float:
    try:
        return float.fromhex(given)
    except (TypeError, ValueError, OverflowError):
        raise _Senseless("has a number that is none") from None


_INTEGER = re.compile(r"-?0x[0-9a-f]+")


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(text)
    return int(text, 16)


def _complex(text: str) -> complex:
    real, imaginary = text.split(" ")
    return complex(float.fromhex(real), float.fromhex(imaginary))


_FORMS: dict[str, tuple[Callable[[Any], str], Callable[[str], Plain]]] = {
    "bool": (str, {"True": True, "False": False}.__getitem__),
    "int": (hex, _integer),  # decimal text of long numbers takes quadratic time, and is refused by Python
    "float": (float.hex, float.fromhex),
    "complex": (lambda value: f"{value.real.hex()} {value.imag.hex()}", _complex),
    "str": (str, str),
    "NoneType": (lambda value: "", {"": None}.__getitem__),
}
"""Plain values, by their types, as texts that give exactly these values again, and back."""


def _written(value: Plain) -> dict[str, str]:
    kind = type(value).__name__
    return {kind: _FORMS[kind][0](value)}


def _read(item: dict[str, Any]) -> Plain:
    try:
        ((kind, text),) = item.items()
        if isinstance(text, str):
            return _FORMS[kind][1](text)
    except (KeyError, ValueError, OverflowError):
        pass
    raise _Senseless("has a value that is none of those that are written")
