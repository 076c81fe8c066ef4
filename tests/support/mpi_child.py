"""What one of several MPI processes does for a test: `mpiexec -n 4 python -m mpi4py mpi_child.py SCENARIO [NAMES]`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness import partitioned
from mpi_arrays import connected
from stored_programs import inputs, meta, outputs, text
from whole.run_one import spreadable
from whole.spread import bytes_problem, part_problem, run_alone

import shardwright as sw
from shardwright.layout.mesh import Mesh
from shardwright.runtime.executable import compile_module
from shardwright.runtime.processes.crossing import Group, Reduction
from shardwright.runtime.stacking import component, to_stacked


def programs(names: list[str]) -> None:
    """Each process has its devices' parts of what JAX computed, and hands over no more bytes than predicted."""
    communicator = connected()
    count = communicator.clients.count
    for name in names:
        mesh = Mesh(meta(name)["mesh"])
        if mesh.size % count:
            continue
        executable = compile_module(partitioned(text(name))[1], communicator=communicator, threads=1)
        mine, before = mesh.seen_by(communicator.clients), communicator.sent_bytes
        own = [to_stacked(array, port.spec, mine) for array, port in zip(inputs(name), executable.inputs, strict=True)]
        found = executable.run_stacked(own)
        for part, whole, port in zip(found, outputs(name), executable.outputs, strict=True):
            everything = to_stacked(whole, port.spec, mesh)
            for device in mine.local_device_ids:
                pair = (
                    component(np.asarray(part), mine, device),
                    component(everything, mesh, device),
                )
                wide = [one.astype(np.float64) if one.dtype.kind == "V" else one for one in pair]
                np.testing.assert_allclose(wide[0], wide[1], **meta(name)["tol"], err_msg=name)
        sent = np.array(communicator.sent_bytes - before, np.float64)
        everyone = Group.of_all(communicator.clients)
        total = float(communicator.all_reduce(Reduction(everyone, "sum"), sent))
        assert total <= float(executable.ledger.sent_bytes) * mesh.size, name
        assert total == float(executable.ledger.sent_bytes) * mesh.size or count < mesh.size, name


def drawn(most: list[str]) -> None:
    """So many random programs: each process has its part, and MPI is handed what was predicted."""
    communicator = connected()
    count = communicator.clients.count
    everyone = Group.of_all(communicator.clients)
    for program in spreadable(count, int(most[0])):
        _, local = partitioned(program.text)
        alone = compile_module(local.clone(), fused=False)
        assert alone.mesh is not None
        problem, sent = part_problem(program, local, run_alone(program, alone), communicator)
        assert problem == "", program.seed
        own = np.where(np.arange(count) == communicator.clients.place, sent, 0)
        everything = communicator.all_reduce(Reduction(everyone, "sum"), own).tolist()
        assert bytes_problem(alone.ledger.sent_bytes, alone.mesh, everything) == "", program.seed


def api(_: list[str]) -> None:
    """The Python API on a mesh of all processes: what each has, and what is the same as in one process."""
    mesh, alone = sw.Mesh.distributed({"x": 4, "y": 2}), sw.Mesh(x=4, y=2)
    whole = np.arange(48.0, dtype=np.float32).reshape(8, 6)
    x = sw.relayout(whole, sw.Layout(["x", "y"], mesh))
    assert (x.shape, len(x.components())) == ((8, 6), 8 // mesh.num_clients)
    np.testing.assert_array_equal(sw.fetch(x * 2), whole * 2)
    np.testing.assert_array_equal(sw.fetch(sw.relayout(x, sw.Layout(["x"], sw.Mesh.distributed({"x": 4})))), whole)
    packed = sw.pack([np.full((2, 3), device) for device in mesh.local_device_ids], sw.Layout(["x", "y"], mesh))
    np.testing.assert_array_equal(sw.fetch(packed), np.arange(8).reshape(4, 2).repeat(2, 0).repeat(3, 1))
    assert float(sw.sum(x)) == whole.sum()
    seeded = {
        one: sw.random.stateless_random_normal((8, 6), [1, 2], layout=sw.Layout(["x", "y"], one))
        for one in (mesh, alone)
    }
    np.testing.assert_array_equal(sw.fetch(seeded[mesh]), seeded[alone].numpy())
    weight = sw.Variable(sw.relayout(np.ones((6, 4), np.float32), sw.Layout([None, "y"], mesh)))
    with sw.GradientTape() as tape:
        loss = sw.sum((x @ weight) ** 2)
    gradient = tape.gradient(loss, weight)
    np.testing.assert_allclose(sw.fetch(gradient), 2 * whole.T @ (whole @ np.ones((6, 4))), rtol=1e-6)
    assert float(x[3, 4]) == whole[3, 4]
    for refused in (lambda: np.asarray(x), lambda: x.numpy()):
        with pytest.raises(sw.ShardwrightError, match="SW0903"):
            refused()


def stages(folders: list[str]) -> None:
    """What lies on some of the processes is run by them alone, and whoever only sends does not wait."""
    mesh = sw.Mesh.distributed({"stage": 2, "batch": 2})
    meshes = [mesh.submesh(stage=number) for number in range(2)]
    rows = [sw.Layout(["batch", None], one) for one in meshes]
    _sent_ahead(meshes, rows, Path(folders[0]) / "all is sent")
    x = np.linspace(-1, 1, 32).reshape(8, 4)
    start = [np.linspace(-1, 2, 16).reshape(4, 4), np.linspace(1, -2, 8).reshape(4, 2)]
    weights = [sw.Variable(sw.relayout(w, sw.Layout([], one))) for w, one in zip(start, meshes, strict=True)]
    hidden, due = np.maximum(x @ start[0], 0), np.maximum(x @ start[0], 0) @ start[1]
    with sw.GradientTape() as tape:
        found = sw.relayout(sw.nn.relu(sw.relayout(x, rows[0]) @ weights[0]), rows[1]) @ weights[1]
        loss = sw.sum(found**2)
    slopes = tape.gradient(loss, weights)
    np.testing.assert_allclose(sw.fetch(found), due)
    np.testing.assert_allclose(float(sw.fetch(loss)), (due**2).sum())
    np.testing.assert_allclose(sw.fetch(slopes[1]), 2 * hidden.T @ due)
    np.testing.assert_allclose(sw.fetch(slopes[0]), x.T @ ((2 * due @ start[1].T) * (hidden > 0)))
    for one, value in zip(meshes, weights, strict=True):
        assert len(value.read_value().components()) == len(one.local_device_ids)
        if not one.local_device_ids:
            with pytest.raises(sw.ShardwrightError, match="SW0903"):
                value.numpy()
    saved = sw.Checkpoint(first=weights[0], last=weights[1]).save(f"{folders[0]}/saved")
    turned = zip(start, reversed(meshes), strict=True)
    others = [sw.Variable(sw.relayout(np.zeros_like(w), sw.Layout([], one))) for w, one in turned]
    sw.Checkpoint(first=others[0], last=others[1]).restore(saved)
    for other, value in zip(others, start, strict=True):
        np.testing.assert_array_equal(sw.fetch(other), value)
    _saved_where_it_was(weights, rows, x, due, f"{folders[0]}/programs")


class _Stages(sw.Module):
    """A layer on each stage."""

    def __init__(self, weights: list[sw.Variable]) -> None:
        self.weights = weights

    @sw.function
    def first(self, x: Any) -> Any:
        return sw.nn.relu(x @ self.weights[0])

    @sw.function
    def last(self, x: Any) -> Any:
        return x @ self.weights[1]


def _saved_where_it_was(weights: list[sw.Variable], rows: list[sw.Layout], x: Any, due: Any, place: str) -> None:
    """Programs and variables come back on the processes that they had, or on others that are named."""

    def run(model: Any, layouts: list[sw.Layout]) -> None:
        hidden = model.first(sw.relayout(x, layouts[0]))
        np.testing.assert_allclose(sw.fetch(model.last(sw.relayout(hidden, layouts[1]))), due)

    model = _Stages(weights)
    run(model, rows)
    sw.save(model, place)
    loaded = sw.load(place)
    assert [value.layout.mesh for value in loaded.weights] == [layout.mesh for layout in rows]
    run(loaded, rows)
    turned = rows[::-1]
    exchanged = sw.load(place, mesh={"mesh": turned[0].mesh, "mesh_1": turned[1].mesh})
    assert [value.layout.mesh for value in exchanged.weights] == [layout.mesh for layout in turned]
    run(exchanged, turned)


def _sent_ahead(meshes: list[sw.Mesh], rows: list[sw.Layout], mark: Path) -> None:
    """The second stage takes nothing before the first has sent all, more than any buffer of MPI's holds."""
    connected()
    many, shape = 4, (8, 1 << 17)
    parts = [sw.relayout(np.full(shape, float(number)), rows[0]) for number in range(many)]
    if meshes[1].local_device_ids:
        until = time.monotonic() + 60
        while not mark.exists() and time.monotonic() < until:
            time.sleep(0.01)
        assert mark.exists(), "who sends has waited for who takes"
    taken = [sw.relayout(part, rows[1]) for part in parts]
    if meshes[0].local_device_ids:
        mark.touch()
    for number, part in enumerate(taken):
        assert all((one == number).all() for one in part.components())


def some(arguments: list[str]) -> None:
    """A scenario after the other: in a folder, and with the programs that are named."""
    folder, *names = arguments
    for scenario, given in ((api, []), (stages, [folder]), (programs, names)):
        scenario(given)
        print(f"{scenario.__name__} is done\n", end="", flush=True)  # at once, so that lines do not mix


SCENARIOS = {
    "some": some,
    "programs": programs,
    "drawn": drawn,
    "api": api,
    "stages": stages,
}


if __name__ == "__main__":
    SCENARIOS[sys.argv[1]](sys.argv[2:])
    print("done", flush=True)
