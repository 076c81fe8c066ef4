"""
Random bits by counters, bit for bit as XLA makes them: ThreeFry 2x32 with 20 rounds, and Philox 4x32 with 10.

Every word depends on its own counter only, so all are made at once, in any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from shardwright.runtime.kernels.elementwise import NARROW_INTEGERS, Array, narrow

Words = tuple[Array, ...]
"""Words of 32 bits, low ones first, as arrays that broadcast."""

BLOCK = 1 << 14
"""Counters that are done at once: their words stay in the cache."""

_MASK = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)
WEYL = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)


def random_bits(xp: Any, state: Array, algorithm: str, shape: tuple[int, ...], name: str) -> tuple[Array, Array]:
    """
    The next state and integers of a dtype with random bits, from a state `(..., 2)` or `(..., 3)` of uint64.

    >>> following, bits = random_bits(np, np.uint64([5, 7]), "PHILOX", (2,), "uint32")
    >>> following.tolist(), bits.tolist()
    ([5, 8], [1957188081, 3299040168])
    """
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    generate = _threefry_bits if algorithm == "THREE_FRY" else _philox_bits
    following, bits = generate(xp, state.view(np.uint64), shape, wide=dtype.itemsize == 8)
    bits = bits.astype(np.int32) if dtype in NARROW_INTEGERS else bits
    return following.view(state.dtype), narrow(xp, bits, dtype)


def split_words(value: Array) -> tuple[Array, Array]:
    """The low and the high half of 64-bit words."""
    return (value & _MASK).astype(np.uint32), (value >> _HALF).astype(np.uint32)


def join_words(low: Array, high: Array) -> Array:
    """The 64-bit words with these halves."""
    return low.astype(np.uint64) | high.astype(np.uint64) << _HALF


def threefry(xp: Any, key: Words, counter: Words) -> tuple[Array, Array]:
    """Two random words for each counter of two words."""
    keys = [*key, key[0] ^ key[1] ^ PARITY]
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for group in range(5):
        for rotation in ROTATIONS[group % 2]:
            x = x + y
            y = x ^ (y << np.uint32(rotation) | y >> np.uint32(32 - rotation))
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def philox(key: Words, counter: Words) -> Words:
    """Four random words for each counter of four words."""
    a, b, c, d = counter
    low, high = key
    for _ in range(10):
        first, second = split_words(a * MULTIPLIERS[0]), split_words(c * MULTIPLIERS[1])
        a, b, c, d = second[1] ^ b ^ low, second[0], first[1] ^ d ^ high, first[0]
        low, high = low + WEYL[0], high + WEYL[1]
    return a, b, c, d


def _threefry_bits(xp: Any, state: Array, shape: tuple[int, ...], *, wide: bool) -> tuple[Array, Array]:
    """The next state, and bits of a shape: two words of 32 bits, or one of 64, for each counter."""
    start = state[..., 1]
    half, dim = (shape, None) if wide else halves(shape)
    count = math.prod(half)
    key = split_words(state[..., 0, None])

    def words(numbers: Array) -> Words:
        return threefry(xp, key, split_words(start[..., None] + numbers))

    made = _in_blocks(xp, words, state.shape[:-1], count, 2)
    following = xp.stack([state[..., 0], start + np.uint64(count)], -1)
    lead = state.shape[:-1]
    if dim is None:
        return following, join_words(made[..., 0], made[..., 1]).reshape((*lead, *shape))
    pair = xp.moveaxis(made.reshape((*lead, *half, 2)), -1, len(lead) + dim + 1)
    merged = pair.reshape((*lead, *half[:dim], 2 * half[dim], *half[dim + 1 :]))
    kept = (slice(None),) * (len(lead) + dim) + (slice(shape[dim] if shape else 1),)
    return following, merged[kept].reshape((*lead, *shape))


def _in_blocks(xp: Any, words: Callable[[Array], Words], lead: tuple[int, ...], count: int, width: int) -> Array:
    """The words of the counters that are so many after the first one, `width` for each, along the last dims."""
    made = xp.empty((*lead, count, width), np.uint32)
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        for place, word in enumerate(words(xp.arange(first, last, dtype=np.uint64))):
            made[..., first:last, place] = word
    return made


def halves(shape: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """The shape of the counters, which make two words each, and the dim along which these alternate."""
    if not shape:
        return (1,), 0
    even = [dim for dim, extent in enumerate(shape) if extent % 2 == 0]
    dim = even[0] if even else shape.index(max(shape))
    return (*shape[:dim], -(-shape[dim] // 2), *shape[dim + 1 :]), dim


def _philox_bits(xp: Any, state: Array, shape: tuple[int, ...], *, wide: bool) -> tuple[Array, Array]:
    """The next state, and bits of a shape: four words of 32 bits, or two of 64, for each counter of 128 bits."""
    low = state[..., 1]
    high = state[..., 2] if state.shape[-1] == 3 else state[..., 0]
    total = math.prod(shape)
    count = -(-total * (2 if wide else 1) // 4)
    key = split_words(state[..., 0, None])

    def words(numbers: Array) -> Words:
        lows = low[..., None] + numbers
        highs = high[..., None] + (lows < low[..., None])
        return philox(key, (*split_words(lows), *split_words(highs)))

    made = _in_blocks(xp, words, state.shape[:-1], count, 4)
    bits = join_words(made[..., 0::2], made[..., 1::2]) if wide else made
    last = low + np.uint64(count)
    following = [state[..., 0], last, high + (last < low)][: state.shape[-1]]
    lead = state.shape[:-1]
    return xp.stack(following, -1), bits.reshape((*lead, -1))[..., :total].reshape((*lead, *shape))
