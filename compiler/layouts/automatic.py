"""Layouts for a program that nobody laid out, within what a device can hold."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias, get_args

from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from shardwright.compiler.layouts.memory import Memory, memory_of
from shardwright.compiler.layouts.timing import works_of
from shardwright.compiler.layouts.unsharded import strip_layouts
from shardwright.compiler.pipelines import ALIGN, IMPORT, LOCALIZE, PLAN, PROPAGATE, run_pipeline
from shardwright.compiler.report import collective_rows, predicted_bytes
from shardwright.diagnostics.faults import value_error
from shardwright.diagnostics.figures import exact_bytes
from shardwright.dialects.dtensor import MeshOp, meshes
from shardwright.dialects.text.locations import fault
from shardwright.layout import Mesh
from shardwright.layout.planning.topology import Topology
from shardwright.passes.choosing.choose_layouts import Chooser
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import insert_before, replace_with
from shardwright.passes.stages import MEMORY_LIMIT

Goal: TypeAlias = Literal["bytes", "seconds"]
"""What chosen layouts make least."""

TRIES, LEAST, MOST = 8, 0.8, 0.98
"""
How often layouts are chosen, first without a limit, then for a lower one each time, until they fit.

What the program will hold besides its values, copies and parts that are not summed up yet, is known only once it is
there; so what is counted on for the next choice is less by as much as the last one was too large, within bounds, as
the next one may be counted better.
"""

BETWEEN = 2
"""How many more are tried then: for less memory, or between the last that did not fit and the last that did."""

AIMS = 2
"""How often copies are let go of, for less each time, as what collectives take in between is not counted there."""


CANDIDATES = 4
"""
So many of the best layouts of each kind are partitioned where seconds decide.

Counted as if each collective went alone, as if reductions went together, and by their bytes: which of them do is known
only then.
"""

LARGE = 2000
"""Ops above which one of each kind is enough: to partition a program of twelve layers takes seconds."""


def chosen(
    traced: ModuleOp,
    mesh: Mesh | None,
    limit: int | None,
    objective: Goal = "bytes",
    topology: Topology | None = None,
) -> ModuleOp:
    """
    The traced program with all layouts, on `mesh` if it has none itself; the given one stays.

    They are those that send least or, for "seconds", those that take least on a topology (one of the usual orders of
    magnitude, if none is given). Each device holds at most `limit` bytes at once (`memory_of`). Raises SW0468 where
    there is no mesh, SW0405 where the program has another one, SW0469 where nothing was found that fits, and SW0585 for
    another objective.
    """
    if objective not in get_args(Goal):
        raise value_error(
            "SW0585", f"layouts cannot be chosen for {objective!r}", help='choose for "bytes", or for "seconds"'
        )
    module = traced.clone()
    _put_on(module, mesh)
    run_pipeline(module, IMPORT)
    if objective == "bytes" and limit is None:
        Chooser(module).choose(math.inf)
        return module
    mesh = next(iter(meshes(module).values()), None)
    known = None if objective == "bytes" or mesh is None else topology or Topology.of(mesh)
    trials = _Trials(module, math.inf if limit is None else limit, known)
    if known is None:
        trials.within(Chooser(module))
    else:
        choosers = Chooser(module, known), Chooser(module, known, together=True), Chooser(module)
        most = 1 if len(choosers[0].program.nodes) > LARGE else CANDIDATES
        for chooser in choosers:
            trials.candidates(chooser, most)
            if limit is not None:
                trials.within(chooser)
    return trials.result()


class _Tried(NamedTuple):
    """
    A program with layouts, what it costs each device, and what that holds.

    The cost is in bytes sent, infinite where they depend on data, or in seconds where a topology was given.
    """

    module: ModuleOp
    cost: float
    memory: Memory


class _Trials:
    """Layouts that were tried, of which those count that fit into a limit."""

    def __init__(self, module: ModuleOp, limit: float, topology: Topology | None):
        self.module = module
        self.limit = limit
        self.topology = topology
        self._best: _Tried | None = None
        self._least: Memory | None = None

    def result(self) -> ModuleOp:
        """The module with the layouts that cost least of those that fit."""
        if self._best is not None:
            return self._best.module
        assert self._least is not None
        raise fault(
            "SW0469",
            f"no layouts were found with which each device holds at most {self.limit:,} bytes: the least was "
            f"{self._least.peak:,}",
            entry_function(self.module),
            notes=tuple(f"{each.name} takes {exact_bytes(each.bytes)} bytes" for each in self._least.largest[:3]),
            help="raise the limit, use more devices, split the batch into several steps, or recompute "
            "(shardwright.checkpoint)",
        )

    def candidates(self, chooser: Chooser, most: int) -> None:
        """Tries the best layouts of a chooser."""
        for assignment in chooser.good(math.inf, most):
            chooser.choose(math.inf, assignment)
            self._note(self._tried(_aligned(self.module)))

    def within(self, chooser: Chooser) -> None:
        """Tries what a chooser finds for the limit, counting on less each time until it fits."""
        limit, best = self.limit, self._best
        budget, above, below = math.inf, math.inf, 0.0
        further = BETWEEN
        for _ in range(TRIES):
            counted = min(budget, chooser.choose(budget))
            aligned = _aligned(self.module)
            tried = self._tried(aligned)
            fits = tried.memory.peak <= limit
            if not fits and self._is_better(tried):
                tried = self._with_copies_made_again(aligned, tried)
            self._note(tried)
            if fits and above == math.inf:
                break  # without a limit nothing costs less
            if self._best is not best:
                further -= 1
            if further < 0:
                break
            below, above = (budget, above) if fits else (below, counted)
            close = min(max(limit / tried.memory.peak, LEAST), MOST)
            budget = (below + above) / 2 if below else above * close

    def _is_better(self, tried: _Tried) -> bool:
        return self._best is None or tried.cost < self._best.cost

    def _note(self, tried: _Tried) -> None:
        if tried.memory.peak <= self.limit:
            self._best = tried if self._is_better(tried) else self._best
        elif self._least is None or tried.memory.peak < self._least.peak:
            self._least = tried.memory

    def _with_copies_made_again(self, aligned: ModuleOp, kept: _Tried) -> _Tried:
        """The program in which copies are let go of and made again, if it fits then; or with them `kept`."""
        again, aim = kept, int(self.limit)
        for _ in range(AIMS):
            again = self._tried(aligned, aim)
            if again.memory.peak <= self.limit:
                break
            aim = aim * int(self.limit) // again.memory.peak
        return min(again, kept, key=lambda each: each.memory.peak)

    def _tried(self, aligned: ModuleOp, aim: int | None = None) -> _Tried:
        """What comes of the program as it was laid out and aligned, copies let go of until it holds `aim` bytes."""
        module, local = self.module.clone(), aligned.clone()
        if aim is not None:
            for each in (module, local):
                each.attributes[MEMORY_LIMIT] = IntegerAttr(aim, 64)
            run_pipeline(local, ALIGN[-1:])
        run_pipeline(local, PLAN)
        sent, rows = predicted_bytes(local), [] if self.topology is None else collective_rows(local)
        run_pipeline(local, LOCALIZE)
        cost = math.inf if sent is None else float(sent)
        if self.topology is not None:
            works, _ = works_of(rows, local, next(iter(meshes(local).values())), self.topology)
            cost = math.fsum(work.seconds for work in works)
        return _Tried(module, cost, memory_of(local))


def _aligned(laid_out: ModuleOp) -> ModuleOp:
    aligned = laid_out.clone()
    run_pipeline(aligned, (*PROPAGATE, *ALIGN))
    return aligned


def _put_on(module: ModuleOp, mesh: Mesh | None) -> None:
    """Declares the mesh in a program that has none with axes."""
    if mesh is None:
        return
    declared = [op for op in module.ops if isinstance(op, MeshOp)]
    found = list(meshes(module).values())
    if len(found) > 1 or (found and found[0].sizes and found[0].sizes != mesh.sizes):
        raise fault(
            "SW0405",
            f"the program is on {', '.join(map(repr, found))} already, not on {mesh!r}",
            module,
            help="leave the mesh out, or take the program's own layouts away",
        )
    if not found:
        insert_before(entry_function(module), MeshOp("mesh", list(mesh.sizes.items())))
    elif not found[0].sizes:
        strip_layouts(module, keep_mesh=True)  # on one device there was nothing to lay out
        replace_with(declared[0], MeshOp(found[0].name, list(mesh.sizes.items())))
