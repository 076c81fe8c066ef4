"""
A checkpoint's manifest: what is in it, line by line, and a hash over all of that.

The first line says what the file is and seals the archive, then comes one line of JSON for each array and each plain
value, the last one has the SHA-256 of everything before it. Names are data: no name ever becomes a path. Everything is
checked before it is used; where arrays lie in the archive follows from these lines alone.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, cast

from shardwright.saving.checkpoints.archive.chunks import MAX_CHUNK_BYTES, Grid, Shape
from shardwright.saving.checkpoints.archive.file import size_fault
from shardwright.saving.checkpoints.archive.places import ARCHIVE, LEAST_BYTES
from shardwright.saving.checkpoints.entries import ArrayEntry, dtype_named
from shardwright.saving.checkpoints.second.entries import ARRAYS, FileGrid, SecondEntry, is_file_grid
from shardwright.saving.faults import SavingError

MANIFEST = "checkpoint.jsonl"
"""The manifest's name; a folder without one is not, or not yet, a checkpoint."""

FORMAT = "shardwright checkpoint"
VERSION = 3
"""
Version 1 had one checksum for an array, with which a part of it could not be compared; it is refused. Version 2 had a
folder for each array; it is read.
"""

SECOND = 2

MAX_BYTES = 16 << 20
"""What a manifest may have; it is read whole."""

MAX_LINE_BYTES = 1 << 20
MAX_VALUES = 1 << 16

MAX_RANK = 32
"""The most dims that tensorstore, and so others who shall read it, can have."""

_ROOM_BYTES = 1 << 10
_MAX_ELEMENTS = 1 << 60

_MAX_BARE_BYTES = 1 << 13
"""What a line may have outside of its texts: lists of numbers are short, and JSON makes an object of every `[]`."""

_SHA256 = re.compile("[0-9a-f]{64}")

_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')

_ENCODER = json.JSONEncoder(separators=(",", ":"))

Plain = bool | int | float | complex | str | None


@dataclass(frozen=True, slots=True)
class Seal:
    """The archive's bytes, and the hashes (BLAKE3) of its directory and of the file with the hashes of its chunks."""

    size: int
    directory: str
    hashes: str


_OPEN = Seal(0, "0" * 64, "0" * 64)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a checkpoint; `sequence` orders the checkpoints of a directory, `time` is in seconds since 1970."""

    arrays: Mapping[str, ArrayEntry]
    values: dict[str, Plain]
    sequence: int = 0
    time: float = 0.0
    seal: Seal = _OPEN
    version: int = VERSION
    digest: bytes = field(default=b"", compare=False)
    """The SHA-256 of the file from which this was read."""

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
        about = {"format": FORMAT, "version": VERSION, "sequence": self.sequence, "time": self.time.hex()}
        yield {**about, "size": self.seal.size, "directory": self.seal.directory, "hashes": self.seal.hashes}
        for entry in self.arrays.values():
            yield {"name": entry.name, "dtype": entry.dtype, "shape": entry.grid.shape, "chunk": entry.grid.chunk}
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


def _parsed(data: bytes, path: Path) -> Manifest:
    """The manifest in these bytes; what it says is kept only as far as there is room for its arrays."""
    end = data.rfind(b"\n", 0, -1) + 1
    body = memoryview(data)[:end]
    if data[end:] != _line({"sha256": hashlib.sha256(body).hexdigest()}):
        raise SavingError("SW0873", f"the hash of {path} is not that of its contents")
    lines = BytesIO(body)
    head = _object(lines.readline())
    if head.get("format") != FORMAT:
        raise _Senseless(f"does not begin with {FORMAT!r}")
    version = head.get("version")
    if version not in (SECOND, VERSION):
        raise SavingError("SW0881", f"{path} is of version {version!r}; these are read: {SECOND}, {VERSION}")
    second = version == SECOND
    room, what = (_folders(path.parent), "folders") if second else (_archive_room(path.parent), "bytes in the archive")
    if data.count(b"\n") > room + MAX_VALUES + 2:
        raise _Senseless(f"has more lines than for {MAX_VALUES} values and as many arrays as there are {what} for")
    arrays, values = _items(lines, _second_entry if second else _entry, room)
    if second and len(arrays) != room:
        fault = _folder_fault(path.parent / ARRAYS, len(arrays))
        raise SavingError("SW0873", f"{path} does not list what is there", fault)
    seal = _OPEN if second else _seal(head)
    if not second and len(arrays) > room:
        fault = size_fault(path.with_name(ARCHIVE), seal.size) or "it has no room for its arrays"
        raise SavingError("SW0873", f"{path} lists what is not there", f"{ARCHIVE}: {fault}")
    return Manifest(arrays, values, *_order(head), seal, version, hashlib.sha256(data).digest())


def _items(
    lines: BytesIO, entry: Callable[[str, dict[str, Any], ArrayEntry | None], ArrayEntry], room: int
) -> tuple[dict[str, ArrayEntry], dict[str, Plain]]:
    """The arrays and the values in some lines; not many more arrays than there is room for."""
    arrays: dict[str, ArrayEntry] = {}
    values: dict[str, Plain] = {}
    last: ArrayEntry | None = None
    for line in lines:
        item = _object(line)
        name = item.pop("name", None)
        if not isinstance(name, str) or name in arrays or name in values:
            raise _Senseless(f"names {name!r}, which is no name, or there twice")
        if len(arrays) > room:
            break
        if "dtype" in item:
            arrays[name] = last = entry(name, item, last)
        else:
            values[name] = _read(item)
    return arrays, values


def _archive_room(folder: Path) -> int:
    """How many arrays the archive can have."""
    try:
        return os.lstat(folder / ARCHIVE).st_size // LEAST_BYTES
    except OSError:
        return 0


def _seal(head: dict[str, Any]) -> Seal:
    directory, hashes = head.get("directory"), head.get("hashes")
    return Seal(_natural(head.get("size")), _hash(directory, "its directory"), _hash(hashes, "its chunks"))


def _hash(given: Any, what: str) -> str:
    if not isinstance(given, str) or not _SHA256.fullmatch(given):
        raise _Senseless(f"gives {what} a hash that is none")
    return given


def _folders(folder: Path) -> int:
    """How many folders of arrays there are; a link to some is none."""
    if os.path.islink(folder / ARRAYS):
        return 0
    try:
        with os.scandir(folder / ARRAYS) as found:
            return sum(1 for _ in found)
    except OSError:
        return 0


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
    return _ENCODER.encode(item).encode() + b"\n"


def _object(line: bytes) -> dict[str, Any]:
    fits = len(line) <= _MAX_BARE_BYTES
    if not fits and len(line) <= MAX_LINE_BYTES:
        fits = len(_TEXT.sub(b"", line)) <= _MAX_BARE_BYTES
    try:
        found = json.loads(line.decode()) if fits else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _Senseless("has a line that is no JSON object, or too long")
    return cast("dict[str, Any]", found)


def _entry(name: str, item: dict[str, Any], last: ArrayEntry | None) -> ArrayEntry:
    """An array's line, with everything that storage relies on checked; `last` is the array before it."""
    grid = _grid(_extents(item.get("shape")), _extents(item.get("chunk")), _itemsize(name, item))
    if not _is_grid(grid):
        raise _wrongly_cut(name, grid)
    return ArrayEntry(name, 0 if last is None else last.number + 1, item["dtype"], grid)


@lru_cache(1 << 12)
def _grid(shape: Shape, chunk: Shape, itemsize: int) -> Grid:
    """The same object for equal arrays, for what it knows of itself."""
    return Grid(shape, chunk, itemsize)


def _second_entry(name: str, item: dict[str, Any], last: ArrayEntry | None) -> SecondEntry:
    shape, file, chunk = (_extents(item.get(key)) for key in ("shape", "file", "chunk"))
    grid = FileGrid(shape, chunk, _itemsize(name, item), file)
    if not _is_grid(grid) or not is_file_grid(grid):
        raise _wrongly_cut(name, grid)
    number, at = (last.number + 1, last.hashes_end) if isinstance(last, SecondEntry) else (0, 0)
    return SecondEntry(name, number, item["dtype"], grid, _hash(item.get("hashes"), repr(name)), at)


def _itemsize(name: str, item: dict[str, Any]) -> int:
    try:
        return dtype_named(item["dtype"]).itemsize
    except (TypeError, AttributeError):
        raise _Senseless(f"gives {name!r} the element type {item['dtype']!r}") from None


def _wrongly_cut(name: str, grid: Grid) -> _Senseless:
    return _Senseless(f"cuts {name!r}, of shape {list(grid.shape)[:MAX_RANK]}, in a way that no checkpoint does")


def _is_grid(grid: Grid) -> bool:
    """Whether chunks are there for each dim, and none is larger than what is written."""
    if not len(grid.shape) == len(grid.chunk) <= MAX_RANK or math.prod(grid.shape) > _MAX_ELEMENTS:
        return False
    return all(size >= 1 for size in grid.chunk) and grid.chunk_bytes <= MAX_CHUNK_BYTES


def _extents(given: Any) -> Shape:
    if not isinstance(given, list) or len(cast("list[Any]", given)) > MAX_RANK:
        raise _Senseless("has a shape that is no list of whole numbers")
    return tuple([_natural(size) for size in cast("list[Any]", given)])


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
