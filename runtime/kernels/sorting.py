"""
Kernels that order elements: by keys, by any comparator, and the largest few.

All give a stable order: of elements of which neither comes first, those at lower places come first. So the outcome
is the same for every layout, engine and array library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from shardwright.runtime.kernels.elementwise import Array, Arrays, Body, total_order_key, widen


def ordered(xp: Any, keys: Arrays, axis: int, kinds: Sequence[tuple[bool, bool]]) -> Array:
    """
    The places along `axis` in the order of the keys, the first key first.

    `kinds` says for each key whether it descends, and whether floats are in their total order; else zeros are equal.

    >>> ordered(np, [np.array([1, 0, 1]), np.array([5, 6, 7])], 0, [(False, False), (True, False)]).tolist()
    [1, 2, 0]
    """
    order = None
    for key, (descends, total) in zip(reversed(keys), reversed(kinds), strict=True):
        ranks = ranking(xp, key, descends, total)
        sorted_so_far = ranks if order is None else taken(xp, ranks, order, axis)
        places = xp.argsort(sorted_so_far, axis=axis, kind="stable")
        order = places if order is None else taken(xp, order, places, axis)
    assert order is not None
    return order


def ranking(xp: Any, key: Array, descends: bool, total: bool) -> Array:
    """
    Integers or booleans that ascend in the order of the key; NaN is beyond the infinity of its sign.

    >>> zeros = np.float32([-0.0, 0.0])
    >>> ranking(np, zeros, False, True).tolist(), ranking(np, zeros, True, False).tolist()
    ([-1, 0], [-1, -1])
    """
    wide = widen(xp, key)
    if wide.dtype.kind == "f":
        wide = total_order_key(xp, wide if total else wide + wide.dtype.type(0))
    return ~wide if descends else wide


def largest(xp: Any, array: Array, k: int) -> Array:
    """
    The places of the `k` largest elements of each row, in descending order; floats in their total order.

    >>> largest(np, np.array([[1, 7, 3, 7]]), 3).tolist()
    [[1, 3, 2]]
    """
    return ordered(xp, [array], array.ndim - 1, [(True, True)])[..., :k]


def taken(xp: Any, array: Array, order: Array, axis: int) -> Array:
    """
    The elements along `axis` in the order given; other dims broadcast.

    >>> taken(np, np.array([[5, 6, 7]]), np.array([[2, 0]]), 1).tolist()
    [[7, 5]]
    """
    others = np.broadcast_shapes(*((*a.shape[:axis], 1, *a.shape[axis + 1 :]) for a in (array, order)))
    spread = [xp.broadcast_to(a, (*others[:axis], a.shape[axis], *others[axis + 1 :])) for a in (array, order)]
    return xp.take_along_axis(*spread, axis=axis)


def compared(xp: Any, body: Body, arrays: Arrays, axis: int) -> Array:
    """
    The places along `axis` in the order of a comparator, which takes two elements of each array.

    A network of comparisons, each made for many pairs at once: it permutes the elements whatever the comparator says.

    >>> compared(np, lambda x, y: (abs(x) < abs(y),), [np.array([3, -3, 1])], 0).tolist()
    [2, 0, 1]
    """
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    current = [xp.moveaxis(xp.broadcast_to(array, shape), axis, 0) for array in arrays]
    extent = shape[axis]
    places = xp.arange(extent).reshape((extent,) + (1,) * (len(shape) - 1))
    current.append(xp.broadcast_to(places, current[0].shape))
    for first, second in network(extent):
        _exchange(xp, body, current, first, second)
    return xp.moveaxis(current[-1], 0, axis)


def _exchange(xp: Any, body: Body, current: list[Array], first: Array, second: Array) -> None:
    """Puts each pair of rows in order; where neither comes first, the one at the lower place does."""
    low, high = [array[first] for array in current], [array[second] for array in current]
    keys = range(len(current) - 1)
    (before,) = body(*[side[at] for at in keys for side in (low, high)])
    (after,) = body(*[side[at] for at in keys for side in (high, low)])
    swap = xp.where(before == after, low[-1] > high[-1], after)
    for at, array in enumerate(current):
        changed = array.copy()
        changed[first] = xp.where(swap, high[at], low[at])
        changed[second] = xp.where(swap, low[at], high[at])
        current[at] = changed


def network(extent: int) -> Iterator[tuple[Array, Array]]:
    """
    Batcher's merge exchange (Knuth, volume 3, algorithm M): the pairs of places that each round compares.

    >>> [(low.tolist(), high.tolist()) for low, high in network(3)]
    [([0], [2]), ([0], [1]), ([1], [2])]
    """
    top = 1 << max(extent - 1, 0).bit_length() >> 1
    places = np.arange(extent)
    step = top
    while step:
        reach, residue, distance = top, 0, step
        while True:
            low = places[: extent - distance]
            low = low[(low & step) == residue]
            if low.size:
                yield low, low + distance
            if reach == step:
                break
            distance, reach, residue = reach - step, reach >> 1, step
        step >>= 1
