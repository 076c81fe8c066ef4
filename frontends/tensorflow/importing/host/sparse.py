"""Sparse values: where elements stand, what they are, and the shape of the whole; with data in all three."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shardwright.frontends.tensorflow.importing.evaluate import Call
from shardwright.frontends.tensorflow.importing.host.ragged import checked_room, row_owners
from shardwright.frontends.tensorflow.importing.table import host_row


@host_row("RaggedTensorToSparse")
def _of_ragged(call: Call, *given: Any) -> tuple[Any, Any, Any]:
    """Each value of rows by the rows that it is in, and its place there."""
    *splits, values = given
    if not splits:
        raise call.fault("there are no ends of rows")
    places, sizes = np.arange(len(splits[0]) - 1)[:, None], [len(splits[0]) - 1]
    for ends in splits:
        owners = row_owners(call, ends)
        if len(ends) - 1 != len(places):
            raise call.fault(f"{len(ends) - 1} rows do not fit {len(places)} of the level above")
        columns = np.arange(len(owners)) - np.asarray(ends)[owners]
        places = np.concatenate([places[owners], columns[:, None]], 1)
        sizes.append(int(np.diff(ends).max(initial=0)))
    if len(places) != len(values):
        raise call.fault(f"rows of {len(places)} values do not fit {len(values)} values")
    inner = np.indices(values.shape[1:]).reshape(values.ndim - 1, math.prod(values.shape[1:])).T
    whole = np.concatenate([np.repeat(places, len(inner), 0), np.tile(inner, (len(places), 1))], 1)
    return whole.astype(np.int64), values.reshape(-1), np.array([*sizes, *values.shape[1:]], np.int64)


@host_row("SparseReshape")
def _reshaped(call: Call, places: Any, sizes: Any, target: Any) -> tuple[Any, Any]:
    """The same elements in a row, cut otherwise."""
    old, new = ([int(size) for size in each] for each in (sizes, target))
    if new.count(-1) == 1:
        rest = math.prod(size for size in new if size != -1)
        new[new.index(-1)] = math.prod(old) // rest if rest else 0
    if min(new, default=0) < 0 or math.prod(new) != math.prod(old):
        raise call.fault(f"the shape {old} cannot be {[int(size) for size in target]}")
    _check_places(call, places, old)
    flat = np.ravel_multi_index(tuple(places.T), old) if len(places) and old else np.zeros(len(places), np.int64)
    found = np.stack(np.unravel_index(flat, new), 1) if len(places) and new else np.zeros((len(places), len(new)))
    return found.astype(np.int64), np.array(new, np.int64)


def _check_places(call: Call, places: Any, sizes: list[int]) -> None:
    if places.ndim != 2 or places.shape[1] != len(sizes) or (places < 0).any() or (places >= sizes).any():
        raise call.fault(f"elements stand outside of the shape {sizes}", "SW0898")


@host_row("SparseFillEmptyRows")
def _filled(call: Call, places: Any, values: Any, sizes: Any, default: Any) -> tuple[Any, Any, Any, Any]:
    """Rows without any element get one; also which rows those are, and where each element went."""
    _check_places(call, places, [int(size) for size in sizes])
    (count,) = checked_room(call, [int(sizes[0])], np.dtype(np.int64))
    empty = np.bincount(places[:, 0], minlength=count)[:count] == 0
    fresh = np.zeros((int(empty.sum()), places.shape[1]), np.int64)
    fresh[:, 0] = np.flatnonzero(empty)
    order = np.argsort(np.concatenate([places[:, 0], fresh[:, 0]]), kind="stable")
    filling = np.empty(len(fresh), values.dtype)
    filling[:] = default.reshape(-1)[0]
    went = np.empty(len(order), np.int64)
    went[order] = np.arange(len(order))
    return np.concatenate([places, fresh])[order], np.concatenate([values, filling])[order], empty, went[: len(places)]
