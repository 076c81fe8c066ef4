"""The last word on layouts: all of a program's together, where it is small enough for that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shardwright.layout.words import dims_in_words
from shardwright.networks.network import Network
from shardwright.networks.solving import eliminated
from shardwright.passes.program import Dims, Node, Program, Step
from shardwright.passes.propagation.alignment import Aligner, counted
from shardwright.passes.propagation.spreading import Because, State
from shardwright.passes.propagation.strategy import LEAST_SAVING, Strategist
from shardwright.passes.propagation.structure.ordering import structural_marks, structural_order
from shardwright.passes.propagation.whole.building import Building
from shardwright.passes.propagation.whole.choices import Choices
from shardwright.passes.propagation.whole.polishing import MOST_OPS, polished

MOST_NODES, MOST_WAYS, MOST_ENTRIES = 128, 256, 1_000_000
"""
The size up to which all layouts are chosen together: ops, ways to do one of them, and entries of elimination's tables.

On 159 stored programs 400 ops find no more than 128, at a third more time for it; 64 miss two programs.
"""

WORTH_WHILE = 0.07
"""
The part of what is sent that a single change must save which takes more messages.

A look-up in a table that is split by rows, with its gradient, takes two messages; with 6 % fewer bytes it takes five.
"""

FEW_ENTRIES, MOST_STARTS = 50_000, 16
"""The same entries where a network is solved once for each layout of each value, and how many of these are counted."""

MOST_SHARED = 24
"""The ops of a program whose values may each be there in two layouts for those who read them."""


def improve(program: Program, strategist: Strategist, state: State) -> None:
    """
    Moves the layouts of `state` to those that are best together, if they really send less, or the same with less work.

    A program that sends nothing and keeps all devices busy is left as it is, as is one without ops, which may send
    what it is given in parts, and a large one. What nobody gave a layout among arguments and results keeps the one
    that it has, unless devices would be idle in a heavy op otherwise: a sum that everybody has is what people
    expect, one that each has a part of is less to send. Axes that nothing uses come in only then, too.
    """
    if not 0 < len(program.nodes) <= MOST_NODES:
        return
    order = structural_order(program, structural_marks(program))
    before, idle = (
        _Outcome.of(counted(program, strategist, state.dims, order)),
        is_idle(program, strategist, state.dims),
    )
    if not (before.sent or idle) or not _has_few(program, Choices(program, strategist, state.dims, unused=idle)):
        return

    def count(dims: list[Dims]) -> _Outcome:
        return _Outcome.of(counted(program, strategist, dims, order))

    dims = best_together(program, strategist, state.dims, idle=idle)
    if dims is None or not count(dims).beats(before):
        dims = list(state.dims)
    if len(program.nodes) <= MOST_OPS and count(dims).sent:
        choices = Choices(program, strategist, state.dims, unused=idle)

        def beats(found: _Outcome, other: _Outcome) -> bool:
            return found.work <= before.work and found.clearly_sends_less(other)

        movable = _movable(program, order, idle=idle)
        starts = best_with_each(program, strategist, state.dims, movable, idle=idle)
        dims = polished(choices, movable, [dims, *starts], count, beats)
    if dims != state.dims:
        _move(program, state, dims, before.sent - count(dims).sent)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What it costs that each device sends, in about how many messages, and what it computes of all heavy ops."""

    sent: float
    messages: float
    work: float

    @classmethod
    def of(cls, walk: Aligner) -> _Outcome:
        done = zip(walk.program.nodes, walk.strategies, strict=True)
        work = math.fsum(node.scope.weight * node.rule.work / way.degree for node, way in done)
        return cls(walk.sent, walk.messages, work)

    def beats(self, other: _Outcome) -> bool:
        """Whether this sends less at no more work, or no more at less work."""
        if self.work > other.work:
            return False
        return self.sent < other.sent - LEAST_SAVING or (self.sent <= other.sent and self.work < other.work)

    def clearly_sends_less(self, other: _Outcome) -> bool:
        """Whether this sends less, or as much at less work, in no more messages or by enough to be worth more."""
        if self.sent < other.sent - LEAST_SAVING:
            return self.messages <= other.messages or self.sent <= (1 - WORTH_WHILE) * other.sent
        return self.sent == other.sent and self.work < other.work


def is_idle(program: Program, strategist: Strategist, dims: Sequence[Dims]) -> bool:
    """Whether devices do in a heavy op what others do as well, as its tensors are split."""
    heavy = (node for node in program.nodes if node.rule.heavy)
    return any(strategist.best(node, dims)[1].degree < program.mesh.size for node in heavy)


def _movable(program: Program, order: Sequence[Step], *, idle: bool) -> list[int]:
    """
    The values whose layouts nobody gave; of arguments and results only where devices are idle.

    In an order that does not depend on that of the text.
    """
    arguments = range(len(program.root.block.args))
    made = (value for step in order if isinstance(step, Node) for value in step.results)
    ends = {*arguments, *(program.numbers[each] for each in program.return_op.operands)}
    return [value for value in (*arguments, *made) if program.is_ours(value) and (idle or value not in ends)]


def _move(program: Program, state: State, dims: Sequence[Dims], saved: float) -> None:
    for value, (old, new) in enumerate(zip(state.dims, dims, strict=True)):
        if old != new:
            node = program.producers[value] or program.users[value][0]
            less = f"to send {saved:,.0f} bytes less per device{program.counting}"
            less = less if saved else "to split the work further"
            text = f"chosen together with all other layouts {less}; without that it would be {dims_in_words(old)}"
            state.because[value] = Because(node, None, text)
    state.dims[:] = dims


def best_together(program: Program, strategist: Strategist, dims: Sequence[Dims], *, idle: bool) -> list[Dims] | None:
    """The layouts that are cheapest in the program's network, if it is narrow enough to be solved exactly."""
    for shared in (True, False) if len(program.nodes) <= MOST_SHARED else (False,):
        building = Building(program, strategist, dims, shared=shared, idle=idle)
        found = _solved(building, building.network(), MOST_ENTRIES)
        if found is not None:
            return found[1]
    return None


def best_with_each(
    program: Program, strategist: Strategist, dims: Sequence[Dims], movable: Sequence[int], *, idle: bool
) -> list[list[Dims]]:
    """
    For each layout that a movable value may have the layouts that are cheapest in the network with it, these in order.

    What really sends least is seldom far from one of these, and may be far from what is cheapest in the network.
    """
    building = Building(program, strategist, dims, shared=True, idle=idle)
    network, found = building.network(), list[tuple[float, list[Dims]]]()
    for value in movable:
        for choice in range(len(building.layouts[value])):
            only = np.full(len(network.costs[value]), np.inf)
            only[choice] = network.costs[value][choice]
            costs = (*network.costs[:value], only, *network.costs[value + 1 :])
            solved = _solved(building, replace(network, costs=costs), FEW_ENTRIES)
            found += [] if solved is None else [solved]
    return [layouts for _, layouts in sorted(found, key=lambda each: each[0])[:MOST_STARTS]]


def _solved(building: Building, network: Network, most: int) -> tuple[float, list[Dims]] | None:
    """What is cheapest in a network of all layouts; None where it is too wide, or nothing is allowed."""
    found, _ = eliminated(network, most)
    if found.tables or not math.isfinite(found.value):
        return None
    choices = found.complete({})[: len(building.dims)]
    return found.value, [layouts[choice] for layouts, choice in zip(building.layouts, choices, strict=False)]


def _has_few(program: Program, choices: Choices) -> bool:
    return all(choices.count(node) <= MOST_WAYS for node in program.nodes)
