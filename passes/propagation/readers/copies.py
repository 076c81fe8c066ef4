"""
Copies for several readers: a value is brought into another layout once, if that is cheaper than what each reader does.

An op alone prices a copy of its operand as if nobody else could use it. So for each value of which readers pay, the
layouts that they could use are tried: what a copy saves all of them, less what it costs. It may be a relayout, or the
op that makes the value may leave it so: then a small operand moves, and not what a concatenation or a broadcast made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from shardwright.dialects import dtensor
from shardwright.dialects.dtensor.hints import BarrierOp
from shardwright.passes.program import Dims, Node, Program, Scope
from shardwright.passes.propagation.strategy import LEAST_SAVING, Strategist, Strategy

DEEPEST = 4
"""So many ops one before the other are done otherwise, at most, to have a value in another layout."""

Change = tuple[Node, Strategy]


@dataclass(slots=True)
class Copies:
    """The strategy of each op, the copies that several ops share, and the ops that are done as they are for others."""

    strategies: list[Strategy]
    shared: dict[int, set[Dims]] = field(default_factory=dict[int, set[Dims]])
    bound: set[int] = field(default_factory=set[int])
    changed: bool = False
    """Whether any op is done otherwise than is best for it alone."""


def no_copies(program: Program, strategist: Strategist, dims: Sequence[Dims]) -> Copies:
    """Each op does what is cheapest for it alone."""
    return Copies([strategist.best(node, dims)[1] for node in program.nodes])


def plan_copies(program: Program, strategist: Strategist, dims: Sequence[Dims]) -> Copies:
    """The copies that are worth making for all of a value's readers together."""
    return _Planner(program, strategist, dims).plan()


class _Planner:
    def __init__(self, program: Program, strategist: Strategist, dims: Sequence[Dims]):
        self.program = program
        self.strategist = strategist
        self.dims = dims
        best = [strategist.best(node, dims) for node in program.nodes]
        self.costs = [cost for cost, _ in best]
        self.found = Copies([strategy for _, strategy in best])

    def plan(self) -> Copies:
        """Values of which readers pay, the largest first, since those have most to save."""
        program = self.program
        paying = (node for node in program.nodes if self.costs[node.index] > 0)
        values = dict.fromkeys(value for node in paying for value in node.operands if not program.free[value])
        for value in sorted(values, key=lambda value: -program.bytes[value]):
            for scope, readers in self._readers(value).items():
                while self._serve(value, scope, readers):
                    pass
        return self.found

    def _readers(self, value: int) -> dict[Scope, list[Node]]:
        """The ops that read a value, by where a copy for them would be made."""
        found: dict[Scope, list[Node]] = {}
        home = self.program.scope_of(value)
        for node in self.program.users[value]:
            if isinstance(node.op, BarrierOp):
                continue  # what lies behind it is no reason for anything in front of it
            inside = node.shares[node.operands.index(value)] == 1
            scope = node.scope if inside else node.scope.outermost(home)
            found.setdefault(scope, []).append(node)
        return found

    def _serve(self, value: int, scope: Scope, readers: list[Node]) -> bool:
        """Plans the copy that saves most, and says whether there was one."""
        readers = [node for node in readers if node.index not in self.found.bound]
        best: tuple[float, Dims, list[Change]] | None = None
        for wanted in self._wanted(value, readers):
            gain = sum(self._gain(node, value, wanted) for node in readers)
            if gain > LEAST_SAVING and (best is None or gain > best[0]):
                cost, changes = self._make(value, wanted, scope, DEEPEST)
                saved = gain - scope.weight * self.program.times[value] * cost
                if saved > LEAST_SAVING and (best is None or saved > best[0]):
                    best = saved, wanted, changes
        if best is not None:
            self._settle(value, best[1], best[2], readers)
        return best is not None

    def _wanted(self, value: int, readers: list[Node]) -> Iterator[Dims]:
        """The layouts of a value that some strategy of a reader could use, other than those that are there."""
        seen = {self.dims[value], *self.found.shared.get(value, ())}
        for node in readers:
            for option in self.strategist.options(node, self.dims):
                for operand, wanted in zip(node.operands, option.operands, strict=True):
                    if operand == value and wanted not in seen:
                        seen.add(wanted)
                        yield wanted

    def _gain(self, node: Node, value: int, wanted: Dims) -> float:
        """What a copy saves one reader."""
        there = frozenset((place, wanted) for place, operand in enumerate(node.operands) if operand == value)
        cost = self.strategist.best(node, self.dims, self._there(node) | there)[0]
        return node.weight * max(0.0, self.costs[node.index] - cost)

    def _there(self, node: Node) -> frozenset[tuple[int, Dims]]:
        """The copies of a node's operands that are planned, by place."""
        shared = self.found.shared
        return frozenset((place, dims) for place, value in enumerate(node.operands) for dims in shared.get(value, ()))

    def _make(self, value: int, wanted: Dims, scope: Scope, depth: int) -> tuple[float, list[Change]]:
        """What a copy costs, and the ops that are done otherwise for it: none, or its maker, if that leaves it so."""
        best: tuple[float, list[Change]] = self.strategist.move(value, self.dims[value], wanted), []
        node = self.program.producers[value]
        if depth == 0 or best[0] == 0 or node is None or node.scope is not scope or not self._may_change(node):
            return best
        for option in self.strategist.options(node, self.dims):
            if not option.partial and option.results[node.results.index(value)] == wanted:
                cost, changes = self._make_by(node, option, depth)
                if cost < best[0] - LEAST_SAVING:
                    best = cost, changes
        return best

    def _make_by(self, node: Node, option: Strategy, depth: int) -> tuple[float, list[Change]]:
        """What it costs more to do an op in another way, and the ops that are done otherwise for that."""
        cost, changes = option.exchanged - self.costs[node.index], [(node, option)]
        wishes = dict(zip(zip(node.operands, option.operands, strict=True), node.shares, strict=True))
        for (operand, wanted), share in wishes.items():
            if not self.program.free[operand] and wanted not in self.found.shared.get(operand, ()):
                deeper = depth - 1 if share == 1 else 0
                more, others = self._make(operand, wanted, node.scope, deeper)
                cost += share * more
                changes += others
        for value, made in zip(node.results, option.results, strict=True):
            cost += self.strategist.move(value, made, self.dims[value])
        return cost, changes

    def _may_change(self, node: Node) -> bool:
        return _chooses(node) and node.index not in self.found.bound

    def _settle(self, value: int, wanted: Dims, changes: list[Change], readers: list[Node]) -> None:
        self._share(value, wanted)
        for node, strategy in changes:
            self.found.strategies[node.index] = strategy
            self.found.bound.add(node.index)
            self.found.changed = True
            for operand, dims in zip(node.operands, strategy.operands, strict=True):
                self._share(operand, dims)
        for node in readers:
            cost, strategy = self.strategist.best(node, self.dims, self._there(node))
            if cost < self.costs[node.index] and node.index not in self.found.bound:
                self.found.changed |= strategy.factors != self.found.strategies[node.index].factors
                self.costs[node.index], self.found.strategies[node.index] = cost, strategy

    def _share(self, value: int, wanted: Dims) -> None:
        if not self.program.free[value] and wanted != self.dims[value]:
            self.found.shared.setdefault(value, set()).add(wanted)


def _chooses(node: Node) -> bool:
    """Whether an op has strategies to choose from: what only hands a value on has one."""
    return not (node.rule.pairwise or isinstance(node.op, dtensor.ConstraintOp | dtensor.RelayoutOp | BarrierOp))
