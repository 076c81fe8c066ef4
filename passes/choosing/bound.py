"""
What no assignment of axes to named dims sends less than, if all devices are at work.

An assignment lays out all values at once. The bound leaves each sort of values free to have any layout that some
assignment gives it, and each group of ops any strategy that keeps all devices busy: a cost network, of which no
choices cost less than its elimination, and messages for what that leaves, say. What is paid for by several in
common, as a copy for all its readers, or a sum that meets others, each pays a part of.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from shardwright.layout.axes import Axis
from shardwright.networks.messages import Messages
from shardwright.networks.network import Costs, Network
from shardwright.networks.solving import eliminated
from shardwright.passes.choosing.prices import Group, Prices
from shardwright.passes.program import Dims
from shardwright.passes.propagation.strategy import Strategy
from shardwright.passes.propagation.whole.prices import finishing, moving
from shardwright.rules.rule import Axes

__all__ = ["least_sent"]

ENTRIES, SWEEPS = 2_000_000, 60
"""Entries of all tables of an elimination, and sweeps of messages for what that leaves: no clock has a say in it."""

BRANCHES, AGAIN = 30, 3
"""So many branches of choices are bounded, about, and sweeps for each of them."""

WAYS = 2_000
"""An op of more ways than this may do what it does for nothing."""


def least_sent(prices: Prices) -> float:
    """
    The bytes that a device sends at least, by these prices, under any assignment that keeps all devices at work.

    Infinite where there is none.
    """
    relaxed = _Relaxed(prices)
    network = relaxed.network()
    if any(not len(costs) for costs in network.costs):
        return math.inf
    found, _ = eliminated(network, ENTRIES)
    if not found.tables:
        return found.value
    return max(0.0, _branched(relaxed.agreeing(), 1.0 + prices.everything))


def _branched(network: Network, most: float) -> float:
    """
    What no choices cost less than: the least of the branches in which some nodes have one choice each.

    The branch that is bounded lowest is cut into one for each choice of one more node, the one with most neighbours for
    each of its choices, until so many branches have been bounded.
    """
    found, rest = eliminated(network, ENTRIES)
    if not found.tables:
        return found.value
    root = Messages(rest, most)
    around = Counter(node for ends in rest.edges for node in ends)
    hubs = sorted(around, key=lambda node: (-around[node] / len(rest.costs[node]), node))
    waiting = [(max(root.sweep() for _ in range(SWEEPS)), 0, 0, root)]
    branches = 0
    while branches < BRANCHES and waiting[0][1] < len(hubs):
        least, depth, _, messages = heapq.heappop(waiting)
        for choice in range(len(rest.costs[hubs[depth]])):
            part = messages.chosen(hubs[depth], choice)
            bound, branches = max(least, *(part.sweep() for _ in range(AGAIN))), branches + 1
            heapq.heappush(waiting, (bound, depth + 1, branches, part))
    return found.value + waiting[0][0]


class _Relaxed:
    """The network: a node for each sort of values, and one for each group of ops."""

    def __init__(self, prices: Prices):
        self.prices = prices
        self.program, self.strategist, self.assigner = prices.program, prices.strategist, prices.assigner
        self.axes = tuple(Axis(name) for name in self.assigner.axes)
        self.layouts = self.assigner.every()
        self.costs: list[Costs] = [np.zeros(len(layouts)) for layouts in self.layouts]
        self.edges: list[tuple[tuple[int, int], Costs]] = []
        self.shares = self._shares()
        self.followers: dict[int, list[int]] = {}
        """For each group those that may take its sums before they are finished."""
        for number, group in enumerate(prices.groups):
            for feed in self._feeds(number) if group.node.rule.flows else ():
                self.followers.setdefault(feed, []).append(number)

    def network(self) -> Network:
        for number, group in enumerate(self.prices.groups):
            if group.node.rule.pairwise:
                self._pair(number, group)
            else:
                self._op(number, group)
        return Network.build(self.costs, self.edges)

    def agreeing(self) -> Network:
        """The network, in which two sorts have layouts that one assignment may give both."""
        for one, other in itertools.combinations(range(len(self.layouts)), 2):
            agree = self.assigner.agree(one, other)
            if not agree.all():
                self.edges.append(((one, other), np.where(agree, 0.0, np.inf)))
        return Network.build(self.costs, self.edges)

    def _shares(self) -> dict[tuple[int, int], list[tuple[int, float]]]:
        """For each group and operand of it the sorts that it reads there, with its part in what bringing them costs."""
        found: dict[tuple[int, int], list[tuple[int, float]]] = {}
        for read in self.prices.reads:
            nodes = [self.prices.groups[group].node for group, _ in read.readers]
            least = min(
                node.shares[place] * node.scope.weight for node, (_, place) in zip(nodes, read.readers, strict=True)
            )
            heavy = [reader for reader, node in zip(read.readers, nodes, strict=True) if node.rule.heavy]
            paying = heavy or list(read.readers)
            for reader in paying:
                sort = self.assigner.sort[read.value]
                factor = read.count * least * self.program.bytes[read.value] / len(paying)
                found.setdefault(reader, []).append((sort, factor))
        return found

    def _bring(self, number: int, group: Group, place: int, end: int, wanted: Sequence[Dims]) -> None:
        """What it costs to have an operand as each choice of a node wants it."""
        shape = self.program.shapes[group.node.operands[place]]
        different = tuple(dict.fromkeys(wanted))
        columns = [different.index(dims) for dims in wanted]
        for sort, factor in self.shares.get((number, place), ()):
            table = moving(self.layouts[sort], different, shape, self.program.mesh)[:, columns]
            self.edges.append(((sort, end), table * factor))

    def _pair(self, number: int, group: Group) -> None:
        node, sort = group.node, self.assigner.sort
        home = sort[node.values[-1]]
        for place, value in enumerate(node.operands):
            if not self.program.free[value]:
                self._bring(number, group, place, home, self.layouts[home])
        for value in node.results:
            table = moving(self.layouts[home], self.layouts[sort[value]], self.program.shapes[value], self.program.mesh)
            self.edges.append(((home, sort[value]), table * self.program.bytes[value] * group.count))

    def _op(self, number: int, group: Group) -> None:
        node, program = group.node, self.program
        ways = self._ways(group)
        if ways is None:
            return
        self.costs.append(np.array([way.exchanged for way in ways]) * group.count)
        end = len(self.costs) - 1
        for place, value in enumerate(node.operands):
            if not program.free[value]:
                self._bring(number, group, place, end, [way.operands[place] for way in ways])
        for place in range(len(node.results)):
            self._leave(number, place, ways, end)

    def _leave(self, number: int, place: int, ways: Sequence[Strategy], end: int) -> None:
        """What it takes to bring a result into each of its layouts, or sums to where they are finished."""
        group, program = self.prices.groups[number], self.program
        value = group.node.results[place]
        sort, shape = self.assigner.sort[value], program.shapes[value]
        layouts, size = self.layouts[sort], program.bytes[value] * group.count
        rows = [moving([way.results[place]], layouts, shape, program.mesh)[0] * (not way.partial) for way in ways]
        self.edges.append(((end, sort), np.array(rows) * size))
        sums = list(dict.fromkeys((way.results[place], way.partial) for way in ways if way.partial))
        if not sums:
            return
        # A node for where sums are finished: nowhere, as there are none, or by the ops themselves, or further on.
        further = [(each, summed) for each in self._further(number) for summed in sums]
        finish = len(self.costs)
        self.costs.append(np.zeros(1 + len(sums) + len(further)))
        kinds = [None, *sums, *(summed for _, summed in further)]
        fits = [
            [kind == ((way.results[place], way.partial) if way.partial else None) for kind in kinds] for way in ways
        ]
        self.edges.append(((end, finish), np.where(fits, 0.0, np.inf)))
        own = np.zeros((len(kinds), len(layouts)))
        own[1 : 1 + len(sums)] = [finishing(*each, layouts, shape, program.mesh) for each in sums]
        self.edges.append(((finish, sort), own * size))
        for at, ((follower, part), (_, partial)) in enumerate(further, 1 + len(sums)):
            self._finish(follower, part, partial, finish, at)

    def _finish(self, number: int, part: float, partial: Axes, finish: int, at: int) -> None:
        """What it takes a group to finish sums that flowed to it, where choice `at` of a node says that it does."""
        group, program = self.prices.groups[number], self.program
        often = group.count if group.carried is None else group.count * group.carried[1]
        for value in group.node.results:
            sort, shape = self.assigner.sort[value], program.shapes[value]
            layouts = self.layouts[sort]
            before = [
                dims for dims in layouts if not program.overlaps(partial, [axis for axes in dims for axis in axes])
            ]
            ways = [finishing(dims, partial, layouts, shape, program.mesh) for dims in before]
            shares = np.min(ways, axis=0, initial=np.inf)
            table = np.zeros((len(self.costs[finish]), len(layouts)))
            table[at] = shares * part * often * program.bytes[value]
            self.edges.append(((finish, sort), table))

    def _feeds(self, number: int) -> set[int]:
        """The groups of which one alone takes what they make, and may take it before it is finished."""
        group = self.prices.groups[number]
        pairs = zip(group.node.operands, group.feeds, strict=True)
        return {feed for value, feed in pairs if feed is not None and feed < number and not self.program.free[value]}

    def _further(self, number: int) -> list[tuple[int, float]]:
        """The groups up to which a group's sums may flow, and which part of what finishing takes there is its own."""
        found = [(number, 1.0)]
        for follower, part in found:  # which grows: who takes sums comes after who makes them
            if self.prices.groups[follower].carried is None:
                for further in self.followers.get(follower, ()):
                    found.append((further, part / len(self._feeds(further))))
        return found[1:]

    def _ways(self, group: Group) -> list[Strategy] | None:
        """The strategies of a group's ops that keep all devices at work; None where it may do what it wants."""
        node, program = group.node, self.program
        rule, weights = node.rule, [program.bytes[value] for value in node.values]
        if not self._is_whole(group) or (len(rule.sizes) + 1) ** len(self.axes) > WAYS:
            return None
        found: dict[object, Strategy] = {}
        for by_factor in self._splits(len(rule.sizes)):
            way = self.strategist.strategy(rule, by_factor, weights)
            if way is not None and (not rule.heavy or way.degree >= program.mesh.size):
                found.setdefault(way.factors, way)
        return list(found.values())

    def _splits(self, factors: int) -> Iterator[dict[int, Axes]]:
        """Each way to give each axis to a factor or to none, in each order."""
        for order in itertools.permutations(self.axes):
            for picks in itertools.product(range(-1, factors), repeat=len(order)):
                found: dict[int, Axes] = {}
                for axis, factor in zip(order, picks, strict=True):
                    if factor >= 0:
                        found[factor] = (*found.get(factor, ()), axis)
                yield found

    def _is_whole(self, group: Group) -> bool:
        """Whether no layout of an op's values splits a factor by a part of an axis."""
        node = group.node
        return not node.reserved and all(
            axis.whole
            for tensor, value in enumerate(node.values)
            if not self.program.free[value]
            for dims in self.layouts[self.assigner.sort[value]]
            for axes in self.strategist.project(node.rule, tensor, dims)[0].values()
            for axis in axes
        )
