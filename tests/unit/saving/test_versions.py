"""A reader keeps to one version, a path is the same whoever uses it, and what killed writers leave goes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_models import unpacked

import shardwright as sw
from shardwright import Checkpoint, CheckpointManager, ShardwrightError, Variable
from shardwright.saving.directories import asset, read_message
from shardwright.serialization.files.pending import is_pending, make_pending, pending_path
from shardwright.serialization.files.reading import reading
from shardwright.serialization.merging import Merger
from shardwright.serialization.protos import graph_pb2
from shardwright.serialization.splitting import splitter_for
from shardwright.tools.main import main as command


def graph(number: int) -> graph_pb2.GraphDef:
    return graph_pb2.GraphDef(versions=graph_pb2.VersionDef(producer=number))


def save_directory(path: Any, number: int) -> None:
    sw.save({"v": Variable(np.full(100, float(number))), "w": Variable(float(number))}, path, overwrite=True)


def save_checkpoint(path: Any, number: int) -> None:
    Checkpoint(v=np.full(100, float(number)), w=np.full((), float(number)), step=float(number)).save(path)


def restored(path: Any) -> set[float]:
    checkpoint = Checkpoint(v=np.zeros(100), w=np.zeros(()), step=0.0)
    checkpoint.restore(path)
    return {*np.unique(checkpoint.v), float(checkpoint.w), checkpoint.step}


def numbers(found: dict[str, Any]) -> set[float]:
    return {float(number) for value in found.values() for number in np.unique(np.asarray(value))}


READERS: dict[str, tuple[str, Callable[[Any, int], None], Callable[[Any], set[float]]]] = {
    "load": (
        "shardwright.saving.directory.reading.check_rest",
        save_directory,
        lambda path: numbers(sw.load(path)),
    ),
    "restore": ("shardwright.saving.checkpoints.checkpoint.read_arrays", save_checkpoint, restored),
    "load_variables": (
        "shardwright.saving.checkpoints.checkpoint.read_arrays",
        save_checkpoint,
        lambda path: numbers(sw.load_variables(path)),
    ),
}


def between(monkeypatch: pytest.MonkeyPatch, where: str, act: Callable[[], Any]) -> None:
    """Lets something happen once while a reader is at work: when it comes to a function of its own."""
    module, _, name = where.rpartition(".")
    real, done = getattr(sys.modules[module], name), list[bool]()

    def first_act(*arguments: Any) -> Any:
        if not done:
            done.append(True)
            act()
        return real(*arguments)

    monkeypatch.setattr(where, first_act)


def pending(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if is_pending(path.name)]


@pytest.mark.parametrize("name", READERS)
def test_a_reader_ends_on_the_version_on_which_it_began(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, save, load = READERS[name]
    place = tmp_path / "place"
    save(place, 1)
    load(place)

    def replace() -> None:
        save(place, 2)
        save(place, 3)
        assert len(pending(tmp_path)) == 1  # the first one, which is being read; the second is gone

    between(monkeypatch, where, replace)
    assert load(place) == {1.0}
    assert pending(tmp_path) == []  # its last reader deleted it
    assert load(place) == {3.0}


@pytest.mark.parametrize("name", READERS)
def test_a_version_that_is_removed_under_its_reader(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever deletes files himself, without a lock, makes a reader say so, not that they are damaged."""
    where, save, load = READERS[name]
    place = tmp_path / "place"
    for again in (lambda: None, lambda: save(place, 2)):
        save(place, 1)
        with monkeypatch.context() as patch:
            between(patch, where, lambda again=again: (shutil.rmtree(place), again()))
            with pytest.raises(ValueError, match=r"SW0880.*place was replaced or removed(.|\n)*read it again"):
                load(place)


def test_a_model_of_tensorflow_that_is_replaced_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    shutil.copytree(unpacked() / "mlp", place)
    expected = {name: value.numpy() for name, value in sw.from_saved_model(place).weights.items()}
    where = "shardwright.frontends.tensorflow.importing.importing.stored_variables"
    between(monkeypatch, where, lambda: save_directory(place, 2))
    found = sw.from_saved_model(place).weights
    assert found.keys() == expected.keys()
    assert all(np.array_equal(found[name].numpy(), value) for name, value in expected.items())
    assert pending(tmp_path) == []


def test_errors_name_the_path_that_was_given(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "c", 1)
    (tmp_path / "c/arrays.zarr.zip").unlink()
    with pytest.raises(ShardwrightError) as error:
        sw.load_variables(tmp_path / "c")
    assert str(tmp_path / "c") in str(error.value)
    assert "/proc" not in str(error.value)


def test_a_manager_goes_on_to_the_newer_one_when_another_deletes_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    v = Variable(np.zeros(3))
    manager, other = (CheckpointManager(Checkpoint(v=v), tmp_path, max_to_keep=1) for _ in range(2))
    manager.save(1)
    v.assign(np.full(3, 2.0))
    real, calls = manager.checkpoint.restore, list[Any]()

    def restore(path: Any, *, strict: bool = True) -> Any:
        if not calls:
            other.save(2)
        calls.append(path)
        return real(path, strict=strict)

    monkeypatch.setattr(Checkpoint, "restore", lambda self, path, strict=True: restore(path, strict=strict))
    assert manager.restore_or_initialize() == str(tmp_path / "ckpt-2")
    assert len(calls) == 2
    assert v.numpy().tolist() == [2.0] * 3


PATHS = ["plain", "../work/up", "./here", "a/../b", "a/./b/../c", "end/", "twice//over", "back\\slash", "up\\..\\x",
         "c:\\x", " spaces ", "dots...", "linked/../beside", "linked/inside", "l" * 250]  # fmt: skip


@pytest.mark.every(3)
@pytest.mark.parametrize("form", ["relative", "absolute"])
@pytest.mark.parametrize("path", PATHS)
def test_every_road_goes_where_the_path_says(
    path: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is saved at a path is found there by the system's own reading of it, and by each loader."""
    (tmp_path / "work/a/b").mkdir(parents=True)
    (tmp_path / "elsewhere/deep").mkdir(parents=True)
    (tmp_path / "work/linked").symlink_to(tmp_path / "elsewhere/deep")
    monkeypatch.chdir(tmp_path / "work")
    given = path if form == "relative" else f"{tmp_path}/work/{path}"
    Checkpoint(v=np.arange(3.0)).save(given)
    expected = os.path.realpath(given)
    assert Path(expected, "checkpoint.jsonl").is_file()
    assert sw.load_variables(given)["v"].tolist() == sw.load_variables(expected)["v"].tolist() == [0, 1, 2]
    assert sw.list_variables(given) == [("v", (3,))]
    assert sw.verify_checkpoint(given) == 24
    assert Checkpoint(v=np.zeros(3)).restore(given).complete
    assert command(["verify", given]) == command(["inspect", given]) == 0
    shutil.rmtree(expected)
    Path("words.txt").write_text("one")
    assert sw.save({"v": Variable(np.arange(3.0))}, given, assets=["words.txt"]) == given
    assert Path(expected, "saved_model.pb").is_file()
    assert np.asarray(sw.load(given)["v"]).tolist() == [0, 1, 2]
    assert asset(given, "words.txt") == Path(expected, "assets/words.txt")
    assert read_message(given).HasField("shardwright")
    assert command(["verify", given]) == command(["inspect", given]) == 0
    shutil.rmtree(expected)
    if len(path) < 200:
        check_managed_and_messages(given, expected)
    names = {str(item.relative_to(tmp_path)) for item in tmp_path.rglob("*") if item.is_dir()}
    assert not any("\\" not in path and "\\" in name for name in names)


def check_managed_and_messages(given: str, expected: str) -> None:
    manager = CheckpointManager(Checkpoint(v=np.arange(3.0)), given)
    manager.save(7)
    assert os.listdir(expected) == ["ckpt-7"]
    assert manager.restore_or_initialize() == os.path.join(given, "ckpt-7")
    shutil.rmtree(expected)
    twice = sw.function(lambda x: x * 2).trace(np.ones(3, "float32"))
    sw.to_saved_model(twice, given)
    assert sw.from_saved_model(given)(np.ones(3, "float32"))["result"].tolist() == [2, 2, 2]
    splitter_for(graph(3), max_size=100).write(os.path.join(given, "graph"))
    assert Path(expected, "graph.pb").is_file()
    Merger.read(os.path.join(given, "graph"), found := graph_pb2.GraphDef())
    assert found == graph(3)
    shutil.rmtree(expected)


def test_a_manager_stays_where_it_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    v = np.arange(3.0)
    manager = CheckpointManager(Checkpoint(v=v), "managed")
    monkeypatch.chdir("other")
    manager.save(1)
    v[:] = 0
    assert manager.restore_or_initialize() == "managed/ckpt-1"
    assert v.tolist() == [0, 1, 2]
    assert os.listdir(tmp_path / "other") == []


def test_links_are_read_through_and_never_replaced(tmp_path: Path) -> None:
    for save, load, code in ((save_checkpoint, restored, "SW0876"), (save_directory, numbers_in, "SW0867")):
        place, link = tmp_path / "place", tmp_path / "link"
        save(place, 1)
        link.symlink_to("place")
        assert load(link) == {1.0}
        with pytest.raises(ValueError, match=code):
            save(link, 2)
        assert link.is_symlink()
        assert load(place) == {1.0}
        shutil.rmtree(place)
        link.unlink()
    (tmp_path / "target.pb").write_bytes(graph(1).SerializeToString())
    (tmp_path / "graph.pb").symlink_to("target.pb")
    splitter_for(graph(2)).write(str(tmp_path / "graph"))
    assert (tmp_path / "graph.pb").is_symlink()
    assert graph_pb2.GraphDef.FromString((tmp_path / "target.pb").read_bytes()) == graph(2)


def numbers_in(path: Any) -> set[float]:
    return numbers(sw.load(path))


KILLED = """
import os, signal, sys
import numpy as np
import shardwright as sw
from shardwright.serialization.files import atomic
from shardwright.serialization.protos import graph_pb2
from shardwright.serialization.splitting import splitter_for

folder = sys.argv[1]
saves = [
    lambda: sw.Checkpoint(v=np.ones(3)).save(folder + "/a"),
    lambda: sw.save({"v": np.ones(3)}, folder + "/b"),
    lambda: splitter_for(graph_pb2.GraphDef()).write(folder + "/c"),
]
atomic.os.fsync = lambda *_: signal.pause()  # all is written, nothing has its place
writers = []
for save in saves:
    writers.append(os.fork())
    if writers[-1] == 0:
        save()
while len(os.listdir(folder)) < 3:
    pass
for writer in writers:
    os.kill(writer, signal.SIGKILL)
    os.wait()
"""

SAVES: dict[str, Callable[[Path], Any]] = {
    "Checkpoint.save": lambda folder: save_checkpoint(folder / "other", 1),
    "save": lambda folder: save_directory(folder / "other", 1),
    "CheckpointManager": lambda folder: CheckpointManager(Checkpoint(v=1), folder),
    "CheckpointManager.save": lambda folder: CheckpointManager(Checkpoint(v=1), folder).save(1),
    "a message": lambda folder: splitter_for(graph(1)).write(str(folder / "other")),
    "to_saved_model": lambda folder: sw.to_saved_model(sw.function(lambda x: x).trace(np.ones(1)), folder),
}


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which three writers, of all kinds, were killed before they were done."""
    folder = tmp_path_factory.mktemp("killed")
    subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=True)
    assert sorted(name.split(".")[1] for name in pending(folder)) == ["a", "b", "c"]
    return folder


@pytest.mark.parametrize("name", SAVES)
def test_what_killed_writers_left_goes_with_the_next_save(name: str, killed: Path, tmp_path: Path) -> None:
    shutil.copytree(killed, folder := tmp_path / "folder")
    mine = [folder / ".mine.tmp", folder / ".a.0123456789abcdef.tmp"]
    for path in mine:
        path.mkdir()
    SAVES[name](folder)
    assert pending(folder) == []
    assert all(path.is_dir() for path in mine)


@pytest.mark.parametrize("name", SAVES)
def test_what_the_living_write_and_read_stays(name: str, tmp_path: Path) -> None:
    writing = [make_pending(tmp_path / "being written", is_folder) for is_folder in (True, False)]
    place = pending_path(tmp_path / "being read")
    place.mkdir()
    with reading(place, "SW0869"):
        SAVES[name](tmp_path)
        assert set(pending(tmp_path)) == {place.name, *(path.name for path, _ in writing)}
    for _, lock in writing:
        os.close(lock)  # as the system does when a process dies
    SAVES[name](tmp_path)
    assert pending(tmp_path) == []


def test_what_came_to_the_place_in_the_meantime_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shardwright.saving.checkpoints import checkpoint
    from shardwright.saving.directory import writing

    for module, save, code in ((checkpoint, save_checkpoint, "SW0876"), (writing, save_directory, "SW0867")):
        place = tmp_path / "place"
        save(place, 1)
        real: Any = module.write_arrays

        def write(*arguments: Any, real: Any = real, place: Path = place, **options: Any) -> Any:
            shutil.rmtree(place)
            place.mkdir()
            (place / "precious").write_text("mine")
            return real(*arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(module, "write_arrays", write)
            with pytest.raises(ValueError, match=code):
                save(place, 2)
        assert (place / "precious").read_text() == "mine"
        assert os.listdir(tmp_path) == ["place"]
        shutil.rmtree(place)
