"""Layouts that are tried by partitioning the program: what it then costs, and what a device holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr

from shardwright.compiler.layouts.memory import Memory, memory_of
from shardwright.compiler.layouts.timing import operations_of, works_of
from shardwright.compiler.pipelines import ALIGN, LOCALIZE, PLAN, PROPAGATE, run_pipeline
from shardwright.compiler.report import collective_rows, predicted_bytes
from shardwright.dialects.dtensor import meshes
from shardwright.dialects.text.locations import where
from shardwright.layout.planning.topology import Topology
from shardwright.passes.choosing.choose_layouts import Chooser
from shardwright.passes.stages import MEMORY_LIMIT, RECOMPUTE

__all__ = ["FEWER", "Trials", "Tried", "Wanted"]

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

AIMS = 2
"""How often values are let go of, for less each time, as what collectives take in between is not counted there."""

CANDIDATES = 4
"""
So many of the best layouts of each kind are partitioned where seconds decide.

Counted as if each collective went alone, as if reductions went together, and by their bytes: which of them do is known
only then.
"""

LARGE = 2000
"""Ops above which one of each kind is enough: to partition a program of twelve layers takes seconds."""


@dataclass(frozen=True)
class Wanted:
    """
    What is asked of layouts: that a device holds at most so many bytes at once, and what is to be least then.

    That are the seconds on a topology or, where there is none, the bytes sent.
    """

    limit: float
    topology: Topology | None


class Tried(NamedTuple):
    """
    A program with layouts, what it costs each device, what that sends, holds, and how many operations it takes.

    The cost is in bytes sent, infinite where they depend on data, or in seconds where a topology was given. `again`
    the values that are computed again.
    """

    module: ModuleOp
    cost: float
    sent: Fraction | None
    memory: Memory
    operations: int
    again: Counter[str]


class Trials:
    """
    Layouts of a program that were tried: the one that costs least of those that fit, and the one that holds least.

    With `recompute`, values may be computed again where a device would hold too much otherwise.
    """

    def __init__(self, module: ModuleOp, wanted: Wanted, *, tries: int = TRIES, recompute: bool = False):
        self.module = module.clone()
        self.wanted = wanted
        self._tries = tries
        self._recompute = recompute
        self.best: Tried | None = None
        self.least: Tried | None = None
        self._run()

    def _run(self) -> None:
        limit, topology = self.wanted.limit, self.wanted.topology
        if topology is None:
            self.within(Chooser(self.module))
            return
        choosers = (
            Chooser(self.module, topology),
            Chooser(self.module, topology, together=True),
            Chooser(self.module),
        )
        most = 1 if len(choosers[0].program.nodes) > LARGE else CANDIDATES
        for chooser in choosers:
            self.candidates(chooser, most)
            if limit < math.inf:
                self.within(chooser)

    def candidates(self, chooser: Chooser, most: int) -> None:
        """Tries the best layouts of a chooser."""
        for assignment in chooser.good(math.inf, most):
            chooser.choose(math.inf, assignment)
            self._note(self._tried(_aligned(self.module)))

    def within(self, chooser: Chooser) -> None:
        """Tries what a chooser finds for the limit, counting on less each time until it fits."""
        limit, best = self.wanted.limit, self.best
        budget, above, below = math.inf, math.inf, 0.0
        further = BETWEEN
        for _ in range(self._tries):
            counted = min(budget, chooser.choose(budget))
            aligned = _aligned(self.module)
            tried = self._tried(aligned)
            fits = tried.memory.peak <= limit
            if not fits and self._is_better(tried):
                tried = self._with_values_made_again(aligned, tried)
            self._note(tried)
            if fits and above == math.inf:
                break  # without a limit nothing costs less
            if self.best is not best:
                further -= 1
            if further < 0:
                break
            below, above = (budget, above) if fits else (below, counted)
            close = min(max(limit / tried.memory.peak, LEAST), MOST)
            budget = (below + above) / 2 if below else above * close

    def _is_better(self, tried: Tried) -> bool:
        return self.best is None or tried.cost < self.best.cost

    def _note(self, tried: Tried) -> None:
        peak = tried.memory.peak
        if peak <= self.wanted.limit:
            self.best = tried if self._is_better(tried) else self.best
        if self.least is None or peak < self.least.memory.peak:
            self.least = tried

    def _with_values_made_again(self, aligned: ModuleOp, kept: Tried) -> Tried:
        """The program in which values are let go of and made again, if it fits then; or with them `kept`."""
        limit, again = int(self.wanted.limit), kept
        aim = limit
        for _ in range(AIMS):
            again = self._tried(aligned, aim)
            if again.memory.peak <= limit:
                break
            aim = aim * limit // again.memory.peak
        return min(again, kept, key=lambda each: each.memory.peak)

    def _tried(self, aligned: ModuleOp, aim: int | None = None) -> Tried:
        """What comes of the program as it was laid out and aligned, values let go of until it holds `aim` bytes."""
        module, local = self.module.clone(), aligned.clone()
        if aim is not None:
            for each in (module, local):
                each.attributes[MEMORY_LIMIT] = IntegerAttr(aim, 64)
                if self._recompute:
                    each.attributes[RECOMPUTE] = UnitAttr()
            run_pipeline(local, ALIGN[1:])
        run_pipeline(local, PLAN)
        again = Counter(_places_again(local))
        sent, topology = predicted_bytes(local), self.wanted.topology
        rows = [] if topology is None else collective_rows(local)
        run_pipeline(local, LOCALIZE)
        cost = math.inf if sent is None else float(sent)
        if topology is not None:
            works, _ = works_of(rows, local, next(iter(meshes(local).values())), topology)
            cost = math.fsum(work.seconds for work in works)
        return Tried(module, cost, sent, memory_of(local), operations_of(local), again)


def _aligned(laid_out: ModuleOp) -> ModuleOp:
    aligned = laid_out.clone()
    run_pipeline(aligned, (*PROPAGATE, *ALIGN))
    return aligned


def _places_again(planned: ModuleOp) -> Iterator[str]:
    """The lines of the ops that are done again."""
    for op in planned.walk():
        if RECOMPUTE in op.attributes and op is not planned:
            place = where(op)
            yield f"{place.file}:{place.line}" if place else "an unknown place"
