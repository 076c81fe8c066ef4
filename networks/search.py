"""Good choices for a network that is too wide to solve, with a bound, under a limit of memory or without one."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence

import numpy as np

from shardwright.networks.descent import Descent
from shardwright.networks.messages import Messages
from shardwright.networks.network import Costs, Memory, Network, Solution

__all__ = ["search"]

IDLE = 24
"""So many rounds without anything found are the last."""

PRESSES = 24
"""So many times a price of memory is raised to have choices keep the limit."""

FRUGAL = 10.0
"""What using up the whole limit of memory is taken to cost, in forbidden choices, where a search begins frugally."""


def search(network: Network, end: float, floor: float = -math.inf, rounds: int | None = None) -> Solution:
    """
    Rounds of better bounds and better choices until `end`, or until nothing changes any more; `rounds` of them at most.

    Memory has a price at each moment, which rises where a round's choices use too much and falls where there is
    room: what is cheapest with these prices, less the price of the whole limit, bounds what is cheapest within it.
    """
    return _Search(network, floor, end).run(rounds)


class _Search:
    def __init__(self, network: Network, floor: float, end: float):
        self.network = network
        self.end = end
        self.most = _most(network)
        self.messages = Messages(network, self.most)
        self.prices = _Prices(network)
        self.descent = Descent(network, [0] * len(network.costs), self.most)
        self.best: tuple[float, list[int] | None] = math.inf, None
        self.bound = floor

    def _is_over(self) -> bool:
        return time.monotonic() > self.end

    def run(self, rounds: int | None = None) -> Solution:
        """The best that is found until the end."""
        idle = 0
        if self.network.memory is not None:
            self._begin_frugally(self.network.memory)
        for number in itertools.count() if rounds is None else range(rounds):
            before = self.best[0], self.bound
            self._round(number)
            value, bound = self.best[0], self.bound
            gained = value < before[0] or bound > before[1] + 1e-4 * max(1.0, abs(before[1]))
            idle = 0 if gained else idle + 1
            if idle == IDLE or value - bound <= 1e-9 * max(1.0, abs(value)) or self._is_over():
                break
        value, choices = self.best
        return Solution(None if choices is None else tuple(choices), value, min(self.bound, value))

    def _begin_frugally(self, memory: Memory) -> None:
        """
        The choices that use least, as far as they are allowed together, improved one by one.

        Where the limit is tight, nothing near the cheapest choices keeps it.
        """
        descent, price = self.descent, FRUGAL * self.most / memory.unit
        descent.choices = [int(usage.argmin()) for usage in memory.usages]
        descent.alone = [cost + usage * price for cost, usage in zip(descent.alone, memory.usages, strict=True)]
        for _ in range(PRESSES):
            if math.isfinite(self.network.value(descent.choices)) or self._is_over():
                break
            descent.forest_step()
        self._improve_and_note()

    def _round(self, number: int) -> None:
        priced = self.prices.priced(self.network.costs, self.most)
        self.messages.alone = priced
        self.bound = max(self.bound, self.messages.sweep() - self.prices.whole())
        choices = self.messages.decode()
        # Every other round begins with the best so far, which forests then improve.
        self.descent.choices = choices if number % 2 == 0 or self.best[1] is None else list(self.best[1])
        self.descent.alone = priced
        self.descent.forest_step()
        self._settle()
        self.prices.move(self.network, choices, self.best[0] - self.bound, number)

    def _settle(self) -> None:
        """Has the choices keep the limit of memory, improves them one by one, and notes them if they are the best."""
        network, descent = self.network, self.descent
        for press in range(PRESSES):
            if network.fits(descent.choices) or self._is_over():
                break
            descent.alone = self.prices.pressed(network, descent.choices, self.most, 2.0**press)
            descent.forest_step()
        self._improve_and_note()

    def _improve_and_note(self) -> None:
        network, descent = self.network, self.descent
        descent.alone = [np.minimum(cost, self.most) for cost in network.costs]
        while descent.node_steps() and not self._is_over():
            pass
        value = network.value(descent.choices)
        if value < self.best[0] and network.fits(descent.choices):
            self.best = value, list(descent.choices)


class _Prices:
    """The price of memory at each time; none where there is no limit."""

    def __init__(self, network: Network):
        self.memory = network.memory
        count = 0 if self.memory is None else max((end for _, end in self.memory.lives), default=0)
        self.prices = np.zeros(count)
        self.scale = _scale(network)

    def priced(self, costs: Sequence[Costs], most: float) -> list[Costs]:
        """What choices cost with the memory that they use."""
        return self._with(self.prices, costs, most)

    def pressed(self, network: Network, choices: Sequence[int], most: float, factor: float) -> list[Costs]:
        """The same with a higher price wherever the choices at hand use too much."""
        assert self.memory is not None
        over = self.memory.excess(choices) > 0
        extra = np.where(over, factor * self.scale / max(1.0, over.sum()), 0.0)
        return self._with(self.prices + extra, network.costs, most)

    def whole(self) -> float:
        """What the whole limit costs."""
        return 0.0 if self.memory is None else float(self.prices.sum() * (self.memory.limit / self.memory.unit))

    def move(self, network: Network, choices: Sequence[int], gap: float, number: int) -> None:
        """A step of a subgradient: up where these choices use too much, down where they leave room."""
        if self.memory is None:
            return
        slope = self.memory.excess(choices)
        slope[(slope < 0) & (self.prices == 0)] = 0
        size = float((slope * slope).sum())
        if size > 0:
            step = (min(gap, self.scale) if math.isfinite(gap) else self.scale) / size
            self.prices = np.maximum(self.prices + step * slope / (1 + number / 8), 0)

    def _with(self, prices: Costs, costs: Sequence[Costs], most: float) -> list[Costs]:
        memory = self.memory
        if memory is None or not prices.any():
            return [np.minimum(cost, most) for cost in costs]
        sums = np.concatenate([[0.0], np.cumsum(prices)])
        return [
            np.minimum(cost, most) + usage * ((sums[end] - sums[start]) / memory.unit)
            for cost, usage, (start, end) in zip(costs, memory.usages, memory.lives, strict=True)
        ]


def _finite(network: Network) -> list[Costs]:
    return [costs[np.isfinite(costs)] for costs in (*network.costs, *network.edges.values())]


def _most(network: Network) -> float:
    """More than what any single cost should come to in a good solution: forbidden choices count as this much."""
    return 4.0 * max((float(np.abs(costs).max()) for costs in _finite(network) if costs.size), default=1.0) + 1.0


def _scale(network: Network) -> float:
    """Of which order the value of the network is."""
    return sum(float(np.median(np.abs(costs))) for costs in _finite(network) if costs.size) + 1.0
