"""A directory of checkpoints: which stay, which go, and what is left of a writer that was killed."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright
from shardwright import Checkpoint, CheckpointManager, Variable
from shardwright.saving.checkpoints.manager import Saved, outdated
from shardwright.saving.checkpoints.manifest import MANIFEST, read_manifest
from shardwright.serialization.files.atomic_folder import AtomicFolder


def names(manager: CheckpointManager) -> list[str]:
    return [Path(path).name for path in manager.checkpoints]


def test_the_last_ones_stay(tmp_path: Path) -> None:
    step = Variable(0)
    manager = CheckpointManager(Checkpoint(step=step), tmp_path, max_to_keep=3)
    assert (manager.checkpoints, manager.latest_checkpoint) == ([], None)
    for number in (1, 5, 9, 10, 100):
        step.assign(number)
        assert manager.save(number) == str(tmp_path / f"ckpt-{number}")
    assert names(manager) == ["ckpt-9", "ckpt-10", "ckpt-100"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names(manager))
    step.assign(0)
    again = CheckpointManager(Checkpoint(step=step), tmp_path, max_to_keep=3)
    assert again.restore_or_initialize() == str(tmp_path / "ckpt-100")
    assert int(step) == 100


def test_the_order_is_that_of_saving_not_of_numbers(tmp_path: Path) -> None:
    """Who goes back to step 3 and trains on does not lose what is new."""
    manager = CheckpointManager(Checkpoint(v=np.zeros(2)), tmp_path, max_to_keep=2)
    for number in (7, 8, 3, 4):
        manager.save(number)
    assert names(manager) == ["ckpt-3", "ckpt-4"]
    manager.save(3)
    assert names(manager) == ["ckpt-4", "ckpt-3"]
    assert manager.save() == str(tmp_path / "ckpt-5")


def test_all_stay_without_a_limit(tmp_path: Path) -> None:
    manager = CheckpointManager(Checkpoint(v=np.zeros(2)), tmp_path, max_to_keep=None, checkpoint_name="run.1")
    for _ in range(7):
        manager.save()
    assert names(manager) == [f"run.1-{number}" for number in range(1, 8)]


def test_one_of_each_span_of_hours_stays() -> None:
    def kept(keep: int | None, hours: float | None, *times: float) -> list[float]:
        saved = [Saved(at, at, 3600 * time, Path()) for at, time in enumerate(times)]
        gone = outdated(saved, keep, hours)
        return [item.time / 3600 for item in saved if item not in gone]

    assert kept(1, None, 0, 1, 2) == [2]
    assert kept(None, None, 0, 1, 2) == [0, 1, 2]
    assert kept(5, 1, 0, 1, 2) == [0, 1, 2]
    assert kept(1, 2, 0, 0.5, 1.9, 2, 3, 4, 4.5, 9) == [0, 2, 4, 9]
    assert kept(2, 10, 5, 6, 7, 8) == [5, 7, 8]


def test_steps_come_from_a_counter(tmp_path: Path) -> None:
    step = Variable(0)
    manager = CheckpointManager(Checkpoint(step=step), tmp_path, step_counter=step, checkpoint_interval=3)
    saved = []
    for _ in range(8):
        saved.append(manager.save())
        step.assign_add(1)
    assert [number for number, path in enumerate(saved) if path] == [0, 3, 6]
    assert manager.save(check_interval=False) == str(tmp_path / "ckpt-8")
    counted = CheckpointManager(Checkpoint(step=step), tmp_path, step_counter=lambda: 41)
    assert counted.save() == str(tmp_path / "ckpt-41")


def test_nothing_there_is_initialized(tmp_path: Path) -> None:
    called: list[int] = []
    w = Variable(1.0)
    manager = CheckpointManager(Checkpoint(w=w), tmp_path / "deep" / "er", init_fn=lambda: called.append(1))
    assert manager.restore_or_initialize() is None
    assert CheckpointManager(Checkpoint(w=w), tmp_path).restore_or_initialize() is None
    manager.save(1)
    assert manager.restore_or_initialize() == str(tmp_path / "deep/er/ckpt-1")
    assert called == [1]


@pytest.mark.parametrize("missed", [False, True], ids=["what is listed goes", "what is new is not listed"])
def test_what_another_manager_does_meanwhile_is_not_taken_for_nothing(
    missed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder is listed piece by piece: a checkpoint is there all the time, and no listing need show one."""
    step = Variable(7)
    other = CheckpointManager(Checkpoint(step=step), tmp_path, max_to_keep=1)
    other.save(1)
    listed, turns = Path.iterdir, iter([True])

    def meanwhile(folder: Path) -> list[Path]:
        found = list(listed(folder))
        if next(turns, False):  # the first time only; saving lists the folder as well
            other.save(2)
            return [] if missed else found
        return found

    monkeypatch.setattr(Path, "iterdir", meanwhile)
    manager = CheckpointManager(Checkpoint(step=Variable(0)), tmp_path, init_fn=lambda: pytest.fail("it was there"))
    assert manager.restore_or_initialize() == str(tmp_path / "ckpt-2")


def test_a_damaged_checkpoint_is_not_passed_over(tmp_path: Path) -> None:
    manager = CheckpointManager(Checkpoint(v=np.arange(3)), tmp_path)
    for number in range(3):
        manager.save(number)
    for data in (b"", b"{", (tmp_path / "ckpt-1" / MANIFEST).read_bytes()[:-1]):
        (tmp_path / "ckpt-2" / MANIFEST).write_bytes(data)
        assert names(manager) == ["ckpt-0", "ckpt-1", "ckpt-2"]
        with pytest.raises(ValueError, match=r"SW0873(.|\n)*restore an older checkpoint"):
            manager.restore_or_initialize()
    manager.checkpoint.restore(manager.checkpoints[-2])


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    others = ["ckpt-07", "ckpt-x", "ckpt-3", "other-1", ".ckpt-1.tmp", ".ckpt-1.0123456789abcdef.tmp", "ckpt"]
    for name in others:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    (tmp_path / ".ckpt-1.0123456789abcdef.shardwright").touch()
    (tmp_path / ".ckpt-2.0123456789abcdef.shardwright.tmp").symlink_to(tmp_path / "other-1")
    manager = CheckpointManager(Checkpoint(v=np.zeros(1)), tmp_path, max_to_keep=1)
    for number in (1, 2):
        manager.save(number)
    with pytest.raises(ValueError, match="SW0876"):
        manager.save(3)
    found = {path.name for path in tmp_path.iterdir()}
    assert found == {
        *others,
        "ckpt-2",
        ".ckpt-1.0123456789abcdef.shardwright",
        ".ckpt-2.0123456789abcdef.shardwright.tmp",
    }
    assert names(manager) == ["ckpt-2"]


def test_leftovers_of_the_dead_go_and_those_of_the_living_stay(tmp_path: Path) -> None:
    leftover = tmp_path / ".anything.0123456789abcdef.shardwright.tmp"
    (leftover / "arrays").mkdir(parents=True)
    living = AtomicFolder(tmp_path / "ckpt-4")
    CheckpointManager(Checkpoint(v=np.zeros(1)), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [living.folder.name]
    living.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = {"v": np.zeros(3)}
    manager = CheckpointManager(Checkpoint(state=state), tmp_path, max_to_keep=1)
    manager.save(1)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("shardwright.serialization.files.atomic_folder.sync_tree", full)
        with pytest.raises(ValueError, match=r"SW0876.*no space left"):
            manager.save(2)
    assert [path.name for path in tmp_path.iterdir()] == ["ckpt-1"]
    state["bad"] = object()
    with pytest.raises(ValueError, match="SW0875"):
        manager.save(2)
    assert [path.name for path in tmp_path.iterdir()] == ["ckpt-1"]


@pytest.mark.parametrize(
    "options",
    [
        {"max_to_keep": 0},
        {"max_to_keep": 1.5},
        {"max_to_keep": True},
        {"keep_checkpoint_every_n_hours": -1},
        {"keep_checkpoint_every_n_hours": float("nan")},
        {"checkpoint_interval": 3},
        {"checkpoint_name": "../x"},
        {"checkpoint_name": ""},
        {"checkpoint_name": ".x"},
        {"checkpoint_name": "a\0"},
        {"checkpoint_name": 3},
        {"checkpoint": 3},
        {"directory": 3},
        {"directory": b"bytes"},
    ],
)
def test_wrong_options(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="SW0878"):
        CheckpointManager(**{"checkpoint": Checkpoint(v=1), "directory": tmp_path, **options})


@pytest.mark.parametrize("number", [-1, 1.5, "x", "../1", (1,), 10**30])
def test_wrong_numbers(number: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="SW0878"):
        CheckpointManager(Checkpoint(v=1), tmp_path).save(number)


WRITER = """
import os, signal, sys
import numpy as np
import shardwright as sw

folder, last, replace = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "replace"
v = sw.Variable(np.zeros((64, 8)), layout=sw.Layout(["x"], sw.Mesh(x=4)))
checkpoint = sw.Checkpoint(v=v)
manager = sw.CheckpointManager(checkpoint, folder, max_to_keep=2)
count = 0

def hook(event, arguments):
    global count
    if event.split(".")[0] in ("open", "os", "shutil", "fcntl", "ctypes"):
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)

for step in range(1, 4):
    v.assign(np.full((64, 8), float(step)))
    manager.save(step)
sys.addaudithook(hook)
for step in range(4, 1000):
    v.assign(np.full((64, 8), float(step)))
    manager.save(3 if replace else step)
"""


def check_after_kill(folder: Path, last: int, mode: str) -> None:
    """Kills a writer before one of the things that it asks of the system; what is there then is whole."""
    done = subprocess.run([sys.executable, "-c", WRITER, str(folder), str(last), mode], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    v = Variable(np.zeros((64, 8)))
    manager = CheckpointManager(Checkpoint(v=v), folder, max_to_keep=2)
    assert sorted(path.name for path in folder.iterdir()) == sorted(names(manager))
    assert 2 <= len(names(manager)) <= 3  # the oldest goes when the newest is there
    values: list[float] = []
    for path in manager.checkpoints:
        shardwright.verify_checkpoint(path)
        manager.checkpoint.restore(path)
        assert len(set(v.numpy().flat)) == 1
        values.append(float(v.numpy()[0, 0]))
    assert values == sorted(values)
    assert values[-1] >= 3
    if mode == "new":
        assert [f"ckpt-{int(value)}" for value in values] == names(manager)
        assert values == [values[0] + at for at in range(len(values))]


@pytest.mark.every(2)
@pytest.mark.parametrize(("last", "mode"), [(1, "new"), (45, "new"), (73, "new"), (60, "replace")])
def test_killed_writers_leave_whole_checkpoints(last: int, mode: str, tmp_path: Path) -> None:
    check_after_kill(tmp_path, last, mode)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["new", "replace"])
def test_writers_killed_anywhere_leave_whole_checkpoints(mode: str, tmp_path: Path) -> None:
    source = random.Random(mode)
    for last in sorted(source.sample(range(1, 200), 16)):
        check_after_kill(tmp_path / str(last), last, mode)


@pytest.mark.slow
def test_writers_killed_at_any_time_leave_whole_checkpoints(tmp_path: Path) -> None:
    source = random.Random(5)
    for number in range(8):
        folder = tmp_path / str(number)
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(folder), "0", "new"])
        while len(list(folder.glob("ckpt-*"))) < 2:  # which are there from then on; ckpt-3 may be gone already
            assert writer.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            writer.wait(source.random() / 2)
        writer.kill()
        writer.wait()
        manager = CheckpointManager(Checkpoint(v=Variable(np.zeros((64, 8)))), folder)
        assert sorted(path.name for path in folder.iterdir()) == sorted(names(manager))
        assert 2 <= len(names(manager)) <= 3
        assert all(shardwright.verify_checkpoint(path) == 4096 for path in manager.checkpoints)


def test_sequence_numbers_go_on(tmp_path: Path) -> None:
    manager = CheckpointManager(Checkpoint(v=np.zeros(1)), tmp_path)
    made = [read_manifest(Path(manager.save(number) or "")).sequence for number in (5, 2, 2, 9)]
    assert made == [1, 2, 3, 4]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for name in ("file", "file/below"):
        with pytest.raises(ValueError, match="SW0876"):
            CheckpointManager(Checkpoint(v=1), tmp_path / name)
