"""The processes of an MPI job save and load together, run out of space, and are killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import shardwright
from shardwright import Checkpoint, CheckpointManager, Variable

MPIEXEC = shutil.which("mpiexec", path=str(Path(sys.executable).parent))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("mpi4py") is None or MPIEXEC is None, reason="needs pip install 'shardwright[mpi]'"),
]

SECONDS = 120

START = """
import os, resource, signal, sys
import numpy as np
import shardwright as sw
folder, *options = sys.argv[1:]
"""

TRAINING = (
    START
    + """
from shardwright.engines.mpi.world import world

class Layer(sw.Module):
    def __init__(self, layout):
        self.w = sw.Variable(np.arange(512, dtype="float32").reshape(32, 16), layout=layout, name="w")
        self.b = sw.Variable(np.arange(16, dtype="float32"), layout=sw.Layout([], layout.mesh), name="b")

    @sw.function
    def __call__(self, x):
        return x @ self.w + self.b

mesh = sw.Mesh.distributed({"x": 4, "y": 2})
place = mesh.clients.place
saves = options[0] == "save"
model = Layer(sw.Layout(["x"] if saves else [None, "y"], mesh))
optimizer = sw.optimizers.SGD(0.5, momentum=0.5)
x = sw.ones((8, 32), layout=sw.Layout([], mesh))
objects = sw.Checkpoint(model=model, optimizer=optimizer, step=1 if saves else 0)
manager = sw.CheckpointManager(objects, folder + "/run", max_to_keep=1)
if saves:
    optimizer.apply_gradients([(sw.ones_like(model.w), model.w), (sw.ones_like(model.b), model.b)])
    assert manager.save(6) == folder + "/run/ckpt-6"
    assert manager.save() == folder + "/run/ckpt-7"
    model(x)
    sw.save(model, folder + "/model")
    given = world().gather(bytes([place]) * place * 1000, "a test")
    assert given == ([bytes([at]) * at * 1000 for at in range(4)] if place == 0 else [])
    assert world().broadcast(b"", "a test") == b""
    assert world().broadcast(b"ab" * 1000 if place == 0 else b"c", "a test") == b"ab" * 1000
else:
    assert manager.restore_or_initialize() == folder + "/run/ckpt-7"
w = np.arange(512).reshape(32, 16) - 0.5
b = np.arange(16) - 0.5
assert objects.step == 1
assert np.array_equal(sw.fetch(model.w), w)
assert np.array_equal(sw.fetch(model.b), b)
(momentum,) = optimizer.slots.values()
assert all((sw.fetch(state) == -0.5).all() for state in momentum.values())
assert len(momentum) == 2
for options in ({}, {"mesh": mesh}):
    loaded = sw.load(folder + "/model", **options)
    assert np.array_equal(sw.fetch(loaded(x)), np.ones((8, 32)) @ w + b)
    assert np.array_equal(sw.fetch(loaded.w), w)
"""
)

KILLED = (
    START
    + """
victim, last = map(int, options)
mesh = sw.Mesh.distributed({"x": 4})
v = sw.Variable(np.zeros((64, 8)), layout=sw.Layout(["x"], mesh))
checkpoint = sw.Checkpoint(v=v)
count = 0

def hook(event, arguments):
    global count
    if event.split(".")[0] in ("open", "os", "shutil", "fcntl", "ctypes"):
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)

for step in range(1, 1000):
    v.assign(np.full((64, 8), float(step)))
    checkpoint.save(folder + "/place")
    if step == 2 and mesh.clients.place == victim:
        sys.addaudithook(hook)
"""
)

FULL = (
    START
    + """
mesh = sw.Mesh.distributed({"x": 4})
place = mesh.clients.place
v = sw.Variable(np.ones((1 << 16, 8)), layout=sw.Layout(["x"], mesh))
checkpoint = sw.Checkpoint(v=v)
checkpoint.save(folder + "/place")
v.assign(np.full(v.shape, 2.0))
before = resource.getrlimit(resource.RLIMIT_FSIZE)
if place == 2:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
try:
    checkpoint.save(folder + "/place")
except ValueError as error:
    found = str(error)
else:
    found = "nothing"
resource.setrlimit(resource.RLIMIT_FSIZE, before)
assert ("SW0876" if place == 2 else "SW0895") in found, found
assert "ile too large" in found and (place == 2 or "process 2, on" in found), found
sw.relayout(v, sw.Layout([], mesh))  # until all have let go
assert sorted(os.listdir(folder)) == ["place", "script.py"]
assert np.unique(sw.load_variables(folder + "/place")["v"]).tolist() == [1.0]
sw.relayout(v, sw.Layout([], mesh))  # until all have looked
checkpoint.save(folder + "/place")
assert np.unique(sw.load_variables(folder + "/place")["v"]).tolist() == [2.0]
"""
)


def job(count: int, program: str, folder: Path, *options: object) -> subprocess.CompletedProcess[str]:
    """Runs a program on so many processes; a wait of more than a minute ends it."""
    script = folder / "script.py"
    script.write_text(program)
    assert MPIEXEC is not None
    line = [MPIEXEC, "-n", str(count), sys.executable, "-m", "mpi4py", str(script), str(folder), *map(str, options)]
    settings = {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1", "SHARDWRIGHT_TIMEOUT": "60", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, env={**os.environ, **settings})


def test_what_four_processes_saved_goes_on_with_any_number(tmp_path: Path) -> None:
    for count, what in ((4, "save"), (1, "load"), (2, "load"), (8, "load")):
        done = job(count, TRAINING, tmp_path, what)
        assert done.returncode == 0, done.stderr
    assert os.listdir(tmp_path / "run") == ["ckpt-7"]
    found = shardwright.load_variables(tmp_path / "run/ckpt-7")
    np.testing.assert_array_equal(found["model/w"], np.arange(512).reshape(32, 16) - 0.5)
    loaded = shardwright.load(tmp_path / "model")  # without MPI, all devices in this process
    x = np.ones((8, 32), "float32")
    expected = x @ (np.arange(512).reshape(32, 16) - 0.5) + np.arange(16) - 0.5
    np.testing.assert_array_equal(np.asarray(loaded(x)), expected)


@pytest.mark.parametrize("victim", [0, 2])
@pytest.mark.parametrize("last", [1, 9, 23, 40, 61])
def test_a_process_that_is_killed_leaves_whole_checkpoints(victim: int, last: int, tmp_path: Path) -> None:
    done = job(4, KILLED, tmp_path, victim, last)
    assert done.returncode != 0
    v = Variable(np.zeros((64, 8)))
    place = tmp_path / "place"
    shardwright.verify_checkpoint(place)
    Checkpoint(v=v).restore(place)
    (value,) = np.unique(v.numpy())
    assert value >= 2.0
    v.assign(np.full((64, 8), -1.0))
    Checkpoint(v=v).save(place)
    assert np.unique(shardwright.load_variables(place)["v"]).tolist() == [-1.0]
    assert sorted(os.listdir(tmp_path)) == ["place", "script.py"]
    assert CheckpointManager(Checkpoint(v=v), tmp_path).latest_checkpoint is None


def test_a_process_without_room_fails_for_all(tmp_path: Path) -> None:
    done = job(4, FULL, tmp_path)
    assert done.returncode == 0, done.stderr
