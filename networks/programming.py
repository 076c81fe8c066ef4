"""A network as an integer program, for HiGHS (SciPy, which loads on use)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from shardwright.networks.network import Costs, Network, Solution

__all__ = ["MOST_VARIABLES", "can_program", "program"]

MOST_VARIABLES = 1_000_000
"""Pairs of choices above which an integer program takes more memory and time than it is worth."""


def can_program(network: Network) -> bool:
    """Whether there is a solver for such programs (SciPy), and the network is small enough for it."""
    return find_spec("scipy") is not None and sum(map(np.size, network.edges.values())) <= MOST_VARIABLES


@dataclass
class _Rows:
    """A sparse matrix row by row, and what each row may come to."""

    rows: list[Costs] = field(default_factory=list[Costs])
    columns: list[Costs] = field(default_factory=list[Costs])
    factors: list[Costs] = field(default_factory=list[Costs])
    least: list[float] = field(default_factory=list[float])
    most: list[float] = field(default_factory=list[float])

    def add(self, columns: Costs, factors: Costs, least: float, most: float) -> None:
        """One more row."""
        self.rows.append(np.full(len(columns), len(self.least)))
        self.columns.append(columns)
        self.factors.append(factors)
        self.least.append(least)
        self.most.append(most)


def program(network: Network, seconds: float, bound: float = -math.inf) -> Solution:
    """
    The cheapest choices within `seconds`, and what is proved until then; `bound` is known already.

    A variable is one where a choice is taken, and for two neighbours where both are: those of a node add up to one, and
    those of an edge, by rows and by columns, to its nodes' choices.
    """
    optimize: Any = import_module("scipy.optimize")
    sparse: Any = import_module("scipy.sparse")
    starts = np.cumsum([0, *map(len, network.costs)])
    costs = list(network.costs)
    rows = _Rows()
    for start, cost in zip(starts, network.costs, strict=False):
        rows.add(start + np.arange(len(cost)), np.ones(len(cost)), 1, 1)
    count = int(starts[-1])
    for (a, b), matrix in network.edges.items():
        count = _edge(rows, matrix, (int(starts[a]), int(starts[b])), count)
        costs.append(matrix[np.isfinite(matrix)])
    _limit(rows, network, starts)
    objective = np.concatenate(costs)
    allowed = np.isfinite(objective)
    matrix = sparse.coo_array(
        (np.concatenate(rows.factors), (np.concatenate(rows.rows), np.concatenate(rows.columns))),
        shape=(len(rows.least), count),
    ).tocsr()
    result = optimize.milp(
        np.where(allowed, objective, 0.0),
        integrality=(np.arange(count) < starts[-1]).astype(int),
        bounds=optimize.Bounds(0, allowed.astype(float)),
        constraints=optimize.LinearConstraint(matrix, rows.least, rows.most),
        options={"time_limit": max(0.1, seconds), "mip_rel_gap": 0.0},
    )
    return _solution(network, result, starts, bound)


def _edge(rows: _Rows, matrix: Costs, starts: tuple[int, int], count: int) -> int:
    """The rows of an edge whose variables, one for each pair that is allowed, begin at `count`; where they end."""
    places = np.nonzero(np.isfinite(matrix))
    numbers = count + np.arange(len(places[0]))
    for side, start in enumerate(starts):
        for choice in range(matrix.shape[side]):
            mine = numbers[places[side] == choice]
            rows.add(np.append(mine, start + choice), np.append(np.ones(len(mine)), -1.0), 0, 0)
    return count + len(numbers)


def _limit(rows: _Rows, network: Network, starts: Costs) -> None:
    """What lives at the same time fits into memory."""
    memory = network.memory
    if memory is None:
        return
    for moment in memory.moments():
        alive = [node for node, (start, end) in enumerate(memory.lives) if start <= moment < end]
        columns = np.concatenate([starts[node] + np.arange(len(network.costs[node])) for node in alive])
        # In units: sums of bytes are too large for a solver's tolerances.
        used = np.concatenate([memory.usages[node] for node in alive]) / memory.unit
        rows.add(columns, used, -np.inf, memory.limit / memory.unit)


def _solution(network: Network, result: Any, starts: Costs, bound: float) -> Solution:
    if result.status == 2:
        return Solution(None, math.inf, math.inf)
    found = getattr(result, "mip_dual_bound", None)
    bound = bound if found is None or not math.isfinite(found) else max(bound, float(found))
    if result.x is None:
        return Solution(None, math.inf, bound)
    choices = _rounded(result.x, starts)
    value = network.value(choices)
    if not (math.isfinite(value) and network.fits(choices)):
        return Solution(None, math.inf, bound)
    return Solution(tuple(choices), value, min(bound, value))


def _rounded(values: Costs, starts: Costs) -> Sequence[int]:
    return [int(np.argmax(values[start:stop])) for start, stop in pairwise(starts)]
