"""
Windows: what a device needs from its neighbours when the elements of a split dim move.

Slices, pads and reversals are windows: element `i` of the result is element `start + stride * i` of the operand, or
padding where there is none. A *halo* is a window in frames that may overlap: each part of the result starts `step`
elements behind the one before. When operand and result are split alike, each device lacks a part of what it needs; an
exchange sends it exactly that, from whoever holds it.

Counting takes no time that grows with the parts: elements are lattice points, summed by `floor_sum`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

COUNTED = 1 << 10
"""The most frames of a dim that are looked at one by one."""


@dataclass(frozen=True, slots=True)
class Window:
    """
    How a dim of `operand` elements becomes one of `result` elements.

    The operand's elements stand `dilation` places apart. `result[i]` is what stands at place `start + stride * i`,
    padding where nothing does. In frames of `frame` elements, `result[f * frame + i]` is what stands at
    `start + step * f + stride * i`.
    """

    operand: int
    result: int
    start: int
    stride: int = 1
    dilation: int = 1
    frame: int = 0
    step: int = 0

    @property
    def moves(self) -> bool:
        """Whether any element changes its place, or the dim its size."""
        return (self.start, self.stride, self.dilation, self.frame) != (0, 1, 1, 0) or self.operand != self.result

    @property
    def blocks(self) -> int | None:
        """
        Into how many blocks both sides fall, each made from the one of the same number; None when elements cross them.

        >>> Window(8, 4, 1, 2).blocks, Window(8, 16, 0, dilation=2).blocks, Window(8, 8, 1).blocks
        (4, 8, None)
        """
        if self.dilation == 1:
            stays = self.operand == self.result * self.stride and 0 <= self.start < self.stride
            return self.result if stays and not self.frame else None
        stays = self.result == self.operand * self.dilation and 0 <= -self.start < self.dilation
        return self.operand if stays and self.stride == 1 and not self.frame else None

    @property
    def pads(self) -> bool:
        """Whether some elements of the result come from outside the operand."""
        return self.needed < self.result

    @property
    def common(self) -> int:
        """The dim splits into parts whose number divides this."""
        return math.gcd(self.operand, self.result // (self.frame or 1))

    @property
    def needed(self) -> int:
        """How many elements of the result come from the operand."""
        frames, frame, step = self.framed(1)
        return _places(frames, frame, self, self.start, step, 0, self.operand * self.dilation, 0)

    def held(self, parts: int) -> int:
        """How many of them come from the part of the operand with the number of their own part of the result."""
        frames, frame, step = self.framed(parts)
        each = frames // parts
        block = self.operand // parts * self.dilation
        return sum(
            _places(parts, frame, self, self.start + number * step, each * step, 0, block, block)
            for number in range(each)
        )

    def framed(self, parts: int) -> tuple[int, int, int]:
        """Number, size and step of frames that `parts` parts consist of; without any each part is one."""
        if self.frame:
            return self.result // self.frame, self.frame, self.step
        size = self.result // parts
        return parts, size, self.stride * size


def _places(frames: int, frame: int, window: Window, start: int, step: int, low: int, width: int, rise: int) -> int:
    """
    How many places of frames hold an element of the operand that stands in a range: `low + rise * f`, `width` long.

    Frame `f` has the places `start + step * f + stride * i`.
    """
    dilation, stride = window.dilation, window.stride
    if stride < 0:
        start, stride = start + (frame - 1) * stride, -stride
    period = dilation // math.gcd(dilation, step)
    share = math.gcd(dilation, stride)
    total = 0
    for first in range(min(period, frames)):
        place = start + step * first
        if place % share:
            continue
        skipped = -place // share * pow(stride // share, -1, dilation // share) % (dilation // share)
        line = _Line(
            -(-(frames - first) // period),
            max(0, -(-(frame - skipped) // (dilation // share))),
            stride * dilation // share,
        )
        begin = low + rise * first - place - stride * skipped
        slope = (rise - step) * period
        total += line.below(begin + width, slope) - line.below(begin, slope)
    return total


@dataclass(frozen=True, slots=True)
class _Line:
    """`rows` rows of the `count` numbers `0, stride, 2 * stride, ...`."""

    rows: int
    count: int
    stride: int

    def below(self, bound: int, slope: int) -> int:
        """How many numbers are below `bound + slope * row`, over all rows."""
        if slope < 0:
            bound, slope = bound + slope * (self.rows - 1), -slope
        full = self.count * self.stride - self.stride + 1
        if not self.count:
            return 0
        if not slope:
            return self.rows * max(0, min(self.count, -(-bound // self.stride)))
        first = max(0, min(self.rows, -((bound - 1) // slope)))
        last = max(first, min(self.rows, -((bound - full) // slope)))
        # In rows [first, last) some numbers are below: as many as the bound, rounded up, has strides.
        rounded = bound + slope * first + self.stride - 1
        return floor_sum(last - first, self.stride, slope, rounded) + (self.rows - last) * self.count


def floor_sum(count: int, divisor: int, slope: int, offset: int) -> int:
    """
    The sum of `(slope * i + offset) // divisor` for `i` in `range(count)`, as by Euclid's algorithm.

    >>> floor_sum(4, 3, 2, 1) == sum((2 * i + 1) // 3 for i in range(4))
    True
    """
    total = 0
    while count > 0:
        total += slope // divisor * (count * (count - 1) // 2) + offset // divisor * count
        slope, offset = slope % divisor, offset % divisor
        count, offset = divmod(slope * count + offset, divisor)
        divisor, slope = slope, divisor
    return total


@lru_cache(maxsize=4096)
def counts(window: Window, parts: int) -> tuple[Fraction, Fraction]:
    """
    The elements that a device needs along the dim, and those of them that it holds, on average over `parts` devices.

    Shifting eight elements by one over four devices, each but the first lacks one:

    >>> needed, held = counts(Window(8, 8, -1), 4)
    >>> str(needed), str(held)
    ('7/4', '1')

    Frames of four elements around two each, over the same devices:

    >>> needed, held = counts(Window(8, 16, -1, frame=4, step=2), 4)
    >>> str(needed), str(held)
    ('7/2', '2')
    """
    return Fraction(window.needed, parts), Fraction(window.held(parts), parts)


@lru_cache(maxsize=4096)
def givers(window: Window, parts: int) -> tuple[tuple[tuple[int, int], ...], ...] | None:
    """
    For each part of the result the parts of the operand that it needs something of, with the number of elements.

    None for more frames than are counted one by one.

    >>> givers(Window(8, 16, -1, frame=4, step=2), 4)
    (((0, 2), (1, 1)), ((0, 1), (1, 2), (2, 1)), ((1, 1), (2, 2), (3, 1)), ((2, 1), (3, 2)))
    """
    if window.operand % parts or window.result % parts or (window.frame or window.result) * parts == 0:
        return None
    frames, frame, step = window.framed(parts)
    if frames > COUNTED:
        return None
    width, each = window.operand // parts * window.dilation, frames // parts
    found: list[tuple[tuple[int, int], ...]] = []
    for part in range(parts):
        needed: dict[int, int] = {}
        for number in range(part * each, (part + 1) * each):
            start = window.start + step * number
            ends = sorted((start, start + window.stride * (frame - 1)))
            for giver in range(max(0, ends[0] // width), min(parts - 1, ends[1] // width) + 1):
                count = _places(1, frame, window, start, 0, giver * width, width, 0)
                if count:
                    needed[giver] = needed.get(giver, 0) + count
        found.append(tuple(sorted(needed.items())))
    return tuple(found)


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
