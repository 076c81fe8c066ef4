"""
Where to finish partial sums: at the op that makes them, or after linear ops through which they may flow.

Flowing pays when several partial sums meet (one reduction instead of three) or when the value shrinks on its way. It
does not where a reader needs what comes before anyhow: then what is linear in it takes the finished copy. A sweep finds
what could be partial in the propagated layouts; a minimum cut (`finishing.py`) where all readers are served for least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Operation

from shardwright.passes.program import Carried, Dims, Node, Program, Scope
from shardwright.passes.propagation.readers.finishing import UNITS, Sum, finished_ops
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
        pending: list[Pending | None] = program.partial_values()
        for value, (what, _) in carry.items():
            pending[value] = what
        inflow: list[tuple[Pending, tuple[int, ...]] | None] = []
        parts = {value for value, what in enumerate(pending) if what is not None}
        for node, strategy in zip(program.nodes, self.strategies, strict=True):
            flowing = None
            if not parts.isdisjoint(node.operands):
                flowing = self._asked(node, pending) or incoming(program, node, strategy, pending, made, carry)
                if flowing is not None and (
                    outgoing(strategy, flowing[0]) is None or (accepts and not accepts[node.index])
                ):
                    flowing = None
            inflow.append(flowing)
            leaves = outgoing(strategy, flowing[0] if flowing else None)
            if leaves is None and parts.isdisjoint(node.results):
                continue
            for value, result in zip(node.results, strategy.results, strict=True):
                if value not in carry and value not in program.unreduced:
                    pending[value] = leaves
                if pending[value] is not None:
                    made[value] = result
                    parts.add(value)
        return _Sweep(made, pending, inflow)

    def _asked(self, node: Node, pending: list[Pending | None]) -> tuple[Pending, tuple[int, ...]] | None:
        """What a node takes partial because its result is to be so: nothing has to be finished for it."""
        wanted = self.program.unreduced.get(node.results[0]) if node.results else None
        brought = pending[node.operands[0]] if wanted is not None else None
        return (brought, (0,)) if brought is not None and brought == wanted else None

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

    def _in_all(self, value: int, made: Dims, what: Pending | None) -> float:
        """What it costs as often as it is done: of ways that send the same, one in a loop has more messages."""
        price = self.program.weight_of(value) * self._finish(value, made, what)
        return price + 1 / UNITS if price and self.program.scope_of(value).weight > 1 else price

    def _price(self, sweep: _Sweep, carry: Carry) -> list[bool]:
        """Which ops let partial results through, where that sends the least for all readers together."""
        program = self.program
        loops = {each.value: each for each in program.carried if each.value in carry}
        flowing = [(node, inflow[1]) for node, inflow in zip(program.nodes, sweep.inflow, strict=True) if inflow]
        met = dict.fromkeys(value for node, places in flowing for value in _brought(node, places))
        ends = {program.numbers[value] for value in program.return_op.operands}
        finished = finished_ops(self._sum(value, sweep, loops.get(value), ends) for value in met)
        accepts = [False] * len(program.nodes)
        for node, _ in flowing:
            accepts[node.index] = node.index not in finished
        return accepts

    def _sum(self, value: int, sweep: _Sweep, loop: Carried | None, ends: set[int]) -> Sum:
        """A value that may be partial; where a loop carries it, the tie at the end of its body is what makes it."""
        maker = self.program.producers[value] if loop is None else loop.tie
        own = sweep.pending[value]
        takes = maker is not None and (loop is not None or sweep.inflow[maker.index] is not None)
        flows = takes and value not in self.program.unreduced
        if maker is not None and flows:
            own = outgoing(self.strategies[maker.index], None)
        price, whole = (self._in_all(value, sweep.made[value], what) for what in (own, sweep.pending[value]))
        readers = [reader for reader in self.program.users[value] if loop is None or reader is not loop.tie]
        inside = {reader.index for reader in readers if loop and _is_inside(reader.scope, loop.body.owner)}
        takers = [reader.index for reader in readers if _takes(reader, value, sweep)]
        others = {reader.index for reader in readers} - set(takers)
        return Sum(
            maker.index if maker is not None and flows else None,
            price,
            whole - price,
            tuple(takers),
            handed=flows and own is None,
            needed=value in ends or not inside.issuperset(others),
            kept=tuple(taker for taker in takers if taker in inside),
            broken=loop is not None and (sweep.inflow[loop.tie.index] is None or not inside.isdisjoint(others)),
        )


def _brought(node: Node, places: tuple[int, ...]) -> Iterator[int]:
    """What an op takes that may be partial, and what it makes of that."""
    yield from (node.operands[place] for place in places)
    yield from node.results


def _takes(reader: Node, value: int, sweep: _Sweep) -> bool:
    """Whether a reader may take a value as it is, partial."""
    inflow = sweep.inflow[reader.index]
    return inflow is not None and any(reader.operands[place] == value for place in inflow[1])


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
