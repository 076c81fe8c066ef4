"""`Network`: nodes with choices, what each choice costs, and what two neighbours' choices cost together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Costs", "Memory", "Network", "Solution"]

Costs: TypeAlias = "np.ndarray[Any, Any]"
"""Of float64; infinite where a choice, or a pair of choices, is forbidden."""

Edges: TypeAlias = "Mapping[tuple[int, int], Costs]"


@dataclass(frozen=True)
class Memory:
    """
    A limit on what all choices use together at any time.

    `usages` has for each node what each choice uses, `lives` the times from which and until which (exclusively) it
    uses it.
    """

    limit: float
    usages: tuple[Costs, ...]
    lives: tuple[tuple[int, int], ...]

    @property
    def unit(self) -> float:
        """What use is measured in where numbers of another size would be lost in rounding: the limit, if it is any."""
        return self.limit or 1.0

    def profile(self, choices: Sequence[int]) -> Costs:
        """What is used at each time, from 0 to the last end."""
        steps = np.zeros(max((end for _, end in self.lives), default=0) + 1)
        for usage, (start, end), choice in zip(self.usages, self.lives, choices, strict=True):
            if start < end:
                steps[start] += usage[choice]
                steps[end] -= usage[choice]
        return np.cumsum(steps)[:-1]

    def excess(self, choices: Sequence[int]) -> Costs:
        """By how many units the limit is passed at each time; below zero where it is kept."""
        return self.profile(choices) / self.unit - self.limit / self.unit

    def peak(self, choices: Sequence[int]) -> float:
        """The most that is used at any time."""
        return float(np.max(self.profile(choices), initial=0.0))

    def moments(self) -> list[int]:
        """The times that matter: at any other no more is used than at one of these, whatever is chosen."""
        marks = sorted({(start, 1) for start, end in self.lives if start < end} | {(end, 0) for _, end in self.lives})
        # Use is greatest where lives begin, right before the next one ends.
        return [
            time for (time, begins), (_, follows) in zip(marks, [*marks[1:], (0, 0)], strict=True) if begins > follows
        ]


@dataclass(frozen=True)
class Network:
    """
    Nodes by number: `costs` has a vector for each, `edges` a matrix for two, the one of the smaller number first.

    >>> network = Network.build([[0, 3], [2, 0]], [((1, 0), [[0, 5], [5, 0]])])
    >>> network.value([0, 0]), network.value([0, 1])
    (2.0, 5.0)
    """

    costs: tuple[Costs, ...]
    edges: Edges
    memory: Memory | None = None

    @classmethod
    def build(
        cls,
        costs: Iterable[ArrayLike],
        edges: Iterable[tuple[tuple[int, int], ArrayLike]] = (),
        memory: Memory | None = None,
    ) -> Network:
        """A network of any sequences; several edges between two nodes add up, and one from a node to itself is its."""
        vectors = [np.array(each, dtype=np.float64) for each in costs]
        matrices: dict[tuple[int, int], Costs] = {}
        for (a, b), given in edges:
            matrix = np.asarray(given, dtype=np.float64).reshape(len(vectors[a]), len(vectors[b]))
            if a == b:
                vectors[a] = vectors[a] + np.diagonal(matrix)
                continue
            key, turned = ((a, b), matrix) if a < b else ((b, a), matrix.T)
            matrices[key] = matrices[key] + turned if key in matrices else turned
        return cls(tuple(vectors), matrices, memory)

    def value(self, choices: Sequence[int]) -> float:
        """What these choices, one for each node, cost together."""
        alone = [float(cost[choice]) for cost, choice in zip(self.costs, choices, strict=True)]
        return math.fsum([*alone, *(float(cost[choices[a], choices[b]]) for (a, b), cost in self.edges.items())])

    def fits(self, choices: Sequence[int]) -> bool:
        """Whether these choices keep the limit of memory, if there is one."""
        return self.memory is None or self.memory.peak(choices) <= self.memory.limit

    def around(self) -> list[list[tuple[int, Costs]]]:
        """For each node its neighbours, each with the matrix that has this node's choices as rows."""
        found: list[list[tuple[int, Costs]]] = [[] for _ in self.costs]
        for (a, b), matrix in self.edges.items():
            found[a].append((b, matrix))
            found[b].append((a, matrix.T))
        return found


@dataclass(frozen=True)
class Solution:
    """
    One choice for each node, what they cost together, and a bound: no choices cost less than `bound`.

    `choices` is None where none was found that keeps the limit of memory and costs less than infinitely much.
    """

    choices: tuple[int, ...] | None
    value: float
    bound: float

    @property
    def gap(self) -> float:
        """By which part of its value the solution may cost more than the least: 0 where it is known to be the least."""
        if self.proved:
            return 0.0
        return (self.value - self.bound) / max(abs(self.value), 1e-9) if math.isfinite(self.value) else math.inf

    @property
    def proved(self) -> bool:
        """Whether nothing costs less, but for rounding in the ninth digit."""
        if math.isinf(self.value):
            return self.value == self.bound
        return self.value - self.bound <= 1e-9 * max(1.0, abs(self.value))
