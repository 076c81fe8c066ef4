"""
Where partial sums are finished, for all readers at once: a minimum cut.

An op that is linear in its operands may run on partial sums, or on finished ones; any other reader needs them finished.
A value that an op leaves partial is finished at most once, for all readers that need it so. So each op stands on one of
two sides, and a price is due for each value whose maker is on the partial side and one of whose readers is not: what is
least in all is a minimum cut between the ops that make partial sums and the readers that need them finished.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from shardwright.networks.components import Components

UNITS = 1 << 10
"""Prices are whole numbers of so many parts of a byte: fractions would make equal ways differ."""


@dataclass(frozen=True, slots=True)
class Sum:
    """
    A value that may be partial: who makes it, who can take it as it is, and what it costs to finish it.

    Ops go by number. `price` is due where the value is finished, `more` besides where its maker runs on partial sums.
    """

    maker: int | None
    """The op that makes it, if that may run on partial sums."""
    price: float
    more: float
    takers: tuple[int, ...]
    """The ops that may run on it while it is partial."""
    handed: bool = False
    """Whether it is partial only where its maker runs on partial sums."""
    needed: bool = False
    """Whether someone needs it finished."""
    kept: tuple[int, ...] = ()
    """The takers inside of the loop that carries it: they run on partial sums where that is what it carries."""
    broken: bool = False
    """Whether someone inside of that loop needs it finished."""


Vertex: TypeAlias = "tuple[str, int]"
"""An op or a value: a word for what it is, and its number."""


def finished_ops(sums: Iterable[Sum]) -> set[int]:
    """
    The ops that are to run on finished operands, so that all sums together cost the least; of equal ways the earliest.

    Two sums that an op adds up are finished as one; once somebody needs one of them, that is in vain:

    >>> one, other, both = Sum(None, 8, 0, (2,)), Sum(None, 8, 0, (2,)), Sum(2, 0, 8, (), handed=True, needed=True)
    >>> finished_ops([one, other, both])
    set()
    >>> finished_ops([Sum(None, 8, 0, (2,), needed=True), Sum(None, 0, 0, (2,)), both])
    {2}
    """
    return _Division(sums).finished()


class _Division:
    """Ops and values as vertices. An edge is what it costs to have only the first of two on the finished side."""

    def __init__(self, sums: Iterable[Sum]):
        self.edges: defaultdict[Vertex, dict[Vertex, int | None]] = defaultdict(dict)
        """For each vertex those that an edge leads to, with what it costs to cut that; None where it cannot be cut."""
        self.prices: dict[Vertex, int] = {}
        self.needed: list[Vertex] = []
        for number, each in enumerate(sums):
            self._add(("value", number), each)

    def _add(self, value: Vertex, found: Sum) -> None:
        self.prices[value] = round(found.price * UNITS)
        takers = [("op", taker) for taker in found.takers]
        for taker in takers:
            self.edges[taker][value] = None
        if found.needed:
            self.needed.append(value)
        if found.maker is None:
            return
        maker = ("op", found.maker)
        self.edges[value][maker] = round(found.more * UNITS)
        if found.handed:
            self.edges[maker] |= dict.fromkeys(takers)
        for taker in found.kept:
            self.edges["op", taker][maker] = None
        if found.broken:
            self.needed.append(maker)

    def finished(self) -> set[int]:
        """The numbers of the ops on the finished side."""
        found = self._settled()
        demands = Counter[Vertex]()
        for vertex in found:
            for maker, due in self.edges[vertex].items():
                if maker not in found:
                    demands[maker] += due or 0
        # What is left is a few small graphs, each to be cut on its own, where anything is left to choose at all.
        left: Components[Vertex] = Components(demands)
        for vertex, others in self.edges.items():
            if vertex not in found:
                left.tie(vertex, *(other for other in others if other not in found))
        for part in map(set, left.sets()):
            if not demands.keys().isdisjoint(part):
                found |= self._cut(part, demands)
        return {number for kind, number in found if kind == "op"}

    def _settled(self) -> set[Vertex]:
        """What is needed finished, and what follows from that whatever it costs."""
        found, waiting = set(self.needed), list(self.needed)
        while waiting:
            for follower, due in self.edges[waiting.pop()].items():
                if due is None and follower not in found:
                    found.add(follower)
                    waiting.append(follower)
        return found

    def _cut(self, part: set[Vertex], demands: Mapping[Vertex, int]) -> set[Vertex]:
        """The finished side of a part; of cheapest cuts that with the most on it, which is the one nearest the sink."""
        # Vertices by their rank: equal layers have equal parts, of which one is cut.
        order = sorted(part)
        rank = {vertex: at for at, vertex in enumerate(order)}
        edges = tuple(
            (rank[vertex], rank[follower], due)
            for vertex in order
            for follower, due in self.edges[vertex].items()
            if follower in rank
        )
        side = _finished_side(edges, tuple(map(demands.get, order)), tuple(map(self.prices.get, order)))
        return {order[at] for at in side}


@lru_cache(maxsize=4096)
def _finished_side(
    edges: tuple[tuple[int, int, int | None], ...], demands: tuple[int | None, ...], prices: tuple[int | None, ...]
) -> frozenset[int]:
    """`_Division._cut` of a graph whose vertices are numbers; without a capacity an edge cannot be cut."""
    import networkx as nx

    finished, partial = -1, -2
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from((finished, partial))
    for vertex, follower, capacity in edges:
        graph.add_edge(vertex, follower, **({} if capacity is None else {"capacity": capacity}))
    graph.add_edges_from((finished, at, {"capacity": due}) for at, due in enumerate(demands) if due is not None)
    graph.add_edges_from((at, partial, {"capacity": due}) for at, due in enumerate(prices) if due is not None)
    return frozenset(nx.minimum_cut(graph, finished, partial)[1][0] - {finished})
