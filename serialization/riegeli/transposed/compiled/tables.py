"""Tables from keys to numbers, in arrays of which the size is a power of two."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from shardwright.serialization.riegeli.transposed.compiled.numbers import NOWHERE, Array

MIXER = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, inline="always")
def place_of(keys: Array, key: int) -> Any:
    """Where a key stands in a table of a power of two places, or would stand."""
    mask = len(keys) - 1
    place = np.int64((np.uint64(key) * MIXER) >> np.uint64(32)) & mask
    while keys[place] != NOWHERE and keys[place] != key:
        place = (place + 1) & mask
    return place


@njit(cache=True, inline="always")
def numbered(keys: Array, numbers: Array, key: int, count: int) -> int:
    """The number of a key in a table; one that is new there gets `count`."""
    place = place_of(keys, key)
    if keys[place] == NOWHERE:
        keys[place], numbers[place] = key, count
    return numbers[place]


@njit(cache=True)
def table() -> Any:
    """A table of keys without any, and their numbers."""
    return np.full(64, NOWHERE, np.int64), np.empty(64, np.int64)


@njit(cache=True)
def roomy(keys: Array, numbers: Array, count: int) -> Any:
    """The table, with twice the room where half of it is taken."""
    if 2 * count < len(keys) - 2:
        return keys, numbers
    larger, moved = np.full(2 * len(keys), NOWHERE, np.int64), np.empty(2 * len(keys), np.int64)
    for place in range(len(keys)):
        if keys[place] != NOWHERE:
            numbered(larger, moved, keys[place], numbers[place])
    return larger, moved
