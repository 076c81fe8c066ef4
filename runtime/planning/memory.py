"""The memory plan: where in one arena each buffer lies, so that buffers that are never alive together share bytes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from operator import itemgetter
from typing import TypeVar

_ALIGNMENT = 64
"""Bytes to whose multiples buffers start: a cache line, and the widest vector."""

Key = TypeVar("Key", bound=Hashable)


def assign_offsets(lives: Mapping[Key, tuple[int, int]], sizes: Mapping[Key, int]) -> tuple[dict[Key, int], int, int]:
    """
    An offset for each buffer, the size of the arena, and the most bytes alive at once.

    `lives` gives the first and the last unit that touches each buffer. Free ranges are kept in order and joined; each
    buffer takes the smallest range that holds it.

    >>> assign_offsets({"a": (0, 1), "b": (1, 2), "c": (2, 3)}, {"a": 64, "b": 64, "c": 64})
    ({'a': 0, 'b': 64, 'c': 0}, 128, 128)
    """
    offsets: dict[Key, int] = {}
    ends: dict[int, list[Key]] = {}
    free: list[tuple[int, int]] = []  # (start, extent)
    top = alive = peak = 0
    starts = sorted(lives, key=lambda key: lives[key][0])
    last = -1
    for key in starts:
        first, end = lives[key]
        for moment in range(last, first):
            for gone in ends.pop(moment, ()):
                alive -= _rounded(sizes[gone])
                free = _released(free, offsets[gone], _rounded(sizes[gone]))
        last = first
        need = _rounded(sizes[key])
        fits = [span for span in free if span[1] >= need]
        if fits:
            start, extent = min(fits, key=itemgetter(1))
            free.remove((start, extent))
            if extent > need:
                free = sorted([*free, (start + need, extent - need)])
        else:
            start, top = top, top + need
        offsets[key] = start
        alive += need
        peak = max(peak, alive)
        ends.setdefault(end, []).append(key)
    return offsets, top, peak


def _rounded(size: int) -> int:
    return max(-(-size // _ALIGNMENT), 1) * _ALIGNMENT


def _released(free: list[tuple[int, int]], start: int, extent: int) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for span in sorted([*free, (start, extent)]):
        if joined and joined[-1][0] + joined[-1][1] == span[0]:
            joined[-1] = joined[-1][0], joined[-1][1] + span[1]
        else:
            joined.append(span)
    return joined
