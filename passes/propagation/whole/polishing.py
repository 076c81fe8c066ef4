"""The smallest programs: layouts are changed one or two at a time, as long as what is really sent is less."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from shardwright.passes.program import Dims, Program
from shardwright.passes.propagation.whole.choices import Choices

__all__ = ["MOST_OPS", "polished", "shares"]

MOST_OPS, MOST_VISITS = 8, 240
"""
Ops of a program that is looked at so, and visits of ops that are spent on it, at about a millisecond each.

The network prices what ops share in part only: who needs a copy that is there for another, and in which layout it is
made of which. Of 313 random programs of up to 8 ops brute force found something better in 28, and in 3 after this.
"""

Outcome = TypeVar("Outcome")


def shares(program: Program) -> bool:
    """Whether some value is read at several places, so that what is made of it may be shared."""
    read = Counter(value for node in program.nodes for value in node.operands if not program.free[value])
    read.update(program.numbers[value] for value in program.return_op.operands)
    return any(count > 1 for count in read.values())


def polished(
    choices: Choices,
    movable: Sequence[int],
    dims: list[Dims],
    count: Callable[[list[Dims]], Outcome],
    beats: Callable[[Outcome, Outcome], bool],
) -> list[Dims]:
    """The layouts that no change of one or two of the movable values improves, as far as tries go."""
    best, outcome = list(dims), count(dims)
    tries = itertools.count()
    most = MOST_VISITS // len(choices.program.nodes)
    while True:
        for change in _changes(choices, movable, best):
            if next(tries) >= most:
                return best
            changed = list(best)
            for value, layout in change:
                changed[value] = layout
            found = count(changed)
            if beats(found, outcome):
                best, outcome = changed, found
                break
        else:
            return best


def _changes(choices: Choices, movable: Sequence[int], dims: Sequence[Dims]) -> Iterator[tuple[tuple[int, Dims], ...]]:
    """Each other layout of each value, then of each two values."""
    others = {
        value: [(value, layout) for layout in choices.layouts(value) if layout != dims[value]] for value in movable
    }
    yield from ((change,) for value in movable for change in others[value])
    for first, second in itertools.combinations(movable, 2):
        yield from itertools.product(others[first], others[second])
