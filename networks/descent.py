"""
Local search: better choices for one node at a time, or for a forest of nodes at once, the others as they are.

A forest is solved exactly by elimination, so such a step finds the best of very many choices. Which nodes make up the
next forest is drawn from a fixed seed: the same network always takes the same steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shardwright.networks.elimination import Elimination
from shardwright.networks.network import Costs, Memory, Network

__all__ = ["Descent"]


class Descent:
    """Choices for a network, and steps that improve them; costs count as at most `most`."""

    def __init__(self, network: Network, choices: Sequence[int], most: float):
        self.network = network
        self.choices = list(choices)
        self.alone = [np.minimum(cost, most) for cost in network.costs]
        """What choices cost by themselves, or shall be taken to cost."""
        self.around = [[(other, np.minimum(matrix, most)) for other, matrix in found] for found in network.around()]
        self.random = np.random.default_rng(0)

    def local(self, node: int, without: frozenset[int] | set[int] = frozenset()) -> Costs:
        """What each choice of a node costs, as its neighbours are, but for those in `without`."""
        total = self.alone[node].copy()
        for other, matrix in self.around[node]:
            if other not in without:
                total += matrix[:, self.choices[other]]
        return total

    def forest_step(self) -> None:
        """Chooses anew, as well as can be, for a forest of nodes that is drawn."""
        chosen = self._forest()
        members = sorted(chosen)
        numbers = {node: number for number, node in enumerate(members)}
        edges = {
            (numbers[node], numbers[other]): matrix
            for node in members
            for other, matrix in self.around[node]
            if other in numbers and node < other
        }
        elimination = Elimination(Network(tuple(self.local(node, chosen) for node in members), edges))
        elimination.take_simple(1 << 40)
        for node, choice in zip(members, elimination.complete({}), strict=True):
            self.choices[node] = choice

    def _forest(self) -> set[int]:
        """Nodes, as many as come, between which no way leads round in a circle."""
        parent = list(range(len(self.alone)))

        def root(node: int) -> int:
            while parent[node] != node:
                parent[node] = parent[parent[node]]
                node = parent[node]
            return node

        chosen: set[int] = set()
        for node in self.random.permutation(len(parent)).tolist():
            trees = [root(other) for other, _ in self.around[node] if other in chosen]
            if len(set(trees)) == len(trees):
                chosen.add(node)
                for tree in trees:
                    parent[tree] = node
        return chosen

    def node_steps(self) -> bool:
        """One by one the best choice for each node that keeps the limit of memory; whether any changed."""
        changed = False
        room = None if self.network.memory is None else _Room(self.network.memory, self.choices)
        for node in range(len(self.alone)):
            costs, now = self.local(node), self.choices[node]
            if room is not None:
                costs = np.where(room.has(node, now), costs, math.inf)
            best = int(costs.argmin())
            if costs[best] < costs[now]:
                self.choices[node], changed = best, True
                if room is not None:
                    room.move(node, now, best)
        return changed


class _Room:
    """How much memory is used at each time."""

    def __init__(self, memory: Memory, choices: Sequence[int]):
        self.memory = memory
        self.used = memory.profile(choices)

    def has(self, node: int, now: int) -> Costs:
        """For which choices of a node there is room, as it has the choice `now`."""
        start, end = self.memory.lives[node]
        more = self.memory.usages[node] - self.memory.usages[node][now]
        return (more <= self.memory.limit - self.used[start:end].max(initial=0.0)) | (more <= 0)

    def move(self, node: int, now: int, best: int) -> None:
        """Notes that a node has another choice."""
        start, end = self.memory.lives[node]
        self.used[start:end] += self.memory.usages[node][best] - self.memory.usages[node][now]
