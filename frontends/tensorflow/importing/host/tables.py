"""
Tables from keys to values, which TensorFlow fills when a model is loaded: by operations, or from its checkpoint.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from shardwright.frontends.tensorflow.importing.evaluate import Call, Table
from shardwright.frontends.tensorflow.importing.table import host_row

_FROM_ARRAYS = ("InitializeTable", "InitializeTableV2", "LookupTableImport", "LookupTableImportV2")
_FROM_FILES = ("InitializeTableFromTextFile", "InitializeTableFromTextFileV2")
INITIALIZERS = (*_FROM_ARRAYS, *_FROM_FILES)
"""Operations that fill a table."""

_WHOLE_LINE, _LINE_NUMBER = -2, -1
"""What of a line of a file becomes a key or a value, where it is no part of it."""


@host_row("HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2")
def _table(call: Call) -> Table:
    """A table of single values."""
    return _named(call, ())


@host_row("MutableHashTableOfTensors", "MutableHashTableOfTensorsV2")
def _table_of_tensors(call: Call) -> Table:
    """A table of tensors of one shape."""
    return _named(call, _shape(call))


@host_row("MutableDenseHashTable", "MutableDenseHashTableV2")
def _dense_table(call: Call, *reserved: Any) -> Table:
    """One in which two keys mark places that are free."""
    if any(key.ndim for key in reserved):
        raise call.fault("keys that are no single elements are not supported", "SW0885")
    return _named(call, _shape(call), tuple(key.item() for key in reserved))


def _shape(call: Call) -> tuple[int, ...]:
    shape = call["value_shape"]
    if shape is None or None in shape:
        raise call.fault("the table holds values of no certain shape", "SW0890")
    return tuple(shape)


def _named(call: Call, shape: tuple[int, ...], reserved: tuple[Any, ...] = ()) -> Table:
    """The table of this name, or a new one: nodes with one name mean one table."""
    name = call["shared_name"] or call.node.name
    keys, values, state = call.dtype("key_dtype"), call.dtype("value_dtype"), call.interpreter.state
    if name not in state.tables:
        state.tables[name] = Table(name, keys, values, None, shape, reserved)
        if name in state.stored:
            _fill(call, state.tables[name], *_taken(call, state.tables[name], *state.stored[name]))
    found = state.tables[name]
    if (found.keys, found.values, found.shape) != (keys, values, shape):
        raise call.fault(f"the table {name!r} has other types elsewhere", "SW0888")
    return found


def _taken(call: Call, table: Table, keys: Any, values: Any) -> tuple[Any, Any]:
    """The rows of a checkpoint; of tables that keep places free, those that are not, which stand there in a column."""
    if not table.reserved:
        return keys, values
    if keys.ndim != 2 or keys.shape[1] != 1 or values.shape[:1] != keys.shape[:1]:
        raise call.fault(f"the checkpoint has keys {list(keys.shape)} of the table {table.name!r}", "SW0888")
    own = ~np.isin(keys[:, 0], table.reserved)
    rows = values[own]
    whole = (len(rows), *table.shape)
    return keys[own, 0], rows.reshape(whole) if rows.size == math.prod(whole) else rows


@host_row(*_FROM_ARRAYS)
def _filled(call: Call, table: Table, keys: Any, values: Any) -> None:
    _fill(call, table, keys, values)


@host_row(*_FROM_FILES)
def _filled_from_file(call: Call, table: Table, name: Any) -> None:
    """A file of the model: of each line a key and a value."""
    path, state = bytes(name.reshape(-1)[0]) if name.size == 1 else b"", call.interpreter.state
    if path not in state.assets:
        raise call.fault(f"the file {path!r} is none of the model's assets", "SW0892")
    try:
        lines = state.assets[path].read_bytes().replace(b"\r", b"").split(b"\n")
    except OSError as error:
        raise call.fault(f"the file {path!r} cannot be read: {error.strerror}", "SW0892") from None
    lines = lines[:-1] if not lines[-1] else lines
    size = call["vocab_size"]
    if size > len(lines):
        raise call.fault(f"the file {path!r} has {len(lines)} lines, and {size} are due", "SW0892")
    lines = lines[:size] if size >= 0 else lines
    if b"" in lines:
        raise call.fault(f"line {lines.index(b'') + 1} of the file {path!r} is empty", "SW0892")
    sides = (("key_index", table.keys), ("value_index", table.values))
    _fill(call, table, *(_column(call, lines, call[side], dtype) for side, dtype in sides))


def _column(call: Call, lines: Sequence[bytes], place: int, dtype: np.dtype[Any]) -> Any:
    """What each line has at a place."""
    if place == _LINE_NUMBER:
        return np.arange(len(lines), dtype=dtype) + (call["offset"] if call.has("offset") else 0)
    parts, between = lines, call["delimiter"].encode()
    if place != _WHOLE_LINE:
        parts = [(line.split(between)[place : place + 1] or [None])[0] for line in lines]
    found = np.empty(len(parts), object)
    found[:] = parts
    if any(part is None for part in parts):
        raise call.fault(f"a line has no part number {place}: {lines[parts.index(None)][:40]!r}", "SW0892")
    try:
        return found.astype(dtype)
    except ValueError as error:
        raise call.fault(f"a line has no {dtype.name}: {error}", "SW0892") from None


def _fill(call: Call, table: Table, keys: Any, values: Any) -> None:
    fits = keys.ndim == 1 and values.shape == (*keys.shape, *table.shape)
    if not fits or (keys.dtype, values.dtype) != (table.keys, table.values):
        found = f"keys {keys.dtype.name}{list(keys.shape)} and values {values.dtype.name}{list(values.shape)}"
        raise call.fault(f"the table {table.name!r} cannot hold {found}", "SW0888")
    rows = dict(zip(keys.tolist(), values.tolist(), strict=True))
    if len(rows) != keys.size or table.rows not in (None, rows):
        raise call.fault(f"the table {table.name!r} has two values for one key", "SW0888")
    table.rows = rows


def _rows(call: Call, table: Table) -> dict[Any, Any]:
    if table.rows is None:
        raise call.fault(f"nothing fills the table {table.name!r}", "SW0892")
    return table.rows


@host_row("LookupTableFind", "LookupTableFindV2")
def _found(call: Call, table: Table, keys: Any, default: Any) -> Any:
    one = default.size == 1 if not table.shape else default.shape == table.shape
    if keys.dtype != table.keys or default.dtype != table.values or not one:
        raise call.fault(f"the table {table.name!r} has other types than what is looked up")
    rows, otherwise = _rows(call, table), default.reshape(table.shape) if table.shape else default.reshape(-1)[0]
    found = np.empty((keys.size, *table.shape), table.values)
    for place, key in enumerate(keys.reshape(-1).tolist()):
        if key in table.reserved:
            raise call.fault(f"{key!r} is no key of the table {table.name!r}: it marks a place that is free", "SW0888")
        found[place] = rows.get(key, otherwise)
    return found.reshape(*keys.shape, *table.shape)


@host_row("LookupTableSize", "LookupTableSizeV2")
def _size(call: Call, table: Table) -> Any:
    return np.array(len(_rows(call, table)), np.int64)
