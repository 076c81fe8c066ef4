"""How a window moves over one dim, in convolutions and in reductions over windows: sizes by arithmetic alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shardwright.layout.planning.window import Window


@dataclass(frozen=True, slots=True)
class Sweep:
    """
    A window of `size` elements, `dilation` apart, that starts every `stride` elements of a padded dim.

    `base` is the distance of the operand's elements in the padded dim, `low` and `high` are its edges (negative ones
    cut), and a reversed window reads back to front.

    >>> Sweep(3, stride=2, low=1, high=1).result(8)
    4
    """

    size: int
    stride: int = 1
    low: int = 0
    high: int = 0
    base: int = 1
    dilation: int = 1
    reverse: bool = False

    @property
    def reach(self) -> int:
        """The elements of the padded dim from the window's first to its last."""
        return (self.size - 1) * self.dilation + 1 if self.size else 0

    def padded(self, operand: int) -> int:
        """The size of the padded dim over `operand` elements; below zero when the edges cut more than there is."""
        return ((operand - 1) * self.base + 1 if operand else 0) + self.low + self.high

    def result(self, operand: int) -> int:
        """How often the window fits."""
        padded = self.padded(operand)
        return 0 if padded <= 0 or self.reach > padded else (padded - self.reach) // self.stride + 1

    @property
    def trivial(self) -> bool:
        """Whether each element is a window of its own."""
        return (self.size, self.stride, self.low, self.high, self.base) == (1, 1, 0, 0, 1)

    def blocks(self, operand: int) -> int | None:
        """
        Into how many blocks operand and result fall that have nothing to do with each other; None when windows cross.

        Either windows do not reach their successor, or elements stand so far apart that each makes its own block.

        >>> Sweep(2, stride=2).blocks(8), Sweep(2, low=1, high=1, base=2).blocks(8), Sweep(3, low=1, high=1).blocks(8)
        (4, 8, None)
        """
        result = self.result(operand)
        if self.base == 1:
            # As many whole strides as windows: none reaches its successor.
            apart = self.low == self.high == 0 and operand == result * self.stride
            return result if apart else None
        apart = self.stride == 1 and 0 <= self.low < self.base and self.reach <= self.low + 1
        return operand if apart and result == operand * self.base else None


def spread_back(sweep: Sweep, size: int) -> Sweep:
    """
    The window that brings each result of a window over `size` elements back to all elements that it was made of.

    >>> spread_back(Sweep(3, stride=2, low=1, high=1), 8)
    Sweep(size=3, stride=1, low=1, high=2, base=2, dilation=1, reverse=True)
    """
    low = sweep.reach - 1 - sweep.low
    results = (sweep.result(size) - 1) * sweep.stride + 1
    high = (size - 1) * sweep.base + sweep.reach - low - results
    return replace(sweep, stride=sweep.base, low=low, high=high, base=sweep.stride, reverse=not sweep.reverse)


@dataclass(frozen=True, slots=True)
class Halo:
    """What each part of a split dim needs: its frame of the operand, and how the window moves over the frame."""

    window: Window
    sweep: Sweep


def result_halo(sweep: Sweep, operand: int, parts: int) -> Halo:
    """
    The frames from which each of `parts` parts of the result comes.

    >>> found = result_halo(Sweep(3, low=1, high=1), 8, 4)
    >>> found.window.start, found.window.frame, found.window.step, found.sweep
    (-1, 4, 2, Sweep(size=3, stride=1, low=0, high=0, base=1, dilation=1, reverse=False))
    """
    count = sweep.result(operand) // parts
    reach = (count - 1) * sweep.stride + sweep.reach
    return _framed(sweep, operand, parts, -sweep.low, count * sweep.stride, reach)


def window_halo(sweep: Sweep, operand: int, parts: int) -> Halo:
    """
    The frames that each of `parts` parts of the window, itself split, passes over.

    >>> found = window_halo(Sweep(8, low=1, high=1), 8, 4)
    >>> found.window.start, found.window.frame, found.window.step, found.sweep.size
    (-1, 4, 2, 2)
    """
    size = sweep.size // parts
    mine = replace(sweep, size=size)
    step = size * sweep.dilation * (-1 if sweep.reverse else 1)
    start = -sweep.low + ((parts - 1) * size * sweep.dilation if sweep.reverse else 0)
    reach = (sweep.result(operand) - 1) * sweep.stride + mine.reach
    return _framed(mine, operand, parts, start, step, reach)


def _framed(sweep: Sweep, operand: int, parts: int, start: int, step: int, reach: int) -> Halo:
    """
    Frames of `reach` places, `step` places behind each other.

    Where the operand's elements stand alike in all frames, the frames hold these alone; else the holes as well.
    """
    base = sweep.base
    first, last = -(-start // base), (start + reach - 1) // base
    if step % base or last < first:
        window = Window(operand, parts * reach, start, 1, base, reach, step)
        return Halo(window, replace(sweep, low=0, high=0, base=1))
    count = last - first + 1
    low = first * base - start
    window = Window(operand, parts * count, first, frame=count, step=step // base)
    return Halo(window, replace(sweep, low=low, high=reach - low - (count - 1) * base - 1))
