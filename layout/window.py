"""
Windows: what a device needs from its neighbours when the elements of a split dim move.

Slices, pads and reversals are windows: element `i` of the result is element `start + stride * i` of the operand, or
padding where there is none. When operand and result are split alike, each device lacks a part of what it needs; an
exchange sends it exactly that, from whoever holds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

PARTS_LIMIT = 1 << 16
"""A dim that is split into more parts is not exchanged but gathered: counting takes time linear in the parts."""


@dataclass(frozen=True, slots=True)
class Window:
    """How a dim of `operand` elements becomes one of `result` elements: `result[i] = operand[start + stride * i]`."""

    operand: int
    result: int
    start: int
    stride: int = 1

    @property
    def moves(self) -> bool:
        """Whether any element changes its place, or the dim its size."""
        return (self.start, self.stride, self.operand) != (0, 1, self.result)

    @property
    def pads(self) -> bool:
        """Whether some elements of the result come from outside the operand."""
        return self.inside(0, self.result, 0, self.operand) < self.result

    @property
    def common(self) -> int:
        """The dim splits into parts whose number divides this."""
        return math.gcd(self.operand, self.result)

    def inside(self, first: int, stop: int, low: int, high: int) -> int:
        """How many `i` in `[first, stop)` come from operand elements in `[low, high)`."""
        if self.stride > 0:
            begin = -((self.start - low) // self.stride)
            end = -((self.start - high) // self.stride)
        else:
            begin = (self.start - high) // -self.stride + 1
            end = (self.start - low) // -self.stride + 1
        return max(0, min(stop, end) - max(first, begin))


@lru_cache(maxsize=4096)
def counts(window: Window, parts: int) -> tuple[Fraction, Fraction]:
    """
    The elements that a device needs along the dim, and those of them that it holds, on average over `parts` devices.

    Shifting eight elements by one over four devices, each but the first lacks one:

    >>> needed, held = counts(Window(8, 8, -1), 4)
    >>> str(needed), str(held)
    ('7/4', '1')
    """
    into, out = window.operand // parts, window.result // parts
    needed = held = 0
    for part in range(parts):
        first, stop = part * out, (part + 1) * out
        needed += window.inside(first, stop, 0, window.operand)
        held += window.inside(first, stop, part * into, (part + 1) * into)
    return Fraction(needed, parts), Fraction(held, parts)


def missing_elements(windows: Sequence[tuple[Window, int]]) -> Fraction:
    """
    The elements that each device lacks, on average, along dims that move, each split into a number of parts.

    Per element of the dims that do not move.
    """
    needed = held = Fraction(1)
    for window, parts in windows:
        mine, here = counts(window, parts)
        needed, held = needed * mine, held * here
    return needed - held
