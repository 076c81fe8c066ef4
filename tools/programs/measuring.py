"""How long programs take here: on NumPy in this process, on the processes of a job, or on JAX's devices."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from shardwright.tools.programs.arrays import random_inputs
from shardwright.tools.programs.program import program_text
from shardwright.tools.programs.signature import entry_signature
from shardwright.tools.terminal.guard import CommandState

if TYPE_CHECKING:
    from shardwright.compiler.stages import Partitioned
    from shardwright.engines.jax.devices import JaxParts
    from shardwright.views.calibration import Sample

MOST_SECONDS, FEWEST, MOST = 0.5, 5, 200
"""For how long a program runs again and again, and how often at least and at most."""


def measured(path: str, state: CommandState, engine: str) -> Sample:
    """A program in a file, and the middle time of a run of it on an engine: "numpy" or "jax"."""
    from shardwright.compiler.stages import read_module
    from shardwright.dialects.text.parsing import parse_module
    from shardwright.dialects.text.verify import verify_module
    from shardwright.frontends.functions.dtensor import BACKEND
    from shardwright.views.calibration import Sample

    with program_text(path, state) as (name, text):
        module = parse_module(text, name)
        verify_module(module)
        inputs = random_inputs(entry_signature(module).arguments, 0)
        stage = read_module(module, name, BACKEND).partition()
        step = _jax_step(stage, inputs) if engine == "jax" else _numpy_step(stage, inputs)
        return Sample(name, stage, _middle(step))


def _middle(step: Callable[[], float]) -> float:
    """The middle of some runs, after one that does not count: as many on all processes of a job."""
    step()
    seconds = [step()]
    often = min(max(int(MOST_SECONDS / max(_longest(seconds[0]), 1e-9)), FEWEST), MOST)
    while len(seconds) < often:
        seconds.append(step())
    return statistics.median(seconds)


def _longest(seconds: float) -> float:
    """The same number on all processes of a job: the largest."""
    from shardwright.layout.forms.clients import Clients

    if Clients.found().count == 1:
        return seconds
    return max(import_module("mpi4py.MPI").COMM_WORLD.allgather(seconds))


def _numpy_step(stage: Partitioned, inputs: list[Any]) -> Callable[[], float]:
    """A run in this process, or of its part with the other processes of its job, each of which computes alone."""
    from shardwright.engines.processes import communicator_of
    from shardwright.layout.forms.clients import Clients
    from shardwright.runtime.executable import compile_module
    from shardwright.runtime.stacking import to_stacked

    mesh, clients = stage.interface.mesh, Clients.found()
    if clients.count == 1:
        executable = compile_module(stage.module)
    else:
        mesh = type(mesh).distributed(dict(mesh.sizes))
        executable = compile_module(stage.module, communicator=communicator_of(mesh), threads=1)
    given = zip(inputs, executable.inputs, strict=True)
    # A program that names no axis knows of none.
    stacked = [to_stacked(array, port.spec, mesh) if port.atoms.count else array for array, port in given]

    def step() -> float:
        executable.run_stacked(stacked)
        return executable.seconds

    return step


def _jax_step(stage: Partitioned, inputs: list[Any]) -> Callable[[], float]:
    """A run on JAX's devices, until all of its results are there."""
    from shardwright.engines.owned.owners import owner_of
    from shardwright.layout import Mesh
    from shardwright.runtime.executable import interface_of
    from shardwright.runtime.stacking import to_stacked

    mesh = Mesh(dict(stage.interface.mesh.sizes), devices="jax")
    owner = owner_of(mesh)
    assert owner is not None
    program = owner.program(stage.module, mesh)
    ports = interface_of(stage.module).inputs

    given = zip(inputs, ports, strict=True)
    parts = [owner.hold(to_stacked(array, port.spec, mesh), mesh) for array, port in given]

    def step() -> float:
        started = time.perf_counter()
        for made in program.run(parts):
            cast("JaxParts", made).wait()
        return time.perf_counter() - started

    return step
