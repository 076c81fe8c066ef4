"""Sparse values: where elements stand, what they are, and the shape of the whole; with data in all three."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from shardwright.frontends.tensorflow.importing.evaluate import Call
from shardwright.frontends.tensorflow.importing.host.fingerprints import MASK, fingerprint, joined
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


@host_row("SparseToDense")
def _dense(call: Call, places: Any, sizes: Any, values: Any, default: Any) -> Any:
    """The elements at their places, and one elsewhere, in a shape that comes from data."""
    shape = call.numbers(sizes, "shape")
    where = places.reshape(-1, len(shape)) if places.ndim < 2 else places
    _check_places(call, where, shape)
    found = np.empty(checked_room(call, shape, values.dtype), values.dtype)
    found[...] = default.reshape(-1)[0] if default.dtype == object else default
    found[tuple(where.T)] = values
    return found


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


@host_row("EditDistance")
def _distances(call: Call, places: Any, values: Any, sizes: Any, *truth: Any) -> Any:
    """How many elements must be changed, added or left out to make one row of another, or which share of that one."""
    due_places, due_values, due_sizes = truth
    if len(sizes) != len(due_sizes) or len(sizes) < 2:
        raise call.fault(f"rows of {list(sizes)} and {list(due_sizes)} are not compared", "SW0898")
    shape = checked_room(call, np.maximum(sizes, due_sizes)[:-1].tolist(), np.dtype("float32"))
    given, due = (
        _by_row(call, *each)
        for each in ((places, values, sizes.tolist()), (due_places, due_values, due_sizes.tolist()))
    )
    found = np.zeros(shape, np.float32)
    for row in {*given, *due}:
        ours, theirs = given.get(row, []), due.get(row, [])
        apart = _changes(ours, theirs)
        found[row] = apart if not call["normalize"] else apart / len(theirs) if theirs else np.inf
    return found


def _by_row(call: Call, places: Any, values: Any, sizes: list[int]) -> dict[tuple[int, ...], list[Any]]:
    _check_places(call, places, sizes)
    found: dict[tuple[int, ...], list[Any]] = {}
    for place, value in zip(places.tolist(), values.tolist(), strict=True):
        found.setdefault(tuple(place[:-1]), []).append(value)
    return found


def _changes(ours: Sequence[Any], theirs: Sequence[Any]) -> int:
    """Levenshtein's distance, row by row of its table."""
    line = list(range(len(theirs) + 1))
    for count, one in enumerate(ours, 1):
        left, following = count, [count]
        for place, other in enumerate(theirs):
            left = min(left + 1, line[place + 1] + 1, line[place] + (one != other))
            following.append(left)
        line = following
    return line[-1]


@host_row("SparseCross")
def _crossed(call: Call, *given: Any) -> tuple[Any, Any, Any]:
    """In each row all choices of one feature of each column, as texts, or as one number each."""
    count, kinds = call["N"], len(call["sparse_types"])
    places, values, sizes = given[:count], given[count : count + kinds], given[count + kinds : 2 * count + kinds]
    dense = given[2 * count + kinds :]
    if kinds != count or any(one.ndim != 2 for one in dense):
        raise call.fault(f"{kinds} kinds of values do not fit {count} columns, or one that is dense has no rows")
    lengths = {*(int(size[0]) for size in sizes), *(len(one) for one in dense)}
    if len(lengths) != 1:
        raise call.fault(f"the columns have {sorted(lengths)} rows", "SW0898")
    (batch,) = checked_room(call, [*lengths], np.dtype(object))
    columns = [
        *(_rows_of(call, *each, batch) for each in zip(places, values, sizes, strict=True)),
        *([*map(np.ndarray.tolist, one)] for one in dense),
    ]
    cross = _hashed if call["hashed_output"] else _spelled
    found = [[cross(call, features) for features in product(*row)] for row in zip(*columns, strict=True)]
    whole = [feature for row in found for feature in row]
    made = np.empty(len(whole), call.dtype("out_type"))
    made[:] = whole
    where = [(row, column) for row, features in enumerate(found) for column in range(len(features))]
    shape = (batch, max(map(len, found), default=0))
    return np.array(where, np.int64).reshape(-1, 2), made, np.array(shape, np.int64)


def _rows_of(call: Call, places: Any, values: Any, sizes: Any, batch: int) -> list[list[Any]]:
    _check_places(call, places, [int(size) for size in sizes])
    found: list[list[Any]] = [[] for _ in range(batch)]
    for row, value in zip(places[:, 0].tolist(), values.tolist(), strict=True):
        found[row].append(value)
    return found


def _hashed(call: Call, features: Sequence[Any]) -> int:
    """One number for several features: theirs one after the other, each mixed into those before."""
    mixed = call["hash_key"] & MASK
    for feature in features:
        mixed = joined(mixed, fingerprint(feature) if isinstance(feature, bytes) else feature & MASK)
    return mixed % (call["num_buckets"] or (1 << 63) - 1)


def _spelled(call: Call, features: Sequence[bytes]) -> bytes:
    return b"_X_".join(features)
