"""
Where to finish partial sums: at the op that makes them, or after linear ops through which they may flow.

Flowing pays when several partial sums meet (one reduction instead of three) or when the value shrinks on its way. Two
sweeps price it on the propagated layouts: forwards, what could be partial; backwards, what finishing costs from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Operation

from shardwright.passes.program import Carried, Dims, Node, Program, Scope
from shardwright.passes.propagation.strategy import Strategist, Strategy
from shardwright.rules.reductions import is_zero
from shardwright.rules.rule import ANY, Axes

Pending = tuple[Axes, str]
"""Axes over which a value is partial, and how its parts combine."""


Carry = dict[int, tuple[Pending, Scope]]
"""The values that loops carry partial, with the bodies of these loops."""


@dataclass(frozen=True, slots=True)
class Flow:
    """The decision for each op: let the partial results of its operands through, or not; and for carried values."""

    accepts: list[bool]
    carry: Carry
    bound: frozenset[int]
    """The nodes on which a partial carry counts: were one done otherwise, entry, body and exit would not agree."""


def incoming(
    program: Program, node: Node, strategy: Strategy, pending: list[Pending | None], dims: list[Dims], carry: Carry
) -> tuple[Pending, tuple[int, ...]] | None:
    """The partial results that may flow into `node` under `strategy`, and the operand places that bring them."""
    places = tuple(place for place, value in enumerate(node.operands) if pending[value] is not None)
    first = _common(node, places, pending)
    if first is None:
        return None
    used = [axis for _, factor_axes in strategy.factors for axis in factor_axes]
    if program.overlaps(first[0], [*used, *node.reserved]):
        return None
    if any(strategy.operands[place] != dims[node.operands[place]] for place in places):
        return None
    if not all(_is_home(program, node.operands[place], node.scope, carry) for place in places):
        return None  # what a loop or branch takes from outside is finished once, before it
    if _carries(node, carry):
        return (first, (0,)) if 0 in places else None
    return (first, places) if _lets_through(node, places, first[1]) else None


def _common(node: Node, places: tuple[int, ...], pending: list[Pending | None]) -> Pending | None:
    """The partial results that the operands at all places bring; None when they differ, or there are no places."""
    if not places:
        return None
    first = pending[node.operands[places[0]]]
    return first if all(pending[node.operands[place]] == first for place in places) else None


def _lets_through(node: Node, places: tuple[int, ...], kind: str) -> bool:
    """Whether the op's rule has a flow for partial results at these places, the others of the flow being zeros."""
    for allowed, group in node.rule.flows:
        if allowed in (ANY, kind) and set(places) <= set(group):
            rest = [place for place in group if place not in places]
            if all(kind == "sum" and is_zero(use.value) for place in rest if (use := node.uses[place])):
                return True
    return False


def _is_home(program: Program, value: int, scope: Scope, carry: Carry) -> bool:
    """Whether a value is, or stands for one that is, defined in a scope."""
    return program.scope_of(value) is scope or (value in carry and carry[value][1] is scope)


def _carries(node: Node, carry: Carry) -> bool:
    """Whether the node takes a partial value around a loop."""
    return node.uses[-1] is None and node.values[-1] in carry


def outgoing(strategy: Strategy, flowing: Pending | None) -> Pending | None:
    """What a node's results are partial over, given what flows in; its own reductions included."""
    if flowing is None:
        return (strategy.partial, strategy.kind) if strategy.partial else None
    if strategy.partial and strategy.kind != flowing[1]:
        return None
    return flowing[0] + strategy.partial, flowing[1]


def plan_flow(program: Program, strategist: Strategist, strategies: list[Strategy], dims: list[Dims]) -> Flow:
    """Decides for each op whether finishing after it is cheaper than before it."""
    return _Planner(program, strategist, strategies, dims).plan()


@dataclass(frozen=True, slots=True)
class _Sweep:
    """What could be partial, going forwards: each value's dims and parts, and what flows into each node."""

    made: list[Dims]
    pending: list[Pending | None]
    inflow: list[tuple[Pending, tuple[int, ...]] | None]


@dataclass(frozen=True, slots=True)
class _Planner:
    program: Program
    strategist: Strategist
    strategies: list[Strategy]
    dims: list[Dims]

    def plan(self) -> Flow:
        """
        The flow with all sums carried by loops partial that can be.

        Where one turns out to be needed finished, so may be what met it: the others are looked at again without it.
        """
        program, without = self.program, self._sweep({})
        carry = self._candidates(without)
        while carry:
            accepts = self._price(self._sweep(carry), carry)
            settled = self._sweep(carry, accepts)
            broken = {each.value for each in program.carried if not _comes_around(program, each, carry, settled)}
            if not broken:
                return Flow(accepts, carry, self._bound(carry, settled))
            carry = {value: item for value, item in carry.items() if value not in broken}
        return Flow(self._price(without, {}), {}, frozenset())

    def _bound(self, carry: Carry, settled: _Sweep) -> frozenset[int]:
        """The nodes that make, or hand on, the partial sums that the carried ones meet inside their loops."""
        program = self.program
        found: set[int] = set()
        waiting: list[Node | None] = []
        for carried in program.carried:
            if carried.value in carry:
                waiting += [node for node in program.users[carried.value] if _is_inside(node.scope, carried.body.owner)]
        while waiting:
            node = waiting.pop()
            if node is None or node.index in found:
                continue
            found.add(node.index)
            flowing = settled.inflow[node.index]
            waiting += [program.producers[node.operands[place]] for place in (flowing[1] if flowing else ())]
        return frozenset(found)

    def _sweep(self, carry: Carry, accepts: list[bool] | None = None) -> _Sweep:
        """Lets partial results flow as far as they can, or as far as `accepts` says."""
        program = self.program
        made: list[Dims] = list(self.dims)
        pending: list[Pending | None] = program.partial_arguments()
        for value, (what, _) in carry.items():
            pending[value] = what
        inflow: list[tuple[Pending, tuple[int, ...]] | None] = []
        for node, strategy in zip(program.nodes, self.strategies, strict=True):
            flowing = incoming(program, node, strategy, pending, made, carry)
            if flowing is not None and (
                outgoing(strategy, flowing[0]) is None or (accepts and not accepts[node.index])
            ):
                flowing = None
            inflow.append(flowing)
            for value, result in zip(node.results, strategy.results, strict=True):
                if value not in carry:
                    pending[value] = outgoing(strategy, flowing[0] if flowing else None)
                if pending[value] is not None:
                    made[value] = result
        return _Sweep(made, pending, inflow)

    def _candidates(self, sweep: _Sweep) -> Carry:
        """
        Sums that loops accumulate from zero: what meets them in the body is partial, so they may be, too.

        Then they are reduced once, after the loop, and not in every round.
        """
        found: Carry = {}
        for carried in self.program.carried:
            entry = carried.entry.uses[0]
            if entry is None or not is_zero(entry.value):
                continue
            used = [axis for axes in self.dims[carried.value] for axis in axes]
            for node in self.program.users[carried.value]:
                for what in _met(node, carried.value, sweep.pending):
                    if not self.program.overlaps(what[0], used):
                        found.setdefault(carried.value, (what, carried.body))
        return found

    def _finish(self, value: int, made: Dims, what: Pending | None) -> float:
        """What it costs to finish a value here."""
        return 0.0 if what is None else self.strategist.finish(value, made, *what, self.dims[value])

    def _onwards(self, value: int, ends: set[int], through: list[float]) -> float:
        """What it costs to let a value through to all its users; infinite where it has none or the program ends."""
        users = self.program.users[value]
        return sum(through[user.index] for user in users) if users and value not in ends else float("inf")

    def _price(self, sweep: _Sweep, carry: Carry) -> list[bool]:
        """Going backwards, what finishing costs from each op on; whether it is to let partial results through."""
        program = self.program
        accepts = [False] * len(program.nodes)
        through = [float("inf")] * len(program.nodes)
        settled: dict[int, float] = {}
        ends = {program.numbers[value] for value in program.return_op.operands}
        for node, strategy in zip(reversed(program.nodes), reversed(self.strategies), strict=True):
            results = list(zip(node.results, strategy.results, strict=True))
            flows_on = True
            for value, made in results:
                now = self._finish(value, made, sweep.pending[value])
                onwards = self._onwards(value, ends, through)
                settled[value] = min(now, onwards)
                flows_on = flows_on and onwards < now
            flowing = sweep.inflow[node.index]
            if flowing is None:
                continue
            what, places = flowing
            sources = {node.operands[place]: strategy.operands[place] for place in places}
            before = sum(self._finish(value, made, what) for value, made in sources.items())
            before += sum(self._finish(value, made, outgoing(strategy, None)) for value, made in results)
            after = sum(settled[value] for value in node.results)
            if _carries(node, carry):
                body = node.scope
                rounds = body.weight / body.parent.weight if body.parent is not None else 1.0
                after = self._finish(node.values[-1], strategy.operands[0], what) / rounds
            # An even price is right where the users' prices count on this op to pass its share on.
            if after < before or (after == before and flows_on):
                accepts[node.index] = True
                through[node.index] = after / len(sources)
        return accepts


def _met(node: Node, value: int, pending: list[Pending | None]) -> Iterator[Pending]:
    """The partial sums with which a value meets at a node that lets them through together."""
    for kind, group in node.rule.flows:
        if kind in (ANY, "sum") and any(node.operands[place] == value for place in group):
            others = (pending[node.operands[place]] for place in group)
            yield from (what for what in others if what is not None and what[1] == "sum")


def _comes_around(program: Program, carried: Carried, carry: Carry, settled: _Sweep) -> bool:
    """Whether a value assumed to be partial is so at the end of the body, and nothing inside needs it finished."""
    value = carried.value
    if value not in carry:
        return True
    inside = [node for node in program.users[value] if _is_inside(node.scope, carried.body.owner)]
    around = carried.tie.operands[0]
    return settled.pending[around] == carry[value][0] and all(
        (flowing := settled.inflow[node.index]) is not None
        and all(place in flowing[1] for place, operand in enumerate(node.operands) if operand == value)
        for node in inside
        if node is not carried.tie
    )


def _is_inside(scope: Scope | None, owner: Operation | None) -> bool:
    """Whether a scope is that of a region of `owner`, or lies in one."""
    while scope is not None and scope.owner is not owner:
        scope = scope.parent
    return scope is not None
