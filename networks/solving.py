"""`solve`: the cheapest choices of a network, exactly where it can be done, else with a bound."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

from shardwright.networks.elimination import Elimination
from shardwright.networks.network import Memory, Network, Solution
from shardwright.networks.programming import can_program, program
from shardwright.networks.search import search

__all__ = ["MOST_ENTRIES", "eliminated", "solve"]

MOST_ENTRIES = 20_000_000
"""Entries of all tables together up to which a network is solved by elimination: a second's work."""

SIMPLE = 4_000_000
"""The entries of one table up to which nodes with two neighbours go."""

SEARCHED, ROUNDS = 0.25, 24
"""The part of the time, and the rounds, for looking for good choices before an integer program is tried."""


def solve(network: Network, seconds: float = 60.0) -> Solution:
    """
    The cheapest choices for a network, within `seconds`.

    By elimination where the network is narrow enough, which takes no time to speak of; else by local search with a
    bound and, with SciPy, as an integer program. A limit of memory is left out at first: where it is kept all the
    same, that was it. Equal networks give equal solutions, if time does not end the search.

    >>> solve(Network.build([[0, 3], [2, 0]], [((0, 1), [[0, 5], [5, 0]])])).choices
    (0, 0)
    """
    end = time.monotonic() + seconds
    unlimited = replace(network, memory=None)
    found, rest = eliminated(unlimited, MOST_ENTRIES)
    if not found.tables:
        solution = _completed(unlimited, found, ())
        if not math.isfinite(solution.value):
            return Solution(None, math.inf, math.inf)
        if solution.choices is not None and network.fits(solution.choices):
            return solution
        floor = solution.value
    else:
        floor = -math.inf
    if network.memory is None:
        core = _hard(rest, end)
        return _completed(network, found, (core,)) if core.choices is not None else core
    return _within_memory(network, floor, end)


def eliminated(network: Network, most: int) -> tuple[Elimination, Network]:
    """The network without the nodes that can go, as far as tables of `most` entries in all allow, and what is left."""
    found = Elimination(network)
    found.take_simple(min(most, SIMPLE))
    while found.drop_dominated():
        found.take_simple(min(most, SIMPLE))
    for group in found.components():
        order = found.order(group, most)
        for node in order or ():
            found.take(node)
    return found, found.core()[1]


def _completed(network: Network, found: Elimination, cores: Sequence[Solution]) -> Solution:
    """The solution of a whole network from that of what elimination left of it."""
    nodes = sorted(found.tables)
    chosen = {
        node: int(found.kept[node][choice])
        for core in cores
        for node, choice in zip(nodes, core.choices or (), strict=True)
    }
    choices = tuple(found.complete(chosen))
    value = network.value(choices)
    bound = value if all(core.proved for core in cores) else found.value + math.fsum(core.bound for core in cores)
    return Solution(choices, value, min(bound, value))


def _within_memory(network: Network, floor: float, end: float) -> Solution:
    """The same with a limit of memory that binds; `floor` is what is cheapest without it."""
    memory = network.memory
    assert memory is not None
    found = Elimination(replace(network, memory=None))
    while found.drop_dominated(memory.usages):
        pass
    nodes, core = found.core()
    usages = tuple(usage[kept] for usage, kept in zip(memory.usages, found.kept, strict=True))
    core = replace(core, memory=Memory(memory.limit, usages, memory.lives))
    solution = _hard(core, end, floor)
    if solution.choices is None:
        return solution
    choices = tuple(int(found.kept[node][choice]) for node, choice in zip(nodes, solution.choices, strict=True))
    return replace(solution, choices=choices)


def _hard(network: Network, end: float, floor: float = -math.inf) -> Solution:
    """What elimination cannot solve: the best that search finds, or an integer program in the rest of the time."""
    now = time.monotonic()
    programs = can_program(network)
    best = search(network, now + (end - now) * (SEARCHED if programs else 1.0), floor, ROUNDS if programs else None)
    if best.proved or not programs:
        return best
    other = program(network, end - time.monotonic(), best.bound)
    if other.choices is None and math.isfinite(other.bound):
        return replace(best, bound=min(best.value, max(best.bound, other.bound)))
    bound = max(best.bound, other.bound)
    better = min(best, other, key=lambda each: each.value)
    return replace(better, bound=min(better.value, bound))
