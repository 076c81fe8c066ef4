"""
safetensors: files of named arrays, as the libraries of Hugging Face write them.

A file is the length of a header (eight bytes), the header (JSON: for each array its type, shape and place), and the
elements, row-major, without gaps. A model of several files has an index beside them, which says where each array is.
Nothing in them is code. Format: https://huggingface.co/docs/safetensors, "Format".
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import ml_dtypes as ml_dtypes  # gives NumPy the names of its types
import numpy as np

from shardwright.engines.dtensor_value import DTensorValue
from shardwright.layout.boxes import Box
from shardwright.saving.faults import SavingError
from shardwright.saving.tensors.stored import Stored
from shardwright.serialization.files.atomic import AtomicFile

ENDING, INDEX = ".safetensors", ".safetensors.index.json"
LONGEST_HEADER = 100_000_000
"""Bytes, as the format's own library allows; an index may be as long."""

DTYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32", "I32": "int32",
    "U64": "uint64", "I64": "int64", "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64",
    "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "C64": "complex64",
}  # fmt: skip
"""NumPy's name of each type of the format that arrays have."""

_NAMES = {dtype: name for name, dtype in DTYPES.items()}


@dataclass(frozen=True)
class InFile(Stored):
    """An array in a file: its elements are the bytes from `start` on."""

    file: Path
    start: int

    def part(self, box: Box) -> np.ndarray[Any, Any]:
        """The elements in a box, by way of its rows: slices along the first dim, of which a number has one."""
        low, high = box[0] if box else (0, 1)
        row = self.shape[1:]
        size = math.prod(row)
        with self.file.open("rb") as file:
            file.seek(self.start + low * size * self.dtype.itemsize)
            found = np.fromfile(file, self.dtype, (high - low) * size)
        if found.size != (high - low) * size:
            raise malformed(self.file, f"{self.name!r} ends too early")
        rows = found.reshape(high - low, *row) if box else found.reshape(())
        return rows[(slice(None), *(slice(*piece) for piece in box[1:]))] if box else rows


def is_safetensors(path: str) -> bool:
    """
    Whether a path leads to such a file, to an index of several, or to a folder that has either.

    >>> is_safetensors("model.safetensors"), is_safetensors("checkpoint")
    (True, False)
    """
    return path.endswith((ENDING, INDEX)) or bool(_in_folder(Path(path)))


def read_safetensors(path: str) -> dict[str, InFile]:
    """
    The arrays at a path by their names, of which nothing but the headers is read.

    Raises `ValueError`: SW0873 for what cannot be opened, SW0896 for what is no such file, or none that is whole.
    """
    found = _in_folder(Path(path)) or [Path(path)]
    if len(found) > 1:
        raise _several(path, found)
    try:
        if not found[0].name.endswith(INDEX):
            return {entry.name: entry for entry in _of_file(found[0])}
        arrays, whole = _of_index(found[0]), _other_form(found[0])
        if os.path.isdir(path) and whole.exists() and all(entry.file != whole for entry in arrays.values()):
            raise _several(path, [*found, whole])
        return arrays
    except OSError as error:
        raise SavingError("SW0873", f"cannot read {str(found[0])!r}: {error.strerror or error}") from error


def _several(path: str, found: Sequence[Path]) -> SavingError:
    names = [each.name for each in found]
    return SavingError("SW0896", f"{path} has {len(names)} models", *names, help="give the path of one")


def _other_form(path: Path) -> Path:
    """Of a model in one file the index that it would have in several, and the other way round."""
    old, new = (INDEX, ENDING) if path.name.endswith(INDEX) else (ENDING, INDEX)
    return path.with_name(path.name.removesuffix(old) + new)


def write_safetensors(path: str, arrays: Mapping[str, Any], most: int) -> list[Path]:
    """
    Writes arrays as one file, or as several of at most so many bytes with an index, which is written last.

    An array alone may be larger. Returns what was written. Raises `ValueError` before anything is written: SW0875 for
    arrays whose types the format lacks and for names that are no text, SW0876 where the model lies there in the other
    form, which readers would still find.
    """
    unknown = [f"{name!r}: {array.dtype.name}" for name, array in arrays.items() if array.dtype.name not in _NAMES]
    if unknown:
        message = f"{len(unknown)} of {len(arrays)} arrays have types that safetensors lacks"
        raise SavingError("SW0875", message, *unknown, help=f"it has {', '.join(DTYPES.values())}")
    broken = [name for name in arrays if any("\ud800" <= letter <= "\udfff" for letter in name)]
    if broken:
        raise SavingError("SW0875", f"the name {broken[0]!r} is no text of Unicode", help="give the array another name")
    target, parts = Path(path), list(_parts(arrays, most))
    written = target if len(parts) <= 1 else _other_form(target)
    if os.path.lexists(_other_form(written)):
        fault = f"{str(_other_form(written))!r} is there, and would be another model beside {written.name!r}"
        raise SavingError("SW0876", fault, help="remove it with the files that it names, or give another name")
    if len(parts) <= 1:
        _write_file(target, arrays)
        return [target]
    stem = target.name.removesuffix(ENDING)
    files = [target.with_name(f"{stem}-{at:05}-of-{len(parts):05}{ENDING}") for at in range(1, len(parts) + 1)]
    for file, names in zip(files, parts, strict=True):
        _write_file(file, {name: arrays[name] for name in names})
    places = {name: file.name for file, names in zip(files, parts, strict=True) for name in names}
    index = {"metadata": {"total_size": sum(map(_size, arrays.values()))}, "weight_map": dict(sorted(places.items()))}
    with AtomicFile(written) as pending:
        os.write(pending.descriptor, json.dumps(index, indent=2).encode())
    return [*files, written]


def malformed(file: Path, fault: str) -> SavingError:
    """The error for a file that is not what it says."""
    return SavingError("SW0896", f"{file} is no whole safetensors file: {fault}")


def _in_folder(folder: Path) -> list[Path]:
    """The indices in a folder, or the files, where there is no index."""
    if not os.path.isdir(folder):
        return []
    return sorted(folder.glob(f"*{INDEX}")) or sorted(folder.glob(f"*{ENDING}"))


def _of_index(index: Path) -> dict[str, InFile]:
    if index.stat().st_size > LONGEST_HEADER:
        raise malformed(index, f"an index has at most {LONGEST_HEADER:,} bytes")
    places = _mapping(index, _mapping(index, _parsed(index, index.read_bytes())).get("weight_map"))
    files = dict.fromkeys(map(str, places.values()))
    for name in files:
        if name != os.path.basename(name) or "\\" in name or name in ("", ".", ".."):
            raise malformed(index, f"it names {name!r}, which is no file beside it")
    found = {file: {entry.name: entry for entry in _of_file(index.with_name(file))} for file in files}
    missing = [name for name, file in places.items() if name not in found[str(file)]]
    if missing:
        raise SavingError("SW0896", f"{index}: {len(missing)} arrays are not in their files", *missing[:10])
    return {name: found[str(file)][name] for name, file in places.items()}


def _of_file(file: Path) -> Iterator[InFile]:
    """The arrays of a file, whose places are checked: in order, without gaps, all there."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 or length > min(size - 8, LONGEST_HEADER):
            raise malformed(file, f"it has {size} bytes, and a header of {length}")
        header = _mapping(file, _parsed(file, stream.read(length)))
    header.pop("__metadata__", None)
    entries = [_entry(file, name, _mapping(file, about), 8 + length) for name, about in header.items()]
    at = 8 + length
    for entry, stop in sorted(entries, key=lambda each: (each[0].start, each[1])):
        if entry.start != at:
            raise malformed(file, f"{entry.name!r} is not behind what stands before it")
        at = stop
    if at != size:
        raise malformed(file, f"its arrays end at byte {at}, and the file at byte {size}")
    yield from (entry for entry, _ in entries)


def _entry(file: Path, name: str, about: Mapping[str, Any], data: int) -> tuple[InFile, int]:
    """An array of a header, and where its elements end."""
    kind, shape, places = about.get("dtype"), _sizes(about.get("shape")), _sizes(about.get("data_offsets"))
    if shape is None or places is None or len(places) != 2:
        raise malformed(file, f"{name!r} has no shape, or no place")
    dtype = DTYPES.get(str(kind))
    if dtype is None:
        known = f"arrays have {', '.join(DTYPES)}"
        raise SavingError("SW0896", f"{file}: {name!r} is of type {kind}", help=known)
    entry = InFile(name, np.dtype(dtype), shape, file, data + places[0])
    if places[1] - places[0] != math.prod(shape) * entry.dtype.itemsize:
        raise malformed(file, f"{name!r}, {dtype}{list(shape)}, has {places[1] - places[0]} bytes")
    return entry, data + places[1]


def _parsed(file: Path, text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise malformed(file, f"its header is no JSON: {str(error).splitlines()[0]}") from error


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands there twice")
    return found


def _mapping(file: Path, found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise malformed(file, "its header lacks names")
    return cast("dict[str, Any]", found)


def _sizes(found: Any) -> tuple[int, ...] | None:
    """Numbers that are no less than zero; None for anything else."""
    if not isinstance(found, list):
        return None
    sizes = cast("list[Any]", found)
    return tuple(sizes) if all(type(size) is int and size >= 0 for size in sizes) else None


def _parts(arrays: Mapping[str, Any], most: int) -> Iterator[list[str]]:
    """The names that go into each file, in order, a file being full when the next array would exceed its bytes."""
    names, taken = list[str](), 0
    for name, array in arrays.items():
        if names and taken + _size(array) > most:
            yield names
            names, taken = [], 0
        names.append(name)
        taken += _size(array)
    if names:
        yield names


def _size(array: Any) -> int:
    return math.prod(array.shape) * array.dtype.itemsize


def _write_file(path: Path, arrays: Mapping[str, Any]) -> None:
    """One file; the widest types come first, so that all elements lie where their type may lie."""
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    header, at = dict[str, Any](), 0
    for name, array in ordered:
        places = [at, at + _size(array)]
        header[name] = {"dtype": _NAMES[array.dtype.name], "shape": list(array.shape), "data_offsets": places}
        at = places[1]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with AtomicFile(path) as pending, os.fdopen(pending.descriptor, "wb", closefd=False) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, array in ordered:
            whole = array.numpy() if isinstance(array, DTensorValue) else array
            np.require(whole, requirements="C").tofile(file)
