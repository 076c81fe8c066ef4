"""Layouts that are tried by partitioning the program: what it then costs, and what a device holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr
from xdsl.ir import Attribute

from shardwright.compiler.layouts.memory import Memory, memory_of
from shardwright.compiler.layouts.timing import operations_of, works_of
from shardwright.compiler.pipelines import ALIGN, LOCALIZE, PLAN, PROPAGATE, run_pipeline
from shardwright.compiler.report import CollectiveRow, collective_rows, predicted_bytes
from shardwright.dialects.dtensor import meshes
from shardwright.dialects.text.locations import where
from shardwright.layout.planning.topology import Topology
from shardwright.passes.choosing.choose_layouts import Choice, Chooser
from shardwright.passes.collectives.holding import Holding, part_of
from shardwright.passes.program import Dims, entry_function
from shardwright.passes.stages import MEMORY_LIMIT, RECOMPUTE

__all__ = ["FEWER", "Holds", "LaidOut", "Running", "Trials", "Tried"]

TRIES, FEWER, LEAST, MOST = 8, 3, 0.8, 0.98
"""
How often layouts are chosen (less often for a program that was changed to hold less, of which there may be many), first
without a limit, then for a lower one each time, until they fit.

What the program will hold besides its values, copies and parts that are not summed up yet, is known only once it is
there; so what is counted on for the next choice is less by as much as the last one was too large, within bounds, as
the next one may be counted better.
"""

BETWEEN = 2
"""How many more are tried then: for less memory, or between the last that did not fit and the last that did."""

AIMS = 3
"""How often values are let go of, for less each time, as what collectives take in between is not counted there."""

OPS, MOST_CANDIDATES, FEWEST = 800, 16, 4
"""
As many of the best layouts that a chooser looked at are partitioned besides as have so many ops together, in bounds.

What they cost and hold is known only then: memory is counted by and large, and where seconds decide, for which some are
always tried, each collective as if it went alone, or reductions as if they all went together.
"""

ROOM = 1.15
"""How much more than the limit they may hold, as a chooser counts it."""

NEAR = 1.5
"""How many times what the best of them costs, where bytes decide, which a chooser counts well."""

LARGE = 2000
"""Ops above which none of these is: to partition a program of twelve layers takes seconds."""


Holds: TypeAlias = Callable[[ModuleOp], int]
"""The bytes that a device holds at the most for what runs its program; 0 where that is not known."""


class Running(NamedTuple):
    """What runs a device's program, which must not hold more than a limit."""

    holds: Holds
    limit: int


class Tried(NamedTuple):
    """
    A program with layouts, what it costs each device, what that sends, holds, and how many operations it takes.

    The cost is in bytes sent (see `counted`) and what a choice costs beside them, or in seconds where a topology was
    given. `again` the values that are computed again. The layouts are a `choice` for a `program`, of which the compiler
    is `asked` something besides.
    """

    program: LaidOut
    choice: Choice
    asked: dict[str, Attribute]
    cost: float
    sent: Fraction | None
    memory: Memory
    operations: int
    again: Counter[str]

    def laid_out(self) -> ModuleOp:
        """The program, with these layouts, that says what the compiler is asked for."""
        return _asking(self.program.written(self.choice), self.asked)


class LaidOut:
    """
    A program, what chooses its layouts, and what came of those that were chosen: each is partitioned once.

    What is best for a program `like` this one, with the same arguments, is where its choosers begin to search. What
    runs a device's program may say what it holds (`running`), of those whose values fit into a limit.
    """

    def __init__(
        self, module: ModuleOp, topology: Topology | None, like: LaidOut | None = None, running: Running | None = None
    ):
        self.given = module
        """The program as it was, without what is chosen."""
        self.module = module.clone()
        self.topology, self.running = topology, running
        ways = [(None, False)] if topology is None else [(topology, False), (topology, True), (None, False)]
        known = [None] * len(ways) if like is None else like.choosers
        self.choosers = [
            Chooser(self.module, on, together=together, like=chooser)
            for (on, together), chooser in zip(ways, known, strict=True)
        ]
        self._known: dict[tuple[Dims, ...], tuple[ModuleOp, Tried]] = {}

    @property
    def candidates(self) -> int:
        """How many of a chooser's best layouts are tried besides."""
        count = len(self.choosers[0].program.nodes)
        fewest = 0 if self.topology is None else FEWEST
        return 0 if count > LARGE else min(max(OPS // max(count, 1), fewest), MOST_CANDIDATES)

    def of(self, choice: Choice) -> tuple[ModuleOp, Tried]:
        """The module in these layouts, aligned, and tried."""
        if choice.dims not in self._known:
            aligned = self.written(choice).clone()
            run_pipeline(aligned, (*PROPAGATE, *ALIGN))
            self._known[choice.dims] = aligned, self.tried(choice, {}, aligned.clone())
        return self._known[choice.dims]

    def written(self, choice: Choice) -> ModuleOp:
        """The module, in these layouts until it is written again."""
        self.choosers[0].write(choice)
        return self.module

    def tried(self, choice: Choice, asked: dict[str, Attribute], local: ModuleOp) -> Tried:
        """What comes of layouts, of which `local` is the aligned program, used up here."""
        run_pipeline(local, PLAN, leaving=False)
        again = Counter(_places_again(local))
        sent = predicted_bytes(local)
        rows = [] if sent is not None and self.topology is None else collective_rows(local)
        run_pipeline(local, LOCALIZE, leaving=False)
        cost = choice.beside + (counted(rows) if sent is None else float(sent))
        if self.topology is not None:
            works, _ = works_of(rows, local, next(iter(meshes(local).values())), self.topology)
            cost = math.fsum(work.seconds for work in works)
        memory = memory_of(local)
        if self.running is not None and memory.values <= self.running.limit:
            memory = replace(memory, running=self.running.holds(local))
        return Tried(self, choice, asked, cost, sent, memory, operations_of(local), again)


class Trials:
    """
    Layouts of a program that were tried: the one that costs least of those that fit, and the one that holds least.

    With `recompute`, values may be computed again where a device would hold too much otherwise. Of a program that was
    `changed` to hold less, of which there may be many, fewer are tried, first such that hold no more than the limit.
    """

    def __init__(
        self,
        program: LaidOut,
        limit: float,
        *,
        changed: bool = False,
        recompute: bool = False,
    ):
        self.program = program
        self.limit = limit
        self._changed = changed
        self._recompute = recompute
        self._known: dict[tuple[Dims, ...], Tried] = {}
        self.best: Tried | None = None
        self.least: Tried | None = None
        self._run()

    def _run(self) -> None:
        for chooser in self.program.choosers:
            self.within(chooser)
            if not (self._changed or self._recompute):
                self.candidates(chooser)
        if not (self._changed or self._recompute):
            self.wider()

    def candidates(self, chooser: Chooser) -> None:
        """Tries the best layouts that a chooser looked at, if they may fit."""
        near = NEAR if self.program.topology is None else math.inf
        for assignment in chooser.known(self.limit * ROOM, near)[: self.program.candidates]:
            self._note(self.program.of(chooser.choose(self.limit, assignment))[1])

    def wider(self) -> None:
        """Splits arguments over fewer axes, as long as that takes less and fits; where bytes decide it never does."""
        looked_at = set[tuple[Dims, ...]]()
        chooser, left, best = self.program.choosers[0], self.program.candidates, None
        while left and self.best is not None and self.best is not best:
            best = self.best
            for choice in chooser.wider(best.choice):
                if not left or self.best is not best:
                    break
                if choice.dims not in looked_at:
                    looked_at.add(choice.dims)
                    tried = self.program.of(choice)[1]
                    if self.program.topology is not None or tried.operations <= best.operations:
                        self._note(tried)
                    left -= 1

    def within(self, chooser: Chooser) -> None:
        """Tries what a chooser finds for the limit, counting on less each time until it fits."""
        limit, best = self.limit, self.best
        budget, above, below = limit if self._changed else math.inf, math.inf, 0.0
        further, before = BETWEEN, None
        for _ in range(FEWER if self._changed or self._recompute else TRIES):
            choice = chooser.choose(budget)
            if choice == before and choice.held > budget and chooser.search.holds_least:
                break  # the last time it was too much as well
            before, counted = choice, min(budget, choice.held)
            fits = self.program.of(choice)[1].memory.peak <= limit
            tried = self._with_less(choice)
            self._note(tried)
            if budget == math.inf and (fits or (self.program.topology is None and tried.memory.peak <= limit)):
                break  # without a limit nothing costs less; to compute again costs time, which bytes do not count
            if self.best is not best:
                further -= 1
            if further < 0:
                break
            below, above = (budget, above) if fits else (below, counted)
            close = min(max(limit / tried.memory.peak, LEAST), MOST)
            budget = (below + above) / 2 if below else above * close

    def _with_less(self, choice: Choice) -> Tried:
        """What comes of layouts, values made again where too much is held otherwise and that may help."""
        if choice.dims not in self._known:
            aligned, tried = self.program.of(choice)
            if tried.memory.peak > self.limit and self._is_better(tried):
                tried = self._with_values_made_again(aligned, tried)
            self._known[choice.dims] = tried
        return self._known[choice.dims]

    def _is_better(self, tried: Tried) -> bool:
        return self.best is None or tried.cost < self.best.cost

    def _note(self, tried: Tried) -> None:
        peak = tried.memory.peak
        if peak <= self.limit:
            self.best = tried if self._is_better(tried) else self.best
        if self.least is None or peak < self.least.memory.peak:
            self.least = tried

    def _with_values_made_again(self, aligned: ModuleOp, kept: Tried) -> Tried:
        """The program in which values are let go of and made again, if it fits then; or with them `kept`."""
        limit, again = int(self.limit), kept
        aim = limit * kept.memory.values // kept.memory.peak  # what runs it may hold more than the values that go
        for number in range(AIMS):
            asked = self._asked(aim)
            local = _asking(aligned, asked)
            run_pipeline(local, ALIGN[1:])
            if _length(local) == _length(aligned):
                break  # nothing can be let go of
            is_all = _held(local) > aim
            again = self.program.tried(kept.choice, asked, local)
            if is_all or again.memory.peak <= limit:
                break  # for a lower aim nothing more would be let go of
            if number > 0 and again.memory.peak > limit * ROOM:
                break  # too far away
            aim = min(aim * limit // again.memory.peak, aim - aim // 32)
        return min(again, kept, key=lambda each: each.memory.peak)

    def _asked(self, aim: int) -> dict[str, Attribute]:
        """What says how much is to be held, and whether values may be computed again for that."""
        recompute: dict[str, Attribute] = {RECOMPUTE: UnitAttr()} if self._recompute else {}
        return {MEMORY_LIMIT: IntegerAttr(aim, 64), **recompute}


def counted(rows: Sequence[CollectiveRow]) -> float:
    """The bytes that a device sends, in loops that depend on data in one round; infinite where a count is unknown."""
    each = (math.inf if row.bytes_per_device is None else float(row.bytes_per_device) for row in rows)
    return sum(sent * row.repetition.times for sent, row in zip(each, rows, strict=True) if sent)


def _asking(module: ModuleOp, asked: dict[str, Attribute]) -> ModuleOp:
    """A copy of a module that says what the compiler is asked for."""
    copy = module.clone()
    copy.attributes |= asked
    return copy


def _length(aligned: ModuleOp) -> int:
    """How many ops there are, in loops as well."""
    return sum(1 for _ in aligned.walk())


def _held(aligned: ModuleOp) -> int:
    """What a device holds at most, as far as aligned programs tell."""
    mesh = next(iter(meshes(aligned).values()))
    return max(Holding.of(entry_function(aligned).body.block, lambda value: part_of(value, mesh)).levels)


def _places_again(planned: ModuleOp) -> Iterator[str]:
    """The lines of the ops that are done again."""
    for op in planned.walk():
        if RECOMPUTE in op.attributes and op is not planned:
            place = where(op)
            yield f"{place.file}:{place.line}" if place else "an unknown place"
