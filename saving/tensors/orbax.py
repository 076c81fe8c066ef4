"""
Orbax: checkpoints of JAX's models, as Flax and others write them.

A folder of a tree has `_METADATA` (JSON: for each leaf its keys and its kind) and the arrays, in zarr 2 or 3, in files
or in one OCDBT database; tensorstore reads both. A step of a manager is a folder of items, each of which is such a
folder. Nothing in them is code. Format: https://orbax.readthedocs.io, "Checkpoint format guide".
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from shardwright.dialects.types import dtype_element
from shardwright.layout.boxes import Box
from shardwright.saving.checkpoints.objects import escaped
from shardwright.saving.faults import SavingError, storage_library
from shardwright.saving.tensors.stored import Stored

METADATA = "_METADATA"
LONGEST_METADATA = 100_000_000
"""Bytes: a leaf takes some three hundred."""

_DATABASE = "manifest.ocdbt"
_ARRAYS = {"jax.Array", "np.ndarray", "scalar"}
"""Kinds of leaves that are arrays; others are texts, keys of random numbers and empty containers."""


@dataclass(frozen=True)
class InStore(Stored):
    """An array that tensorstore has opened in a folder."""

    folder: Path
    handle: Any = field(repr=False)

    def part(self, box: Box) -> np.ndarray[Any, Any]:
        """The elements in a box; no more chunks are read than those that have some of them."""
        try:
            return np.asarray(self.handle[tuple(slice(*piece) for piece in box)].read().result())
        except Exception as error:  # tensorstore's ValueError, whose text has paths and source lines
            raise malformed(self.folder, f"{self.name!r} cannot be read: {_first_line(error)}") from error


def is_orbax(path: str) -> bool:
    """
    Whether a path leads to a tree that Orbax wrote, or to a folder of items or steps that are such trees.

    >>> is_orbax("checkpoint")
    False
    """
    return bool(_trees(Path(path)))


def read_orbax(path: str) -> dict[str, Stored]:
    """
    The arrays of a tree by their names, as `Checkpoint` would name them; nothing but what they are is read.

    Raises `ValueError` (SW0897) for a path with several trees and for what is not whole, `ImportError` (SW0877) without
    tensorstore.
    """
    trees = _trees(Path(path))
    if len(trees) > 1:
        names = [str(each.relative_to(path)) for each in trees]
        raise SavingError("SW0897", f"{path} has {len(names)} trees of arrays", *names, help="give the path of one")
    metadata = _metadata(trees[0])
    opening = {name: _open(trees[0], keys, metadata) for name, keys in _leaves(trees[0], metadata)}
    found = dict[str, Stored]()
    for name, future in opening.items():
        try:
            handle = future.result()
            dtype = np.dtype(handle.dtype.numpy_dtype)
            dtype_element(dtype)
        except Exception as error:  # as above, and TypeError for what no array here has
            raise malformed(trees[0], f"{name!r} cannot be opened: {_first_line(error)}") from error
        found[name] = InStore(name, dtype, tuple(handle.shape), trees[0], handle)
    return found


def malformed(folder: Path, fault: str) -> SavingError:
    """The error for a folder that is not what it says."""
    return SavingError("SW0897", f"{folder} is no whole checkpoint of Orbax: {fault}")


def _trees(folder: Path) -> list[Path]:
    """The trees at a path: itself, else those of its items, else those of the items of its steps."""
    if not os.path.isdir(folder):
        return []
    if os.path.isfile(folder / METADATA):
        return [folder]
    found = (sorted(folder.glob(f"{below}/{METADATA}")) for below in ("*", "*/*"))
    return [path.parent for path in next(filter(None, found), [])]


def _metadata(folder: Path) -> Mapping[str, Any]:
    path = folder / METADATA
    try:
        if path.stat().st_size > LONGEST_METADATA:
            raise malformed(folder, f"{METADATA} has more than {LONGEST_METADATA:,} bytes")
        return _mapping(folder, json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, SavingError):
            raise
        raise malformed(folder, f"{METADATA} cannot be read: {_first_line(error)}") from error


def _leaves(folder: Path, metadata: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The name of each array, and its keys."""
    names = set[str]()
    for text, leaf in _mapping(folder, metadata.get("tree_metadata")).items():
        about = _mapping(folder, leaf)
        listed: Any = about.get("key_metadata")
        items = cast("list[Any]", listed) if isinstance(listed, list) else []
        keys = [_mapping(folder, item).get("key") for item in items]
        if not keys or not all(isinstance(key, str | int) for key in keys):
            raise malformed(folder, f"{METADATA} gives {text!r} no keys")
        name = "/".join(escaped(str(key)) for key in keys)
        if name in names:
            raise malformed(folder, f"{METADATA} names {name!r} twice")
        names.add(name)
        value = _mapping(folder, about.get("value_metadata"))
        if value.get("value_type") in _ARRAYS and not value.get("skip_deserialize"):
            yield name, list(map(str, keys))


def _open(folder: Path, keys: list[str], metadata: Mapping[str, Any]) -> Any:
    """An array that tensorstore is opening."""
    inside, place = ".".join(keys), f"{folder.absolute()}/"
    if any(part in ("", ".", "..") for part in inside.split("/")) or "\0" in inside:
        raise malformed(folder, f"{inside!r} is no place of an array")
    files = {"driver": "file", "path": place}
    if os.path.isfile(folder / _DATABASE):
        store = {"driver": "ocdbt", "base": files, "path": f"{inside}/"}
    else:
        store = files | {"path": f"{place}{inside}/"}
    spec = {
        "driver": "zarr3" if metadata.get("use_zarr3") else "zarr",
        "kvstore": store,
        # Older versions leave out chunks of zeros; what is missing where none may be is an error and not zeros.
        "fill_missing_data_reads": not metadata.get("store_array_data_equal_to_fill_value"),
    }
    return storage_library().open(spec, open=True, read=True)


def _mapping(folder: Path, found: Any) -> Mapping[str, Any]:
    if not isinstance(found, dict):
        raise malformed(folder, f"{METADATA} has something else where names belong")
    return cast("Mapping[str, Any]", found)


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0].split(" [")[0] if lines else type(error).__name__
