"""Kernels that look across elements: concatenate, pad, reduce, fold, dot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from shardwright.runtime.kernels.elementwise import Array, Arrays, Body, narrow, widen

REDUCTIONS = {
    "sum": "add",
    "prod": "multiply",
    "max": "maximum",
    "min": "minimum",
    "and": "bitwise_and",
    "or": "bitwise_or",
}
"""The ufunc that combines two elements, for each kind of reduction."""


def concatenate(xp: Any, arrays: Arrays, axis: int, out: Array | None = None) -> Array:
    """The arrays joined along `axis`; leading dims broadcast (one may vary along the mesh where another does not)."""
    others = np.broadcast_shapes(*((*a.shape[:axis], 1, *a.shape[axis + 1 :]) for a in arrays))
    spread = [xp.broadcast_to(a, (*others[:axis], a.shape[axis], *others[axis + 1 :])) for a in arrays]
    return xp.concatenate(spread, axis=axis, out=out)


def iota(xp: Any, length: int, shape: Sequence[int], dtype: str) -> Array:
    """
    The numbers from zero to below `length` along the one dim that has so many.

    >>> iota(np, 3, (1, 3), "float16").tolist()
    [[0.0, 1.0, 2.0]]
    """
    kind = np.dtype(dtype)
    direct = kind.kind in "iuf" and kind.itemsize >= 4  # the others may not have all the numbers, which wrap or round
    numbers = xp.arange(length, dtype=kind) if direct else xp.arange(length).astype(kind)
    return numbers.reshape(tuple(shape))


def pad(xp: Any, array: Array, value: Array, low: Sequence[int], high: Sequence[int], interior: Sequence[int]) -> Array:
    """
    The array with `value` around it and between its elements; a negative amount cuts off.

    >>> pad(np, np.array([1, 2, 3]), np.array(0), [-1], [1], [1]).tolist()
    [0, 2, 0, 3, 0]
    """
    value = xp.asarray(value)
    value = value.reshape(value.shape + (1,) * (array.ndim - value.ndim))
    lead = array.ndim - len(low)
    fronts = np.broadcast_shapes(array.shape[:lead], value.shape[:lead])
    spread = [max(n + (n - 1) * i, 0) for n, i in zip(array.shape[lead:], interior, strict=True)]
    shape = [n + a + b for n, a, b in zip(spread, low, high, strict=True)]
    result = xp.empty((*fronts, *shape), array.dtype)
    result[...] = value
    inside, source = [slice(None)] * lead, [slice(None)] * lead
    for extent, total, before, gap in zip(array.shape[lead:], shape, low, interior, strict=True):
        step = gap + 1
        first = max(0, math.ceil(-before / step))
        last = min(extent, max(first, math.ceil((total - before) / step)))
        source.append(slice(first, last))
        inside.append(slice(before + first * step, before + (last - 1) * step + 1, step) if last > first else slice(0))
    result[tuple(inside)] = array[tuple(source)]
    return result


def reduce(xp: Any, array: Array, kind: str, dims: tuple[int, ...]) -> Array:
    """
    The elements along `dims` combined; the dims keep size 1. Narrow floats are summed in float32.

    >>> reduce(np, np.ones((2, 3), np.int8), "sum", (1,)).tolist()
    [[3], [3]]
    """
    function = getattr(xp, REDUCTIONS[kind])
    wide = widen(xp, array)
    return narrow(xp, function.reduce(wide, axis=dims, keepdims=True, dtype=wide.dtype), array.dtype)


def row_extreme(xp: Any, kind: str, array: Array, target: Array) -> None:
    """
    Writes the largest (`max`) or smallest (`min`) element of each row to `target`, whose last dim is 1.

    NumPy finds the place of an extreme of short rows in a quarter of the time that it takes to reduce them. A NaN
    wins, as it does in a reduction.

    >>> target = np.empty((2, 1))
    >>> row_extreme(np, "max", np.array([[1.0, 3.0], [np.nan, 2.0]]), target)
    >>> target.tolist()
    [[3.0], [nan]]
    """
    if not array.flags.c_contiguous:
        getattr(xp, REDUCTIONS[kind]).reduce(array, axis=-1, keepdims=True, out=target)
        return
    places = getattr(xp, f"arg{kind}")(array, axis=-1).reshape(-1)
    places += xp.arange(0, array.size, array.shape[-1])
    target[...] = array.reshape(-1).take(places).reshape(target.shape)


def fold(xp: Any, body: Body, inputs: Arrays, starts: Arrays, dims: Sequence[int]) -> tuple[Array, ...]:
    """
    A reduction by any body: neighbours are combined until one element is left, the start value last.

    So the order of the elements is kept: which of equal ones wins does not depend on how many there are.

    `dims` keep size 1.
    """
    current = _rows(xp, inputs, dims)
    while (count := current[0].shape[-1]) > 1:
        even = count // 2 * 2
        left, right = [a[..., 0:even:2] for a in current], [a[..., 1:even:2] for a in current]
        # What a body takes from one argument, or from none, is not as large as all of them.
        combined = [xp.broadcast_to(a, left[0].shape) for a in body(*left, *right)]
        rest = [a[..., even:] for a in current]
        current = (
            [xp.concatenate(pair, axis=-1) for pair in zip(combined, rest, strict=True)] if count % 2 else combined
        )
    return _from_starts(xp, body, inputs, starts, dims, current)


def fold_extreme(
    xp: Any, body: Body, inputs: Arrays, starts: Arrays, dims: Sequence[int], kind: str
) -> tuple[Array, ...]:
    """
    The same as `fold` for values and places and a body that `extreme_kind` knows.

    >>> def body(v, p, w, q):
    ...     left = (v > w) | (v != v)
    ...     return np.where(left, v, w), np.where(left | ((v == w) & (p < q)), p, q)
    >>> values, starts = [np.array([1, 3, 3]), np.array([0, 1, 2])], [np.array(-9), np.array(0)]
    >>> found = fold_extreme(np, body, values, starts, [0], "max")
    >>> [array.tolist() for array in found]
    [[3], [1]]
    """
    if xp is not np or not all(math.prod(array.shape) for array in inputs):
        return fold(xp, body, inputs, starts, dims)  # other libraries disagree on NaN
    values, places = _rows(xp, inputs, dims)
    at = xp.arange(len(values)), getattr(xp, f"arg{kind}")(values, axis=-1)
    value, place = values[at][:, None], places[at][:, None]
    if not (places[..., 1:] >= places[..., :-1]).all():
        lowest = xp.where(values == value, places, np.iinfo(places.dtype).max).min(axis=-1, keepdims=True)
        place = xp.where(value == value, lowest, place)
    if all(start.size == 1 for start in starts) and _is_beaten(starts[0].reshape(()), value, kind):
        shape = np.broadcast_shapes(*(array.shape for array in inputs))
        final = [1 if dim in dims else extent for dim, extent in enumerate(shape)]
        return value.reshape(final), place.reshape(final)
    return _from_starts(xp, body, inputs, starts, dims, [value, place])


def _is_beaten(start: Array, values: Array, kind: str) -> bool:
    """Whether what a search for extremes starts from comes behind all values; NaN comes first of all."""
    reached = values <= start if kind == "max" else values >= start
    return bool(start == start) and not reached.any()


def _rows(xp: Any, inputs: Arrays, dims: Sequence[int]) -> list[Array]:
    """The inputs as matrices, in each row what is reduced."""
    shape = np.broadcast_shapes(*(array.shape for array in inputs))
    kept = [dim for dim in range(len(shape)) if dim not in dims]
    rows = math.prod(shape[dim] for dim in kept), math.prod(shape[dim] for dim in dims)
    return [_filled(xp, array, shape).transpose([*kept, *dims]).reshape(rows) for array in inputs]


def _filled(xp: Any, array: Array, shape: tuple[int, ...]) -> Array:
    """The array broadcast to a shape, if it has another one: that call takes longer than a small array's work."""
    return array if array.shape == shape else xp.broadcast_to(array, shape)


def _from_starts(
    xp: Any, body: Body, inputs: Arrays, starts: Arrays, dims: Sequence[int], rows: Arrays
) -> tuple[Array, ...]:
    """The start values combined with rows of one element, or by themselves where there is none."""
    shape = np.broadcast_shapes(*(array.shape for array in inputs))
    final = [1 if dim in dims else extent for dim, extent in enumerate(shape)]
    arrays = [xp.asarray(start) for start in starts]
    seeds = [array.reshape(array.shape + (1,) * (len(shape) - array.ndim)) for array in arrays]
    found = body(*seeds, *(row.reshape(final) for row in rows)) if rows[0].shape[-1] else seeds
    whole = np.broadcast_shapes(final, *(seed.shape for seed in seeds))
    return tuple(_filled(xp, each, whole) for each in found)


def dot(
    xp: Any, lhs: Array, rhs: Array, batch: Sequence[tuple[int, int]], contract: Sequence[tuple[int, int]]
) -> Array:
    """
    A general matrix product of two arrays of one dtype: batch dims, then the free dims of each operand in order.

    A batch dim of size 1 in one operand repeats. One that is contracted too is summed and keeps size 1.

    >>> dot(np, np.ones((2, 3)), np.ones((3, 4)), [], [(1, 0)]).shape
    (2, 4)
    >>> dot(np, np.ones((2, 3)), np.ones((2, 3)), [(0, 0)], [(0, 0), (1, 1)]).tolist()
    [6.0]
    """
    kept = [pair for pair in batch if pair not in contract]
    left, left_free = _as_matrix(lhs, [a for a, _ in kept], [a for a, _ in contract], contract_last=True)
    right, right_free = _as_matrix(rhs, [b for _, b in kept], [b for _, b in contract], contract_last=False)
    product = xp.matmul(left, right)
    extents = dict(zip(kept, product.shape, strict=False))
    return product.reshape((*(extents.get(pair, 1) for pair in batch), *left_free, *right_free))


def _as_matrix(
    array: Array, batch: list[int], contract: list[int], *, contract_last: bool
) -> tuple[Array, tuple[int, ...]]:
    free = [dim for dim in range(array.ndim) if dim not in batch and dim not in contract]
    order = batch + free + contract if contract_last else batch + contract + free
    moved = array.transpose(order)
    fronts = [array.shape[dim] for dim in batch]
    free_shape = tuple(array.shape[dim] for dim in free)
    sizes = math.prod(free_shape), math.prod(array.shape[dim] for dim in contract)
    return moved.reshape(fronts + list(sizes if contract_last else sizes[::-1])), free_shape


def diagonal(xp: Any, array: Array, lead: int, dim: int) -> Array:
    """
    The elements whose index along `lead` and `dim` is the same, at `dim`; `lead` keeps size 1.

    >>> diagonal(np, np.arange(4).reshape(2, 2), 0, 1).tolist()
    [[0, 3]]
    """
    return xp.expand_dims(xp.moveaxis(xp.diagonal(array, 0, lead, dim), -1, dim - 1), lead)


def fetch(xp: Any, array: Any, positions: Sequence[int], sources: Sequence[int]) -> Any:
    """
    Along the dims at `positions`, taken as one index, element `sources[i]` at `i`; zeros where that is -1.

    >>> fetch(np, np.array([[1, 2], [3, 4]]), (0,), (1, -1)).tolist()
    [[3, 4], [0, 0]]
    >>> fetch(np, np.array([[1, 2], [3, 4]]), (1, 0), (1, 2, 3, 0)).tolist()
    [[3, 4], [2, 1]]
    """
    rest = [dim for dim in range(array.ndim) if dim not in positions]
    order = [*positions, *rest]
    sizes = [array.shape[dim] for dim in positions]
    stacked = xp.transpose(array, order).reshape((math.prod(sizes), *(array.shape[dim] for dim in rest)))
    places = xp.asarray(sources)
    taken = xp.take(stacked, xp.maximum(places, 0), axis=0)
    if -1 in sources:
        taken[places < 0] = 0
    back = taken.reshape((*sizes, *(array.shape[dim] for dim in rest)))
    return xp.transpose(back, [int(place) for place in np.argsort(order)])
