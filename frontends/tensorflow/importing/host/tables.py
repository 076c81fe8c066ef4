"""Tables from keys to values, which TensorFlow fills when a model is loaded."""

from __future__ import annotations

from typing import Any

import numpy as np

from shardwright.frontends.tensorflow.importing.evaluate import Call, Table
from shardwright.frontends.tensorflow.importing.table import host_row

INITIALIZERS = ("InitializeTable", "InitializeTableV2", "LookupTableImport", "LookupTableImportV2")
"""Operations that fill a table."""


@host_row("HashTable", "HashTableV2")
def _table(call: Call) -> Table:
    """The table of this name, or a new one: nodes with one name mean one table."""
    name = call["shared_name"] or call.node.name
    keys, values = call.dtype("key_dtype"), call.dtype("value_dtype")
    found = call.interpreter.state.tables.setdefault(name, Table(name, keys, values))
    if (found.keys, found.values) != (keys, values):
        raise call.fault(f"the table {name!r} has other types elsewhere", "SW0888")
    return found


@host_row(*INITIALIZERS)
def _filled(call: Call, table: Table, keys: Any, values: Any) -> None:
    if keys.ndim != 1 or keys.shape != values.shape or (keys.dtype, values.dtype) != (table.keys, table.values):
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
    if keys.dtype != table.keys or default.dtype != table.values or default.size != 1:
        raise call.fault(f"the table {table.name!r} has other types than what is looked up")
    rows, otherwise = _rows(call, table), default.reshape(-1)[0]
    found = np.empty(keys.shape, table.values)
    found.reshape(-1)[:] = [rows.get(key, otherwise) for key in keys.reshape(-1).tolist()]
    return found


@host_row("LookupTableSize", "LookupTableSizeV2")
def _size(call: Call, table: Table) -> Any:
    return np.array(len(_rows(call, table)), np.int64)
