"""The chart of what a device holds while its program runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from shardwright.compiler.layouts.memory import Memory

POINTS = 400
"""How many moments a chart shows; of more, the highest of each so many is taken."""

WIDTH, HEIGHT, LEFT, TOP, BASE = 720, 200, 8, 24, 176
"""The size of the chart, and where its line can be."""


def points(memory: Memory) -> str:
    """The corners of the line in a chart of `WIDTH` by `HEIGHT`."""
    shown = thinned(memory.levels, POINTS)
    step = (WIDTH - 2 * LEFT) / max(len(shown) - 1, 1)
    scale = (BASE - TOP) / max(memory.peak, 1)
    return " ".join(f"{LEFT + at * step:.1f},{BASE - level * scale:.1f}" for at, level in enumerate(shown))


def thinned(levels: Sequence[int], most: int) -> list[int]:
    """
    At most so many levels, each the highest of those for which it stands.

    >>> thinned([1, 5, 2, 3, 9], 3)
    [5, 3, 9]
    """
    size = max(math.ceil(len(levels) / most), 1)
    return [max(levels[start : start + size]) for start in range(0, len(levels), size)]
