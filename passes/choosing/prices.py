"""What an assignment costs: bytes sent, work done twice, and memory held, each counted once for all that is alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import NamedTuple, overload

import numpy as np

from shardwright.passes.choosing.assignments import Assigner, Assignment
from shardwright.passes.choosing.lifetimes import Lifetimes
from shardwright.passes.program import Dims, Node, Program
from shardwright.passes.propagation.readers.partial_flow import Pending, outgoing
from shardwright.passes.propagation.strategy import Strategist, Strategy
from shardwright.rules.reductions import is_zero
from shardwright.rules.rule import ANY

__all__ = ["Group", "Price", "Prices"]

APART = 3
"""
Ops that take what others alone make are alike where these stand alike, and those of which they take it, so many deep.

Any deeper, the first of equal layers would be another one than the second, and that one another than the third.
"""


class Price(NamedTuple):
    """
    What each device sends, makes and holds at once, in bytes, and which part of its heavy work others do as well.

    At 0 nobody does what another does; at 1 everybody does as much again.
    """

    sent: float
    made: float
    idle: float
    held: float


@dataclass(frozen=True, slots=True)
class Group:
    """
    Ops that do the same under every assignment: one of them, and how many there are, weighted by their runs.

    `feeds` are the groups whose results it alone takes, by operand, None for others: from these it may take sums that
    are not finished. `carried` is for ops that add to what a loop carries from zero on: at which place, and for which
    part of their runs the sum is to be finished, which is once after the loop.
    """

    node: Node
    count: float
    feeds: tuple[int | None, ...]
    carried: tuple[int, float] | None


class _Done(NamedTuple):
    """
    How the ops of a group are done where their values have some layouts, and what that costs all of them.

    Of the ways of a group it is number `number`. `pending` is what their results are partial over, and `finishing` what
    it takes to bring these to where they belong.
    """

    number: int
    way: Strategy
    pending: Pending | None
    exchanged: float
    finishing: float
    made: float
    work: float
    beside: float


@dataclass(frozen=True, slots=True)
class _Read:
    """Values with the same readers: one of them, how many, and the groups and places by which it is read."""

    value: int
    count: int
    readers: tuple[tuple[int, int], ...]


class Prices:
    """
    The prices of a program's assignments. Equal layers are priced once, and what two assignments have in common is.
    """

    def __init__(self, program: Program, strategist: Strategist, assigner: Assigner):
        self.program = program
        self.strategist = strategist
        self.assigner = assigner
        self.lifetimes = Lifetimes(program)
        self._given = {program.numbers[value] for value in program.return_op.operands}
        """What the program gives back."""
        self.groups, self._of_node = self._grouped()
        self.reads = self._readers(self._of_node)
        self.work = math.fsum(group.count * group.node.rule.work for group in self.groups)
        """The multiplications of all heavy ops."""
        self.everything = math.fsum(
            size * program.scope_of(value).weight for value, size in enumerate(program.bytes) if not program.free[value]
        )
        """The bytes of all that a program makes: what it costs to do all work twice, so that nobody chooses that."""
        self._known: dict[Assignment, Price] = {}
        self._fed = [
            number for number, group in enumerate(self.groups) if any(each is not None for each in group.feeds)
        ]
        self._sorts = [_picker(assigner.sort[value] for value in group.node.values) for group in self.groups]
        self._layouts: list[dict[Dims, int]] = [{} for _ in range(max(assigner.sort, default=-1) + 1)]
        """For each sort numbers of the layouts that it has had."""
        self._done: list[dict[object, _Done]] = [{} for _ in self.groups]
        self._brought: list[dict[object, float]] = [{} for _ in self.reads]

    def _grouped(self) -> tuple[list[Group], list[int]]:
        """The groups of ops, and for each op its group: ops that are alike, and stand between such that are alike."""
        program, sort = self.program, self.assigner.sort
        kinds: list[Hashable] = []
        for node in program.nodes:
            same = tuple(map(node.values.index, node.values))
            kinds.append((program.kinds[node.index], tuple(sort[value] for value in node.values), same))
        alone = list(_numbered(kinds))
        made = [None if producer is None else alone[producer.index] for producer in program.producers]
        standing: list[Hashable] = []
        for node in program.nodes:
            onwards = sorted(alone[user.index] for value in node.results for user in program.users[value])
            standing.append((alone[node.index], tuple(made[value] for value in node.operands), tuple(onwards)))
        of_node = list(_numbered(standing))
        for _ in range(APART):
            of_node = list(_numbered((of_node[node.index], self._feeds(node, of_node)) for node in program.nodes))
        counts = np.bincount(of_node, [node.scope.weight for node in program.nodes])
        first = {number: node for node, number in reversed(list(zip(program.nodes, of_node, strict=True)))}
        carried = dict(_accumulating(program))
        nodes = [first[number] for number in range(len(counts))]
        groups = [
            Group(node, count, self._feeds(node, of_node), carried.get(node.index))
            for node, count in zip(nodes, counts, strict=True)
        ]
        return groups, of_node

    def _feeds(self, node: Node, of_node: Sequence[int]) -> tuple[int | None, ...]:
        program = self.program

        def feed(value: int) -> int | None:
            producer = program.producers[value]
            if producer is None or value in self._given or producer.scope is not node.scope:
                return None
            return of_node[producer.index] if program.users[value] == [node] else None

        return tuple(map(feed, node.operands))

    def _readers(self, of_node: Sequence[int]) -> list[_Read]:
        found: dict[Hashable, _Read] = {}
        for value, users in enumerate(self.program.users):
            if not self.program.free[value] and users:
                readers = tuple(sorted({(of_node[node.index], node.operands.index(value)) for node in users}))
                key = self.assigner.sort[value], readers
                known = found.get(key, _Read(value, 0, readers))
                found[key] = replace(known, count=known.count + 1)
        return list(found.values())

    def of(self, assignment: Assignment) -> Price:
        """The price of an assignment."""
        found = self._known.get(assignment)
        if found is None:
            found = self._known[assignment] = self._priced(assignment)
        return found

    def known(self) -> list[Assignment]:
        """The assignments whose prices were asked for: of those that cost the same in all ways one."""
        return list({price: assignment for assignment, price in self._known.items()}.values())

    def held(self, dims: Sequence[Dims]) -> float:
        """The most bytes that a device holds at once, of values in these layouts."""
        size = self.program.mesh.group_size
        parts = np.array([math.prod(map(size, each)) for each in dims], np.float64)
        ways = ((node, self.strategist.best(node, dims)[1]) for node in self.program.nodes)
        return self.lifetimes.most(parts, np.array([self._beside(node, way, dims) for node, way in ways]))

    def _priced(self, assignment: Assignment) -> Price:
        layouts = self.assigner.layouts(assignment)
        numbers = [known.setdefault(dims, len(known)) for known, dims in zip(self._layouts, layouts, strict=True)]
        keys = [pick(numbers) for pick in self._sorts]
        done = [self._done_in(number, key, layouts) for number, key in enumerate(keys)]
        work = math.fsum(each.work for each in done)
        idle = work * self.program.mesh.size / self.work - 1 if self.work else 0.0
        sent = math.fsum(each.exchanged for each in done) + self._finishing(done, layouts)
        sent += math.fsum(self._bringing(each, numbers, done, layouts) for each in range(len(self.reads)))
        beside = np.array([each.beside for each in done])[self._of_node]
        held = self.lifetimes.most(self.assigner.parts(layouts), beside)
        return Price(sent, math.fsum(each.made for each in done), idle, held)

    def _done_in(self, number: int, key: object, layouts: Sequence[Dims]) -> _Done:
        """How a group's ops are done in these layouts of the sorts, of which `key` are the numbers that matter."""
        found = self._done[number].get(key)
        if found is None:
            found = self._done[number][key] = self._worked_out(number, layouts)
        return found

    def _worked_out(self, number: int, layouts: Sequence[Dims]) -> _Done:
        group, dims = self.groups[number], _BySort(self.assigner.sort, layouts)
        node, count = group.node, group.count
        way = self.strategist.best(node, dims)[1]
        pending = outgoing(way, None)
        # What passes or copies makes nothing.
        made = 0 if node.rule.pairwise else sum(self.program.bytes[value] for value in node.results)
        return _Done(
            len(self._done[number]),
            way,
            pending,
            count * way.exchanged,
            count * self._finish(node, way, pending, dims),
            count * made / way.degree,
            count * node.rule.work / way.degree,
            self._beside(node, way, dims),
        )

    def _beside(self, node: Node, way: Strategy, dims: Sequence[Dims]) -> float:
        """The bytes of what an op takes and makes in other layouts than those in which its values are kept."""
        program, places = self.program, zip(node.values, way.operands + way.results, strict=True)
        other = {(value, needed) for value, needed in places if needed != dims[value] and not program.free[value]}
        size = program.mesh.group_size
        return sum(program.bytes[value] / math.prod(map(size, needed)) for value, needed in other)

    def _finishing(self, done: Sequence[_Done], layouts: Sequence[Dims]) -> float:
        """What it takes to finish all results where they belong; sums meet other sums before, where that is less."""
        costs = [each.finishing for each in done]
        pending = [each.pending for each in done]
        dims = _BySort(self.assigner.sort, layouts)
        for number in self._fed:
            group, way = self.groups[number], done[number].way
            flowing = self._inflow(number, way, pending, dims)
            further = None if flowing is None else outgoing(way, flowing[0])
            if flowing is None or further is None:
                continue
            often = 1.0 if group.carried is None else group.carried[1]
            through = group.count * often * self._finish(group.node, way, further, dims)
            if through <= costs[number] + sum(costs[feed] for feed in flowing[1]):
                pending[number], costs[number] = further if group.carried is None else None, through
                for feed in flowing[1]:
                    costs[feed] = 0.0
        return math.fsum(costs)

    def _inflow(
        self, number: int, way: Strategy, pending: Sequence[Pending | None], dims: Sequence[Dims]
    ) -> tuple[Pending, set[int]] | None:
        """The sums that the ops of a group may take as they are, and the groups that make these."""
        node, feeds = self.groups[number].node, self.groups[number].feeds
        brought = {
            place: (feed, what)
            for place, feed in enumerate(feeds)
            if feed is not None and feed < number and (what := pending[feed]) is not None
        }
        different = {what for _, what in brought.values()}
        if len(different) != 1:
            return None
        (what,) = different
        used = [axis for _, axes in way.factors for axis in axes]
        if self.program.overlaps(what[0], used):
            return None
        carried = self.groups[number].carried
        places = brought.keys() | (set() if carried is None else {carried[0]})
        if any(way.operands[place] != dims[node.operands[place]] for place in places):
            return None
        if not any(kind in (ANY, what[1]) and set(group) == places for kind, group in node.rule.flows):
            return None
        return what, {feed for feed, _ in brought.values()}

    def _finish(self, node: Node, way: Strategy, what: Pending | None, dims: Sequence[Dims]) -> float:
        axes, kind = what or ((), "")
        results = zip(node.results, way.results, strict=True)
        return sum(self.strategist.finish(value, made, axes, kind, dims[value]) for value, made in results)

    def _bringing(self, number: int, numbers: Sequence[int], done: Sequence[_Done], layouts: Sequence[Dims]) -> float:
        """What it takes to bring values to their readers: once for all who need one in the same layout."""
        read = self.reads[number]
        sort = self.assigner.sort[read.value]
        key = (numbers[sort], *[done[group].number for group, _ in read.readers])
        found = self._brought[number].get(key)
        if found is None:
            sent, seen = 0.0, {layouts[sort]}
            for group, place in read.readers:
                node, wanted = self.groups[group].node, done[group].way.operands[place]
                if wanted not in seen:
                    seen.add(wanted)
                    moved = self.strategist.move(read.value, layouts[sort], wanted)
                    sent += node.shares[place] * node.scope.weight * moved
            found = self._brought[number][key] = read.count * sent
        return found


def _accumulating(program: Program) -> Iterator[tuple[int, tuple[int, float]]]:
    """
    The ops that add to what a loop carries from zero on, and only they: the place of that, and the loop's runs by
    those of its body.
    """
    for each in program.carried:
        entry = each.entry.uses[0]
        inside = [node for node in program.users[each.value] if node.scope is each.body and node is not each.tie]
        if entry is not None and is_zero(entry.value) and len(inside) == 1:
            (node,) = inside
            handed_on = node.results == each.tie.operands[:1] and program.users[node.results[0]] == [each.tie]
            if handed_on and node.operands.count(each.value) == 1:
                yield node.index, (node.operands.index(each.value), each.entry.scope.weight / each.body.weight)


def _picker(places: Iterable[int]) -> Callable[[Sequence[int]], object]:
    """What picks the numbers at some places out of all."""
    picked = tuple(places)
    return itemgetter(*picked) if picked else lambda numbers: ()


class _BySort(Sequence[Dims]):
    """The layouts of all values, of which there is one for each sort."""

    def __init__(self, sort: Sequence[int], layouts: Sequence[Dims]):
        self._sort, self._layouts = sort, layouts

    @overload
    def __getitem__(self, value: int) -> Dims: ...
    @overload
    def __getitem__(self, value: slice) -> list[Dims]: ...
    def __getitem__(self, value: int | slice) -> Dims | list[Dims]:
        if isinstance(value, slice):
            return [self._layouts[sort] for sort in self._sort[value]]
        return self._layouts[self._sort[value]]

    def __len__(self) -> int:
        return len(self._sort)


def _numbered(things: Iterable[Hashable]) -> Iterator[int]:
    """Equal things have equal numbers."""
    numbers: dict[Hashable, int] = {}
    return (numbers.setdefault(thing, len(numbers)) for thing in things)
