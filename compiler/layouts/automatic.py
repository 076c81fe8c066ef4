"""Layouts for a program that nobody laid out, within what a device can hold."""

from __future__ import annotations

import math
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from shardwright.compiler.layouts.memory import Memory, memory_of
from shardwright.compiler.layouts.unsharded import strip_layouts
from shardwright.compiler.pipelines import ALIGN, IMPORT, LOCALIZE, PLAN, PROPAGATE, run_pipeline
from shardwright.compiler.report import predicted_bytes
from shardwright.diagnostics.figures import exact_bytes
from shardwright.dialects.dtensor import MeshOp, meshes
from shardwright.dialects.text.locations import fault
from shardwright.layout import Mesh
from shardwright.passes.choosing.choose_layouts import Chooser
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import insert_before, replace_with
from shardwright.passes.stages import MEMORY_LIMIT

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


def chosen(traced: ModuleOp, mesh: Mesh | None, limit: int | None) -> ModuleOp:
    """
    The traced program with all layouts, on `mesh` if it has none itself; the given one stays.

    Each device holds at most `limit` bytes at once (`memory_of`). Raises SW0468 where there is no mesh, SW0405 where
    the program has another one, and SW0469 where nothing was found that fits.
    """
    module = traced.clone()
    _put_on(module, mesh)
    run_pipeline(module, IMPORT)
    chooser = Chooser(module)
    if limit is None:
        chooser.choose(math.inf)
        return module
    return _within(module, chooser, limit)


def _within(module: ModuleOp, chooser: Chooser, limit: int) -> ModuleOp:
    """The module with the layouts that send least of those that were tried and fit."""
    budget, above, below = math.inf, math.inf, 0.0
    best: _Tried | None = None
    least: Memory | None = None
    further = BETWEEN
    for _ in range(TRIES):
        counted = min(budget, chooser.choose(budget))
        aligned = _aligned(module)
        tried = _tried(module, aligned)
        fits = tried.memory.peak <= limit
        if not fits and (best is None or tried.sent < best.sent):
            tried = _with_copies_made_again(module, aligned, limit, tried)
        if tried.memory.peak <= limit:
            best = tried if best is None or tried.sent < best.sent else best
        elif least is None or tried.memory.peak < least.peak:
            least = tried.memory
        if fits and above == math.inf:
            break  # without a limit nothing sends less
        if best is not None:
            further -= 1
        if further < 0:
            break
        below, above = (budget, above) if fits else (below, counted)
        close = min(max(limit / tried.memory.peak, LEAST), MOST)
        budget = (below + above) / 2 if below else above * close
    if best is not None:
        return best.module
    assert least is not None
    raise fault(
        "SW0469",
        f"no layouts were found with which each device holds at most {limit:,} bytes: the least was {least.peak:,}",
        entry_function(module),
        notes=tuple(f"{each.name} takes {exact_bytes(each.bytes)} bytes" for each in least.largest[:3]),
        help="raise the limit, use more devices, split the batch into several steps, or recompute "
        "(shardwright.checkpoint)",
    )


class _Tried(NamedTuple):
    """A program with layouts, what each device sends, infinite where that depends on data, and what it holds."""

    module: ModuleOp
    sent: float
    memory: Memory


def _with_copies_made_again(module: ModuleOp, aligned: ModuleOp, limit: int, kept: _Tried) -> _Tried:
    """The program in which copies are let go of and made again, if it fits then; or with them `kept`."""
    again, aim = kept, limit
    for _ in range(AIMS):
        again = _tried(module, aligned, aim)
        if again.memory.peak <= limit:
            break
        aim = aim * limit // again.memory.peak
    return min(again, kept, key=lambda each: each.memory.peak)


def _aligned(laid_out: ModuleOp) -> ModuleOp:
    aligned = laid_out.clone()
    run_pipeline(aligned, (*PROPAGATE, *ALIGN))
    return aligned


def _tried(laid_out: ModuleOp, aligned: ModuleOp, aim: int | None = None) -> _Tried:
    """What comes of a program with layouts that was aligned, where copies are let go of until it holds `aim` bytes."""
    module, local = laid_out.clone(), aligned.clone()
    if aim is not None:
        for each in (module, local):
            each.attributes[MEMORY_LIMIT] = IntegerAttr(aim, 64)
        run_pipeline(local, ALIGN[-1:])
    run_pipeline(local, PLAN)
    sent = predicted_bytes(local)
    run_pipeline(local, LOCALIZE)
    return _Tried(module, math.inf if sent is None else float(sent), memory_of(local))


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
