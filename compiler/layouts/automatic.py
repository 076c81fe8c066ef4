"""Layouts for a program that nobody laid out, within what a device can hold."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias, get_args

from xdsl.dialects.builtin import ModuleOp

from shardwright._collector import collector_paused
from shardwright.compiler.layouts.microbatches import Microbatches, fewest_parts
from shardwright.compiler.layouts.offers import Offer, check_borders, least_held, nothing_fits
from shardwright.compiler.layouts.trials import Holds, LaidOut, Running, Trials, Tried
from shardwright.compiler.layouts.unsharded import strip_layouts
from shardwright.compiler.pipelines import IMPORT, run_pipeline
from shardwright.diagnostics.faults import value_error
from shardwright.diagnostics.figures import size_in_bytes
from shardwright.dialects.dtensor import MeshOp, meshes
from shardwright.dialects.text.locations import fault
from shardwright.layout import Mesh
from shardwright.layout.planning.topology import Topology
from shardwright.passes.choosing.assignments import Assigner
from shardwright.passes.choosing.bound import least_sent
from shardwright.passes.choosing.choose_layouts import program_to_lay_out
from shardwright.passes.choosing.prices import Prices
from shardwright.passes.program import entry_function
from shardwright.passes.propagation.strategy import Strategist
from shardwright.passes.rewriter import insert_before, replace_with

Goal: TypeAlias = Literal["bytes", "seconds"]
"""What chosen layouts make least."""


@collector_paused()
def chosen(
    traced: ModuleOp,
    mesh: Mesh | None,
    limit: int | None,
    objective: Goal = "bytes",
    topology: Topology | None = None,
    *,
    recompute: bool = False,
    microbatches: bool = False,
    holds: Holds | None = None,
) -> ModuleOp:
    """
    The traced program with all layouts, on `mesh` if it has none itself; the given one stays.

    They are those that send least or, for "seconds", those that take least on a topology (one of the usual orders of
    magnitude, if none is given). Each device holds at most `limit` bytes at once (`memory_of`), for what runs it as
    well, if that says what it `holds`. Where nothing is found that fits, values are computed again, if `recompute`
    allows it, and the batch is done in as few parts as will do, if `microbatches` allows that. Raises SW0468 where
    there is no mesh, SW0405 where the program has another one, SW0469 where nothing was found that fits, SW0585 for
    another objective, and SW0121 for a topology without an axis' link.
    """
    check_goal(objective)
    module = on_mesh(traced, mesh)
    mesh = next(iter(meshes(module).values()), None)
    links = None if mesh is None else Topology.of(mesh) if topology is None else topology.on(mesh)
    known = links if objective == "seconds" else None
    most = math.inf if limit is None else limit
    if mesh is not None:
        check_borders(module, mesh, most)
    running = None if limit is None or holds is None else Running(holds, limit)
    program = LaidOut(module, known, running=running)
    if known is None and limit is None and not program.candidates:
        return program.written(program.choosers[0].choose(math.inf))
    plain = Trials(program, most)
    if plain.best is not None:
        return plain.best.laid_out()
    assert plain.least is not None
    offers: list[Offer] = []
    for allowed, way in ((recompute, _recomputed), (microbatches, _in_parts)):
        offer = way(program, most, plain.least)
        if allowed and offer is not None and offer.tried.memory.peak <= most:
            return offer.tried.laid_out()
        if offer is not None and offer.tried.memory.peak < plain.least.memory.peak:
            offers.append(offer)
    raise nothing_fits(module, most, plain.least, offers)


def check_goal(objective: str) -> None:
    """Raises `ValueError` (SW0585) for what no layouts are chosen for."""
    if objective not in get_args(Goal):
        raise value_error(
            "SW0585", f"layouts cannot be chosen for {objective!r}", help='choose for "bytes", or for "seconds"'
        )


def limit_of(
    what: str,
    memory_limit: int | str | None,
    objective: str,
    topology: Topology | None,
    *,
    recompute: bool,
    microbatches: bool,
) -> int | None:
    """
    The limit in bytes of what the function `what` was asked for, if there is one.

    Raises `ValueError` for another objective (SW0585), for what is no number of bytes (SW0582), and for what does
    nothing without another setting (SW0510).
    """
    check_goal(objective)
    if topology is not None and objective == "bytes":
        help = 'choose for objective="seconds", or leave topology out'
        raise value_error("SW0510", f"{what}: a topology says nothing where bytes decide", help=help)
    for name, allowed in (("recompute", recompute), ("microbatches", microbatches)):
        if allowed and memory_limit is None:
            help = f'give a limit, memory_limit="16GB", or leave {name} out'
            raise value_error("SW0510", f"{what}: {name}=True does nothing without a memory_limit", help=help)
    return None if memory_limit is None else size_in_bytes(memory_limit)


def least_sent_by_any(traced: ModuleOp, mesh: Mesh | None) -> float | None:
    """
    What each device sends at least under any assignment of axes to named dims with all devices at work.

    None where there is no such assignment. Raises as `chosen` does.
    """
    programs = program_to_lay_out(on_mesh(traced, mesh))
    assigner = Assigner(programs.even, programs.shapes)
    found = least_sent(Prices(programs.even, Strategist(programs.even), assigner))
    return found if math.isfinite(found) else None


def on_mesh(traced: ModuleOp, mesh: Mesh | None) -> ModuleOp:
    """A copy of the traced program, on a mesh, as layouts are chosen for it."""
    module = traced.clone()
    _put_on(module, mesh)
    run_pipeline(module, IMPORT)
    return module


def _recomputed(program: LaidOut, limit: float, without: Tried) -> Offer | None:
    """What comes of computing values again; None where none could be."""
    again = Trials(program, limit, recompute=True)
    found = again.best or again.least
    return Offer("recompute=True", "values are computed again", found) if found and found.again else None


def _in_parts(program: LaidOut, limit: float, without: Tried) -> Offer | None:
    """What comes of as few parts of the batch as will do, or of those that hold least; None where it has none."""
    batch, like, offers = Microbatches(program.given), program, dict[int, Offer]()

    def tried(count: int) -> int | None:
        nonlocal like
        parts = batch.of(count)
        if parts is None:
            return None
        like = LaidOut(parts, program.topology, like=like, running=program.running)
        trials = Trials(like, limit, changed=True)
        found = trials.best or trials.least
        assert found is not None
        offers[count] = Offer("microbatches=True", f"{count} parts of the batch one after the other", found)
        return found.memory.peak

    stays = least_held(program.given, next(iter(meshes(program.given).values())))
    count = fewest_parts(batch.counts, tried, without.memory.peak, stays, limit)
    return None if count is None else offers[count]


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
