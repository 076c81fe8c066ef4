"""The search for the assignment that sends least: a beam over assignments, one named dim more at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator

from shardwright.passes.choosing.assignments import Assignment
from shardwright.passes.choosing.prices import Price, Prices

__all__ = ["Search"]

WIDTH = 6
"""
So many assignments go on from one round to the next.

One is too few: that a second axis pays is seen only once both are there.
"""

ROUNDS = 24
"""More named dims than any program here had use for; a round that finds nothing ends the search earlier."""

MAKING, HOLDING = 0.01, 1e-4
"""
What it costs to make a byte, and to hold one, in bytes sent: little, so that they decide where nothing else does.
"""

TOO_MUCH = 10
"""So many times what a program makes costs each share of the memory limit that is held beyond it."""


class Search:
    """
    The search for assignments that keep all devices busy and hold no more than a limit, and send least.

    As far as there are such: what is done twice, and what is held beyond the limit, costs more than sending all that
    the program makes. Of those that cost the same, the shortest. A limit comes in once it is known what is best
    without one, or with a higher one: what fits is often that, and one axis more.
    """

    def __init__(self, prices: Prices):
        self.prices = prices
        self._beam: list[Assignment] = [((),) * len(prices.assigner.axes)]
        self._settle(math.inf)

    def best(self, limit: float) -> Assignment:
        """The best assignment that holds at most so many bytes."""
        if limit < math.inf:
            self._settle(limit)
        return self._beam[0]

    def _settle(self, limit: float) -> None:
        """Moves the beam to where no change helps any more, the best first."""
        prices = self.prices

        def cost(assignment: Assignment) -> tuple[float, int, Assignment]:
            return _cost(prices, prices.of(assignment), limit), sum(map(len, assignment)), assignment

        for _ in range(ROUNDS):
            found = {*self._beam, *(near for each in self._beam for near in _near(each, prices.assigner.names))}
            different: dict[Price, Assignment] = {}
            for assignment in sorted(found, key=cost):
                different.setdefault(prices.of(assignment), assignment)
            best = list(different.values())[:WIDTH]
            if best == self._beam:
                break
            self._beam = best


def _cost(prices: Prices, price: Price, limit: float) -> float:
    above = max(0.0, price.held / limit - 1)
    return price.sent + MAKING * price.made + HOLDING * price.held + prices.everything * (price.idle + TOO_MUCH * above)


def _near(assignment: Assignment, names: list[int]) -> Iterator[Assignment]:
    """Each way to give an axis one more named dim, before or after those that it has, or one less."""
    for place, has in enumerate(assignment):
        rest = [name for name in names if name not in has]
        ways = [way for name in rest for way in ((name, *has), (*has, name))]
        ways += [tuple(other for other in has if other != name) for name in has]
        for way in dict.fromkeys(ways):
            yield (*assignment[:place], way, *assignment[place + 1 :])
