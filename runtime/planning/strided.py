"""Where a value's elements lie in a flat buffer: shape, strides and offset, and the views that keep them in place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Strided(NamedTuple):
    """
    A window on a flat buffer, in elements.

    >>> Strided.dense((2, 3)).transpose((1, 0))
    Strided(shape=(3, 2), strides=(1, 3), offset=0)
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @staticmethod
    def dense(shape: Sequence[int], order: Sequence[int] | None = None) -> Strided:
        """
        A window without gaps whose dims lie in memory in `order`, major to minor.

        >>> Strided.dense((2, 3), (1, 0)).strides
        (1, 2)
        """
        strides, step = [0] * len(shape), 1
        for dim in reversed(order if order is not None else range(len(shape))):
            strides[dim] = step
            step *= shape[dim]
        return Strided(tuple(shape), tuple(strides))

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def order(self) -> tuple[int, ...]:
        """The dims of more than one element, major to minor in memory; repeated ones (stride 0) first."""
        dims = [dim for dim, extent in enumerate(self.shape) if extent > 1]
        return tuple(sorted(dims, key=lambda dim: (self.strides[dim] != 0, -self.strides[dim])))

    def transpose(self, order: Sequence[int]) -> Strided:
        """Dim `i` of the result is dim `order[i]`."""
        return Strided(tuple(self.shape[dim] for dim in order), tuple(self.strides[dim] for dim in order), self.offset)

    def broadcast(self, shape: Sequence[int]) -> Strided:
        """Dims of size 1 repeated."""
        pairs = zip(shape, self.shape, self.strides, strict=True)
        return Strided(tuple(shape), tuple(step if new == old else 0 for new, old, step in pairs), self.offset)

    def slice(self, ranges: Sequence[tuple[int, int, int]]) -> Strided:
        """The elements `start:stop:step` of each dim."""
        shape = tuple(len(range(*item)) for item in ranges)
        strides = tuple(step * item[2] for step, item in zip(self.strides, ranges, strict=True))
        starts = (item[0] * step for step, item in zip(self.strides, ranges, strict=True))
        return Strided(shape, strides, self.offset + (sum(starts) if all(shape) else 0))

    def reshape(self, shape: Sequence[int]) -> Strided | None:
        """
        The same elements in row-major order under another shape; `None` when they would have to move.

        >>> Strided.dense((4, 6)).reshape((2, 2, 6)), Strided((2, 3), (1, 2)).reshape((6,))
        (Strided(shape=(2, 2, 6), strides=(12, 6, 1), offset=0), None)
        """
        if not self.size:
            return Strided.dense(shape)
        old = [(extent, step) for extent, step in zip(self.shape, self.strides, strict=True) if extent != 1]
        new = [extent for extent in shape if extent != 1]
        found: list[int] = []
        while new and old:
            taken, made = matching([extent for extent, _ in old], new)
            step = old[taken - 1][1]
            if any(old[at][1] != old[at + 1][0] * old[at + 1][1] for at in range(taken - 1)):
                return None
            found += [stride * step for stride in Strided.dense(new[:made]).strides]
            old, new = old[taken:], new[made:]
        steps = iter(found)
        return Strided(tuple(shape), tuple(0 if extent == 1 else next(steps) for extent in shape), self.offset)


def matching(old: Sequence[int], new: Sequence[int]) -> tuple[int, int]:
    """
    How many leading old and new extents hold the same number of elements: the fewest.

    >>> matching((2, 6, 5), (4, 3, 5))
    (2, 2)
    """
    taken = made = 1
    before, after = old[0], new[0]
    while before != after:
        if before < after:
            before, taken = before * old[taken], taken + 1
        else:
            after, made = after * new[made], made + 1
    return taken, made
