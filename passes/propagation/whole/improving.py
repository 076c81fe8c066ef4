"""The last word on layouts: all of a program's together, where it is small enough for that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shardwright.layout.words import dims_in_words
from shardwright.networks.solving import eliminated
from shardwright.passes.program import Dims, Program
from shardwright.passes.propagation.alignment import Aligner, counted
from shardwright.passes.propagation.ordering import structural_marks, structural_order
from shardwright.passes.propagation.spreading import Because, State
from shardwright.passes.propagation.strategy import LEAST_SAVING, Strategist
from shardwright.passes.propagation.whole.building import Building
from shardwright.passes.propagation.whole.choices import Choices

MOST_NODES, MOST_WAYS, MOST_ENTRIES = 128, 256, 1_000_000
"""
The size up to which all layouts are chosen together: ops, ways to do one of them, and entries of elimination's tables.

On 159 stored programs 400 ops find no more than 128, at a third more time for it; 64 miss two programs.
"""


def improve(program: Program, strategist: Strategist, state: State) -> None:
    """
    Moves the layouts of `state` to those that are best together, if they really send less, or the same with less work.

    A program that sends nothing and keeps all devices busy is left as it is, and so is a large one.
    """
    order = structural_order(program, structural_marks(program))
    before = _Outcome.of(counted(program, strategist, state.dims, order))
    if not (before.sent or before.idle) or not _is_small(program, Choices(program, strategist, state.dims)):
        return
    dims = best_together(program, strategist, state.dims)
    if dims is None or dims == state.dims:
        return
    after = _Outcome.of(counted(program, strategist, dims, order))
    if after.beats(before):
        _move(program, state, dims, before.sent - after.sent)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What each device sends, what it computes of all heavy ops, and whether any device has less to do than others."""

    sent: float
    work: float
    idle: bool

    @classmethod
    def of(cls, walk: Aligner) -> _Outcome:
        heavy = [(node, way) for node, way in zip(walk.program.nodes, walk.strategies, strict=True) if node.rule.heavy]
        work = math.fsum(node.scope.weight * math.prod(node.rule.sizes) / way.degree for node, way in heavy)
        return cls(walk.sent, work, any(way.degree < walk.program.mesh.size for _, way in heavy))

    def beats(self, other: _Outcome) -> bool:
        """Whether this sends less at no more work, or no more at less work."""
        if self.work > other.work:
            return False
        return self.sent < other.sent - LEAST_SAVING or (self.sent <= other.sent and self.work < other.work)


def _move(program: Program, state: State, dims: Sequence[Dims], saved: float) -> None:
    for value, (old, new) in enumerate(zip(state.dims, dims, strict=True)):
        if old != new:
            node = program.producers[value] or program.users[value][0]
            less = f"to send {saved:,.0f} bytes less per device" if saved else "to split the work further"
            text = f"chosen together with all other layouts {less}; without that it would be {dims_in_words(old)}"
            state.because[value] = Because(node, None, text)
    state.dims[:] = dims


def best_together(program: Program, strategist: Strategist, dims: Sequence[Dims]) -> list[Dims] | None:
    """The layouts that are cheapest in the program's network, if it is narrow enough to be solved exactly."""
    building = Building(program, strategist, dims)
    found, _ = eliminated(building.network(), MOST_ENTRIES)
    if found.tables:
        return None
    choices = found.complete({})
    return [layouts[choice] for layouts, choice in zip(building.layouts, choices[: len(dims)], strict=False)]


def _is_small(program: Program, choices: Choices) -> bool:
    return len(program.nodes) <= MOST_NODES and all(choices.count(node) <= MOST_WAYS for node in program.nodes)
