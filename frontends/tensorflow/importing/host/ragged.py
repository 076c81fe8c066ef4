"""Ragged values: rows of different lengths, as values one after the other and where each row is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from shardwright.frontends.tensorflow.importing.evaluate import Call
from shardwright.frontends.tensorflow.importing.table import host_row

MOST_BYTES = 1 << 32
"""The most bytes of an array that is made on the host."""


def checked_room(call: Call, shape: Sequence[int], dtype: np.dtype[Any]) -> tuple[int, ...]:
    """A shape, if an array of it is no larger than hosts have room for."""
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > MOST_BYTES:
        raise call.fault(f"an array of shape {list(shape)} is more than the host makes", "SW0888")
    return tuple(shape)


@host_row("RaggedTensorToTensor")
def _dense(call: Call, shape: Any, values: Any, default: Any, *partitions: Any) -> Any:
    """All rows beside each other, filled up or cut off."""
    owners, count = _owners(call, partitions)
    said = call.numbers(shape, "shape") if shape.ndim else [-1] * (len(owners) + values.ndim)
    sizes = [said[0] if said[0] >= 0 else count]
    places, inside = np.arange(count), np.arange(count) < sizes[0]
    for level, owner in enumerate(owners, 1):
        lengths = np.bincount(owner, minlength=len(places))
        column = np.arange(len(owner)) - (np.cumsum(lengths) - lengths)[owner]
        sizes.append(said[level] if said[level] >= 0 else int(lengths.max(initial=0)))
        places, inside = places[owner] * sizes[-1] + column, inside[owner] & (column < sizes[-1])
    whole = checked_room(call, [*sizes, *values.shape[1:]], values.dtype)
    if len(places) != len(values) or (shape.ndim and len(said) != len(whole)):
        raise call.fault(f"rows of {len(places)} values do not fit {len(values)} values")
    found = np.empty((math.prod(sizes), *values.shape[1:]), values.dtype)
    found[...] = default
    found[places[inside]] = values[inside]
    return found.reshape(whole)


def _owners(call: Call, partitions: Sequence[Any]) -> tuple[list[Any], int]:
    """For each level which row each item belongs to, and how many rows there are on the outermost."""
    kinds, owners, count = call["row_partition_types"], list[Any](), -1
    for kind, given in zip(kinds, partitions, strict=True):
        if kind == "FIRST_DIM_SIZE":
            count = call.number(given, "number of rows")
        elif kind == "VALUE_ROWIDS":
            owners.append(_checked_owners(call, given))
        elif kind == "ROW_SPLITS":
            count = len(given) - 1 if count < 0 else count
            owners.append(row_owners(call, given))
        else:
            raise call.fault(f"rows given by {kind} are not supported", "SW0885")
    if count < 0 or any(owner.max(initial=-1) >= size for owner, size in _bounds(owners, count)):
        raise call.fault("values belong to rows that there are not")
    return owners, count


def _bounds(owners: Sequence[Any], count: int) -> list[tuple[Any, int]]:
    return list(zip(owners, [count, *(len(owner) for owner in owners[:-1])], strict=True))


def _checked_owners(call: Call, owner: Any) -> Any:
    if owner.ndim != 1 or (owner.size and (owner[0] < 0 or (np.diff(owner) < 0).any())):
        raise call.fault("the rows of values do not ascend")
    return owner


def row_owners(call: Call, ends: Any) -> Any:
    """Which row each item belongs to, of where rows end."""
    if ends.ndim != 1 or not ends.size or ends[0] != 0 or (np.diff(ends) < 0).any():
        raise call.fault("the ends of rows do not ascend from 0")
    return np.repeat(np.arange(len(ends) - 1), np.diff(ends))


@host_row("RaggedBincount")
def _counted(call: Call, ends: Any, values: Any, size: Any, weights: Any) -> Any:
    return _counts(call, row_owners(call, ends), len(ends) - 1, values, size, weights)


@host_row("Bincount", "DenseBincount")
def _counted_rows(call: Call, values: Any, size: Any, weights: Any) -> Any:
    lines = len(values) if values.ndim == 2 else 1
    owner = np.repeat(np.arange(lines), values.size // max(lines, 1))
    found = _counts(call, owner, lines, values.reshape(-1), size, weights.reshape(-1))
    return found if values.ndim == 2 else found[0]


def _counts(call: Call, owner: Any, lines: int, values: Any, size: Any, weights: Any) -> Any:
    """How often each number occurs in each row, or the weights of where it does; those above are left out."""
    count = call.number(size, "size")
    if values.min(initial=0) < 0 or len(owner) != len(values):
        raise call.fault("numbers that are counted are not below 0, and belong to rows", "SW0898")
    found = np.zeros(checked_room(call, (lines, count), weights.dtype), weights.dtype)
    kept = values < count
    binary = call.has("binary_output") and call["binary_output"]
    amounts = weights[kept] if weights.size and not binary else np.ones(int(kept.sum()), weights.dtype)
    np.add.at(found, (owner[kept], values[kept]), amounts)
    return np.minimum(found, 1).astype(found.dtype) if binary else found
