"""
A bound for networks that are too wide to solve: costs move between nodes and edges until their least add up to more.

Where each node and each edge takes its own least, nothing costs less than the sum of those. Moving costs from an edge
to its nodes and back (a reparametrisation) changes no solution's value, but that sum: each node in turn collects what
its edges cost it at least, and deals it out to the edges that lead on.
"""

from __future__ import annotations

import math
from copy import copy

import numpy as np

from shardwright.networks.network import Costs, Network

__all__ = ["Messages"]


class Messages:
    """What the edges of a network have given to their nodes so far; costs count as at most `most`."""

    def __init__(self, network: Network, most: float):
        self.most = most
        self.alone = [np.minimum(cost, most) for cost in network.costs]
        """What choices cost by themselves; may be changed between sweeps."""
        self.ends = sorted(network.edges)
        self.matrices = [np.minimum(network.edges[ends], most) for ends in self.ends]
        self.given = [(np.zeros(matrix.shape[0]), np.zeros(matrix.shape[1])) for matrix in self.matrices]
        """For each edge what it has given to its first and to its second node."""
        self.edges: list[list[tuple[int, int]]] = [[] for _ in self.alone]
        """For each node its edges, and whether it is the first or the second there."""
        for edge, (a, b) in enumerate(self.ends):
            self.edges[a].append((edge, 0))
            self.edges[b].append((edge, 1))

    def chosen(self, node: int, choice: int) -> Messages:
        """The same, as far as it is by now, for the network in which a node has one choice alone."""
        found = copy(self)
        found.alone, found.given = list(self.alone), list(self.given)
        only = np.full_like(self.alone[node], self.most)
        only[choice] = self.alone[node][choice]
        found.alone[node] = only
        return found

    def sweep(self) -> float:
        """Moves costs forwards through all nodes, and back; what nothing costs less than."""
        for node in range(len(self.alone)):
            self._pass(node, onwards=0)
        for node in reversed(range(len(self.alone))):
            self._pass(node, onwards=1)
        return self.bound()

    def bound(self) -> float:
        """The sum of the least of each node and each edge."""
        nodes = (float(self._total(node).min()) for node in range(len(self.alone)))
        edges = (
            float((matrix - first[:, None] - second).min())
            for matrix, (first, second) in zip(self.matrices, self.given, strict=True)
        )
        return math.fsum([*nodes, *edges])

    def decode(self) -> list[int]:
        """Choices node by node: with those before as they are, with those after as far as costs have come over."""
        choices: list[int] = []
        for node, alone in enumerate(self.alone):
            total = alone.copy()
            for edge, side in self.edges[node]:
                other = self.ends[edge][1 - side]
                total += self._row(edge, side, choices[other]) if other < node else self.given[edge][side]
            choices.append(int(total.argmin()))
        return choices

    def _row(self, edge: int, side: int, choice: int) -> Costs:
        matrix = self.matrices[edge]
        return matrix[:, choice] if side == 0 else matrix[choice]

    def _total(self, node: int) -> Costs:
        return self.alone[node] + sum(self.given[edge][side] for edge, side in self.edges[node])

    def _pass(self, node: int, onwards: int) -> None:
        """The node collects from all its edges, and deals out to those of which it is the end `onwards`."""
        mine = self.edges[node]
        for edge, side in mine:
            matrix, (first, second) = self.matrices[edge], self.given[edge]
            least = (matrix - second).min(1) if side == 0 else (matrix - first[:, None]).min(0)
            self.given[edge] = (least, second) if side == 0 else (first, least)
        leading = [edge for edge, side in mine if side == onwards]
        if not leading:
            return
        part = self._total(node) / max(len(leading), len(mine) - len(leading))
        for edge in leading:
            first, second = self.given[edge]
            self.given[edge] = (first - part, second) if onwards == 0 else (first, second - part)
