"""
Elimination: nodes go one by one, and what they would best choose becomes a cost of their neighbours.

For each combination of its neighbours' choices a node has a best choice. So it can go, and leave a table over its
neighbours behind: none for a node alone, a vector for one with one neighbour, a matrix between two. In what order nodes
go decides how large the tables become; an order is a tree decomposition, and the largest table its width.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from shardwright.networks.network import Costs, Network

__all__ = ["Elimination"]

Scope = tuple[int, ...]

COMPARED = 4_000_000
"""So many pairs of costs are compared at most to see which choices of one node are never needed."""


@dataclass(frozen=True)
class _Gone:
    """A node that went: its best choice for the choices of the nodes around it, numbered as they were then."""

    node: int
    scope: Scope
    kept: tuple[Costs, ...]
    best: Costs


class Elimination:
    """
    A network from which nodes are taken, with what it takes to choose for them in the end.

    >>> elimination = Elimination(Network.build([[0, 3], [2, 0]], [((0, 1), [[0, 5], [5, 0]])]))
    >>> elimination.take(0)
    >>> elimination.take(1)
    >>> elimination.value, elimination.complete({})
    (2.0, [0, 0])
    """

    def __init__(self, network: Network):
        self.value = 0.0
        self.kept = [np.arange(len(cost)) for cost in network.costs]
        """For each node the choices that are left."""
        self.tables: dict[int, dict[Scope, Costs]] = {node: {(node,): cost} for node, cost in enumerate(network.costs)}
        """For each node that is left the tables that it stands in, by whose choices they are about."""
        for scope, matrix in network.edges.items():
            for node in scope:
                self.tables[node][scope] = matrix
        self.gone: list[_Gone] = []

    def around(self, node: int) -> set[int]:
        """The neighbours of a node."""
        return {other for scope in self.tables[node] for other in scope} - {node}

    def take(self, node: int) -> None:
        """Takes a node out of the network."""
        found = self.tables.pop(node)
        scope = (node, *sorted({other for each in found for other in each} - {node}))
        total = np.zeros([len(self.kept[each]) for each in scope])
        for each, table in found.items():
            total += _spread(each, table, scope)
        rest = scope[1:]
        self.gone.append(_Gone(node, rest, tuple(self.kept[each] for each in rest), self.kept[node][total.argmin(0)]))
        for each in found:
            for other in each:
                if other != node:
                    del self.tables[other][each]
        least = total.min(0)
        if not rest:
            self.value += float(least)
            return
        for other in rest:
            mine = self.tables[other]
            mine[rest] = mine[rest] + least if rest in mine else least

    def take_simple(self, most: int) -> None:
        """Takes nodes with at most two neighbours and tables of at most `most` entries, as long as there are any."""
        waiting = sorted(self.tables)
        while waiting:
            touched: set[int] = set()
            for node in waiting:
                if node not in self.tables:
                    continue
                around = self.around(node)
                size = math.prod(len(self.kept[each]) for each in (node, *around))
                if len(around) <= 2 and size <= most:
                    self.take(node)
                    touched |= around
            waiting = sorted(touched & self.tables.keys())

    def drop_dominated(self, usages: Sequence[Costs] | None = None) -> bool:
        """
        Drops choices next to which another of the same node never costs more, nor uses more; whether there were any.

        Only where tables are about two nodes at most.
        """
        dropped = False
        for node in sorted(self.tables):
            never = self._dominated(node, None if usages is None else usages[node][self.kept[node]])
            if never.any():
                self._keep(node, ~never)
                dropped = True
        return dropped

    def _dominated(self, node: int, usage: Costs | None) -> Costs:
        count = len(self.kept[node])
        never = np.zeros(count, dtype=bool)
        work = count * sum(table.size for scope, table in self.tables[node].items() if len(scope) > 1)
        if count < 2 or work > COMPARED:
            return never
        # By how much the choice of the row costs more, at worst, than that of the column.
        worst = np.zeros((count, count))
        with np.errstate(invalid="ignore"):
            for scope, table in self.tables[node].items():
                rows = table if scope[0] == node else table.T
                more = rows.reshape(count, 1, -1) - rows.reshape(1, count, -1)
                # What is forbidden for the column need not be looked at; the sum of both infinities decides nothing.
                more[np.broadcast_to(np.isinf(rows).reshape(1, count, -1), more.shape)] = -np.inf
                worst += more.max(2)
            better = worst <= 0
        if usage is not None:
            better &= usage[:, None] <= usage[None, :]
        np.fill_diagonal(better, False)
        for choice in reversed(range(count)):
            never[choice] = bool((better[:, choice] & ~never).any())
        return never

    def _keep(self, node: int, mask: Costs) -> None:
        self.kept[node] = self.kept[node][mask]
        for scope, table in list(self.tables[node].items()):
            kept = np.compress(mask, table, axis=scope.index(node))
            for each in scope:
                self.tables[each][scope] = kept

    def components(self) -> list[list[int]]:
        """The nodes that are left, those that hang together."""
        found: list[list[int]] = []
        seen: set[int] = set()
        for first in sorted(self.tables):
            if first in seen:
                continue
            seen.add(first)
            group = [first]
            for node in group:
                new = self.around(node) - seen
                seen |= new
                group += sorted(new)
            found.append(sorted(group))
        return found

    def order(self, nodes: Iterable[int], most: int) -> list[int] | None:
        """
        An order in which nodes can go with tables of at most `most` entries in all, the smallest always first.

        None where there is none that goes so.
        """
        around = {node: self.around(node) for node in nodes}
        logs = {node: math.log(len(self.kept[node])) for node in around}
        limit, spent = math.log(most), 0.0

        def weight(node: int) -> float:
            return logs[node] + math.fsum(logs[other] for other in around[node])

        heap = [(weight(node), node) for node in sorted(around)]
        heapq.heapify(heap)
        order: list[int] = []
        while heap:
            was, node = heapq.heappop(heap)
            if node not in around or was != weight(node):
                continue
            # An entry for each dim as well: NumPy has no arrays of more than 64 dims.
            if was > limit or len(around[node]) > 30:
                return None
            spent += math.exp(was)
            order.append(node)
            others = around.pop(node)
            for other in others:
                around[other] |= others
                around[other] -= {node, other}
            for other in sorted(others):
                heapq.heappush(heap, (weight(other), other))
        return order if spent <= most else None

    def core(self) -> tuple[list[int], Network]:
        """The nodes that are left, and the network between them; all tables must be about two nodes at most."""
        nodes = sorted(self.tables)
        numbers = {node: number for number, node in enumerate(nodes)}
        edges = {
            (numbers[scope[0]], numbers[scope[1]]): table
            for node in nodes
            for scope, table in self.tables[node].items()
            if len(scope) == 2 and scope[0] == node
        }
        return nodes, Network(tuple(self.tables[node][node,] for node in nodes), edges)

    def complete(self, chosen: dict[int, int]) -> list[int]:
        """The choices of all nodes, given those (as they were numbered first) of the nodes that are left."""
        choices = dict(chosen)
        for gone in reversed(self.gone):
            place = tuple(
                int(np.searchsorted(kept, choices[other])) for kept, other in zip(gone.kept, gone.scope, strict=True)
            )
            choices[gone.node] = int(gone.best[place])
        return [choices[node] for node in range(len(self.kept))]


def _spread(scope: Scope, table: Costs, onto: Scope) -> Costs:
    """A table with dims for all nodes of `onto`, in their order, of size one where it is not about them."""
    present = [node for node in onto if node in scope]
    turned = table.transpose([scope.index(node) for node in present])
    sizes = dict(zip(present, turned.shape, strict=True))
    return turned.reshape([sizes.get(node, 1) for node in onto])
