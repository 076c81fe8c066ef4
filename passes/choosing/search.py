"""The search for the best assignment: a beam over assignments, one named dim more at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property

from shardwright.passes.choosing.assignments import Assignment
from shardwright.passes.choosing.objective import Objective
from shardwright.passes.choosing.prices import Price, Prices

__all__ = ["Search"]

WIDTH = 6
"""
So many assignments go on from one round to the next.

One is too few: that a second axis pays is seen only once both are there.
"""

ROUNDS = 24
"""More named dims than any program here had use for; a round that finds nothing ends the search earlier."""

TOO_MUCH = 10
"""So many times what a program makes costs each share of the memory limit that is held beyond it."""


class Search:
    """
    The search for assignments that keep all devices busy and hold no more than a limit, and send or take least.

    As far as there are such: what is done twice, where bytes decide, and what is held beyond the limit, costs more than
    sending all that the program makes. Of those that cost the same, the shortest. A limit comes in once it is known
    what is best without one, or with a higher one: what fits is often that, and one axis more. It starts with what is
    best for a program like this one, where that is known.
    """

    def __init__(self, prices: Prices, objective: Objective, start: Sequence[Assignment] = ()):
        self.prices = prices
        self.objective = objective
        self._beam: list[Assignment] = [*start] or [((),) * len(prices.assigner.axes)]

    @cached_property
    def _free(self) -> list[Assignment]:
        return self._settled(self._beam, math.inf)

    @property
    def found(self) -> list[Assignment]:
        """What was best for the last limit."""
        return self._beam

    @property
    def holds_least(self) -> bool:
        """Whether of all that was looked at so far nothing holds less than what was best for the last limit."""
        of = self.prices.of
        return of(self._beam[0]).held <= min(of(each).held for each in self.prices.known())

    def best(self, limit: float) -> list[Assignment]:
        """The best assignments that hold at most so many bytes, the best first; without a limit, the search is anew."""
        self._beam = self._free if limit == math.inf else self._settled(self._beam, limit)
        return self._beam

    def beside(self, assignment: Assignment) -> float:
        """What an assignment costs beside what it sends."""
        price = self.prices.of(assignment)
        return self._cost(price, math.inf) - price.sent

    def known(self, held: float, near: float) -> list[Assignment]:
        """
        Those looked at so far with which a device holds at most so many bytes, the best first.

        And those that cost at most so many times as much as that.
        """
        of = self.prices.of
        costs = {each: self._cost(of(each), math.inf) for each in self.prices.known() if of(each).held <= held}
        least = min(costs.values(), default=0.0)
        found = [each for each, cost in costs.items() if cost <= near * least]
        return sorted(found, key=lambda each: (costs[each], sum(map(len, each)), each))

    def _settled(self, beam: list[Assignment], limit: float) -> list[Assignment]:
        """The beam where no change helps any more, the best first."""
        prices = self.prices

        def cost(assignment: Assignment) -> tuple[float, int, Assignment]:
            return self._cost(prices.of(assignment), limit), sum(map(len, assignment)), assignment

        for _ in range(ROUNDS):
            found = {*beam, *(near for each in beam for near in _near(each, prices.assigner.names))}
            different: dict[Price, Assignment] = {}
            for assignment in sorted(found, key=cost):
                different.setdefault(prices.of(assignment), assignment)
            best = list(different.values())[:WIDTH]
            if best == beam:
                break
            beam = best
        return beam

    def _cost(self, price: Price, limit: float) -> float:
        prices, objective = self.prices, self.objective
        above = max(0.0, price.held / max(limit, 1) - 1)
        idle = prices.everything * price.idle
        if objective.working is not None:
            idle = objective.working * (1 + price.idle) / prices.program.mesh.size
        made = objective.making * price.made + objective.holding * price.held
        return price.sent + made + idle + prices.everything * TOO_MUCH * above


def _near(assignment: Assignment, names: list[int]) -> Iterator[Assignment]:
    """Each way to give an axis one more named dim, before or after those that it has, or one less."""
    for place, has in enumerate(assignment):
        rest = [name for name in names if name not in has]
        ways = [way for name in rest for way in ((name, *has), (*has, name))]
        ways += [tuple(other for other in has if other != name) for name in has]
        for way in dict.fromkeys(ways):
            yield (*assignment[:place], way, *assignment[place + 1 :])
