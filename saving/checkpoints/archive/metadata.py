"""
What zarr says of arrays and groups, in the `zarr.json` of each: written for others, and never read here.

Format: https://zarr-specs.readthedocs.io, "Zarr core specification (version 3)"; the types beyond it are those of
https://github.com/zarr-developers/zarr-extensions, as tensorstore has them.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from shardwright.saving.checkpoints.archive.chunks import Grid, Shape
from shardwright.saving.checkpoints.archive.names import path_of
from shardwright.saving.checkpoints.entries import ArrayEntry

DOCUMENT = "zarr.json"

_TYPES = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16"),
    *("float32", "float64", "complex64", "complex128", "int2", "int4", "float4_e2m1fn", "float8_e3m4"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
}
"""The types that zarr has; those few others have one byte each, and are stored as that."""

_GROUP: dict[str, Any] = {"zarr_format": 3, "node_type": "group", "attributes": {}}


def group_text() -> bytes:
    """The `zarr.json` of a group."""
    return json.dumps(_GROUP).encode()


def array_text(entry: ArrayEntry) -> bytes:
    """The `zarr.json` of an array; its attributes have the name where it is not the path, and types that zarr lacks."""
    named = None if path_of(entry.name) == entry.name else entry.name.encode(errors="replace").decode()
    return _array_text(entry.grid, entry.dtype, named)


@lru_cache(1 << 12)
def _array_text(grid: Grid, dtype: str, name: str | None) -> bytes:
    kind = dtype if dtype in _TYPES else "uint8"
    zero: Any = False if kind == "bool" else [0.0, 0.0] if kind.startswith("complex") else 0
    attributes = {} if kind == dtype else {"dtype": dtype}
    about: dict[str, Any] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": grid.shape,
        "data_type": kind,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": grid.chunk}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": zero,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": attributes if name is None else {**attributes, "name": name},
    }
    return json.dumps(about).encode()


def chunk_key(index: Shape) -> str:
    """
    What zarr calls a chunk, within its array.

    >>> chunk_key((3, 0)), chunk_key(())
    ('c/3/0', 'c')
    """
    return "/".join(("c", *map(str, index)))
