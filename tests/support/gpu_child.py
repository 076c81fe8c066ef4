"""
What each process of a job with GPUs does for a test, whether these are real ones or the stand-in's.

On real ones, one command: `make gpu`, which runs `shardwright launch -n 4 tests/support/gpu_child.py` for the GPUs
that there are.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
import pytest
from harness import partitioned
from stored_programs import RUNNABLE, inputs, meta, outputs, text
from xdsl.dialects.builtin import ModuleOp

import shardwright as sw
from shardwright.engines.owned.owners import owner_of
from shardwright.engines.owned.parts import Owner, Program
from shardwright.layout.forms.clients import Clients
from shardwright.runtime.executable import interface_of
from shardwright.runtime.stacking import component, to_stacked

Make = Callable[[Any], sw.Mesh]
"""Makes a mesh of these dims over all processes of the job, on their GPUs."""

LACKING = ("bit_tricks", "fp8_matmul")
"""Programs with elements that CuPy has no arrays of."""


def programs(make: Make, names: Sequence[str], count: int) -> list[str]:
    """Each process has its devices' parts of what JAX computed; those that ran."""
    ran = [name for name in names if name not in LACKING and sw.Mesh(meta(name)["mesh"]).size % count == 0]
    for name in ran:
        program(make, name)
    return ran


_once = threading.Lock()


def local(name: str) -> ModuleOp:
    """The program of each device, made once for all threads."""
    with _once:
        return _local(name)


@cache
def _local(name: str) -> ModuleOp:
    return partitioned(text(name))[1]


def program(make: Make, name: str) -> tuple[Program, int]:
    """One program, twice; and the bytes that this process sent each time."""
    mesh, module = make(meta(name)["mesh"]), local(name)
    owner, interface = cast(Owner, owner_of(mesh)), interface_of(module)
    communicator = getattr(owner, "communicator", None)
    given = zip(inputs(name), interface.inputs, strict=True)
    if interface.mesh is None:
        held = [owner.hold(np.asarray(array)[(None,) * len(mesh.axis_names)], mesh) for array, _ in given]
    else:
        held = [owner.hold(to_stacked(array, port.spec, mesh), mesh) for array, port in given]
    compiled = owner.program(module, mesh)
    before = 0 if communicator is None else communicator.sent_bytes
    for _ in range(2):
        found = compiled.run(held)
    for part, whole, port in zip(found, outputs(name), interface.outputs, strict=True):
        assert_part(part.here(), whole, port.spec, mesh, name)
        assert part.shape == part.here().shape
    return compiled, 0 if communicator is None else (communicator.sent_bytes - before) // 2


def assert_part(found: Any, whole: Any, spec: Any, mesh: sw.Mesh, name: str) -> None:
    """The devices of this process have their parts of an array."""
    everything, alone = to_stacked(whole, spec, sw.Mesh(mesh.sizes)), sw.Mesh(mesh.sizes)
    for device in mesh.local_device_ids:
        pair = component(found, mesh, device), component(everything, alone, device)
        assert pair[0].dtype == pair[1].dtype
        np.testing.assert_allclose(*(one.astype(np.complex128) for one in pair), **meta(name)["tol"], err_msg=name)


def api(make: Make, count: int) -> None:
    """The Python API: what each process has, and what is the same as in one process without a GPU."""
    mesh, alone = make({"x": 4, "y": 2}), sw.Mesh(x=4, y=2)
    whole = np.arange(48.0, dtype=np.float32).reshape(8, 6)
    x = sw.relayout(whole, sw.Layout(["x", "y"], mesh))
    assert (x.shape, len(x.components())) == ((8, 6), 8 // count)
    np.testing.assert_array_equal(sw.fetch(x * 2), whole * 2)
    np.testing.assert_array_equal(sw.fetch(sw.relayout(x, sw.Layout([None, "y"], mesh))), whole)
    assert float(sw.sum(x)) == whole.sum()
    drawn = [
        sw.fetch(sw.random.stateless_random_normal((8, 6), [1, 2], layout=sw.Layout(["x", "y"], one)))
        for one in (mesh, alone)
    ]
    np.testing.assert_allclose(*drawn, rtol=1e-6)
    weight = sw.Variable(sw.relayout(np.ones((6, 4), np.float32), sw.Layout([None, "y"], mesh)))
    with sw.GradientTape() as tape:
        loss = sw.sum((x @ weight) ** 2)
    gradient = tape.gradient(loss, weight)
    due = 2 * whole.T @ (whole @ np.ones((6, 4)))
    np.testing.assert_allclose(sw.fetch(gradient), due, rtol=1e-6)
    weight.assign_sub(gradient)
    np.testing.assert_allclose(sw.fetch(weight), 1 - due, rtol=1e-6)
    assert float(x[3, 4]) == whole[3, 4]
    if count > 1:
        with pytest.raises(sw.ShardwrightError, match="SW0903"):
            x.numpy()


def between_meshes(count: int) -> None:
    """A tensor goes from GPUs to other GPUs' mesh and to the host's, and comes back."""
    whole = np.arange(8.0)
    x = sw.relayout(whole, sw.Layout(["x"], sw.gpu_mesh({"x": count})))
    for mesh in (sw.gpu_mesh({"y": 2 * count}), sw.Mesh.distributed({"z": count})):
        there = sw.relayout(x, sw.Layout(mesh.axis_names, mesh))
        np.testing.assert_array_equal(sw.fetch(there), whole)
        np.testing.assert_array_equal(sw.fetch(sw.relayout(there, x.layout)), whole)


def main(names: Sequence[str]) -> None:
    """Everything, or the programs of these names, on the GPUs that there are."""
    clients = Clients.found()
    api(sw.gpu_mesh, clients.count)
    between_meshes(clients.count)
    ran = programs(sw.gpu_mesh, names or RUNNABLE, clients.count)
    print(f"process {clients.place}: {len(ran)} programs", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
