"""The steps that follow each other, counted, and the transitions from one to the next, compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from shardwright.serialization.riegeli.chunks.codecs import Buffer
from shardwright.serialization.riegeli.transposed.compiled.numbers import Array
from shardwright.serialization.riegeli.transposed.compiled.tables import numbered, roomy, table
from shardwright.serialization.riegeli.transposed.states import Pairs


@njit(cache=True, nogil=True)
def _pairs(steps: Array, count: int) -> Any:
    """The pairs of a sequence of steps as numbers, how often each is there, and the sequence of their numbers."""
    keys, numbers = table()
    named, counts = np.empty(len(steps), np.int64), np.zeros(len(steps), np.int64)
    which, found = np.empty(len(steps) - 1, np.int32), 0
    for index in range(len(steps) - 1):
        key = np.int64(steps[index]) * count + steps[index + 1]
        number = numbered(keys, numbers, key, found)
        if number == found:
            named[found] = key
            found += 1
            keys, numbers = roomy(keys, numbers, found)
        counts[number] += 1
        which[index] = number
    return named[:found], counts[:found], which


def pairs(sequence: Any) -> Pairs:
    """As `states.pairs`."""
    steps = np.ascontiguousarray(np.asarray(sequence, np.int32)[::-1])
    count = int(steps.max()) + 1
    named, counts, which = _pairs(steps, count)
    found = zip((named // count).tolist(), (named % count).tolist(), strict=True)
    return Pairs(int(steps[0]), int(steps[-1]), dict(zip(found, counts.tolist(), strict=True)), which)


@njit(cache=True, nogil=True)
def _join(which: Array, jumps: Array, starts: Array, most: int) -> Any:
    """The bytes of transitions: the jumps of each pair, which start in one array at its place."""
    out, count = np.empty(most, np.uint8), 0
    for number in which:
        for place in range(starts[number], starts[number + 1]):
            if jumps[place] == 0 and count and out[count - 1] & 3 < 3:
                out[count - 1] += np.uint8(1)
            else:
                out[count] = jumps[place] << 2
                count += 1
    return out[:count]


def join(which: Any, ways: Sequence[bytes]) -> Buffer:
    """As `states.join`."""
    lengths = np.array([len(way) for way in ways], np.int64)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    jumps = np.frombuffer(b"".join(ways), np.uint8)
    return memoryview(_join(which, jumps, starts, int(lengths[which].sum())))
