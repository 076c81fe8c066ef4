"""Processes of a job save and load together: each its own boxes, one commit for all, one error for all."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from archives import flip
from processes import on_job

import shardwright as sw
from shardwright import Checkpoint, CheckpointManager, Layout, Mesh, Variable
from shardwright.engines.dtensor_value import scatter
from shardwright.frontends.functions.dtensor import DTensor
from shardwright.layout.forms.clients import Clients
from shardwright.saving.checkpoints import checkpoint as checkpoints
from shardwright.saving.checkpoints.archive.places import places_of
from shardwright.saving.checkpoints.checkpoint import write_checkpoint
from shardwright.saving.checkpoints.manifest import read_manifest
from shardwright.saving.checkpoints.transfers import Transfers
from shardwright.saving.checkpoints.writing import ArrayWriter
from shardwright.saving.directory import writing
from shardwright.saving.team import Team
from shardwright.serialization.files import atomic_folder
from shardwright.serialization.files.atomic_folder import FolderPart
from shardwright.serialization.files.pending import is_pending, make_pending, remove_leftovers
from shardwright.serialization.files.reading import reading

MESH = Mesh(x=4, y=2)
CHUNK, HASH = 64 << 10, 16

Entries = Sequence[Any]


def layout_on(mesh: Mesh, clients: Clients, entries: Entries) -> Layout:
    return Layout(list(entries), mesh.seen_by(clients))


def variable(values: np.ndarray[Any, Any], layout: Layout) -> Variable:
    """A variable of which this process has its part."""
    return Variable(DTensor(scatter(values, layout), layout))


def box_of(values: np.ndarray[Any, Any], mesh: Mesh, entries: Entries, device: int) -> np.ndarray[Any, Any]:
    """The part of an array that a device holds: its place along the axes of each dim, in parts of equal size."""
    at = dict(zip(mesh.axis_names, np.unravel_index(device, mesh.shape), strict=True))
    for dim, entry in enumerate(entries):
        for axis in (entry,) if isinstance(entry, str) else entry or ():
            values = np.split(values, mesh.dim_size(axis), axis=dim)[at[axis]]
    return values


def check_components(found: Any, values: np.ndarray[Any, Any], mesh: Mesh, entries: Entries) -> None:
    devices = found.mesh.local_device_ids
    for device, component in zip(devices, found.components(), strict=True):
        np.testing.assert_array_equal(component, box_of(values, mesh, entries, device))


def failure(work: Callable[[], Any]) -> str:
    """The text of the error that some work ends in."""
    try:
        work()
    except (Exception, KeyboardInterrupt) as error:
        return f"{type(error).__name__}: {error}"
    return ""


VALUES: dict[str, tuple[Any, Entries]] = {
    "rows": (np.arange(64 * 6, dtype="float32").reshape(64, 6), ["x"]),
    "columns": (np.arange(16 * 8, dtype="int16").reshape(16, 8), [None, "y"]),
    "both": (np.arange(8 * 16, dtype="complex64").reshape(8, 16) * 1j, ["y", "x"]),
    "fine": (np.arange(24, dtype="float64"), [("x", "y")]),
    "half": (np.arange(4 * 4).reshape(4, 4).astype(ml_dtypes.bfloat16), ["x"]),
    "same": (np.arange(5, dtype="int64"), []),
    "one": (np.array(3.5, "float32"), []),
}


def save_values(path: Path, clients: Clients) -> None:
    held = {name: variable(values, layout_on(MESH, clients, entries)) for name, (values, entries) in VALUES.items()}
    Checkpoint(**held, plain=np.arange(7.0), number=np.float32(2.5), step=3, text="a").save(path)


@pytest.mark.parametrize(
    ("count", "mesh", "entries"),
    [
        (1, Mesh(x=4, y=2), None),
        (1, Mesh(a=2), {"rows": ["a"], "fine": ["a"], "columns": [None, "a"]}),
        (2, Mesh(a=2, b=4), {"rows": [None, "a"], "both": ["b", "a"], "fine": ["b"], "half": [("a", "b")[0], "b"]}),
        (4, Mesh(x=4, y=2), None),
        (8, Mesh(a=8), {"rows": ["a"], "columns": ["a"], "both": [None, "a"], "fine": ["a"]}),
        (8, Mesh(a=4, b=2, c=2), {"rows": ["c", "b"], "columns": [("b", "c")], "both": ["a", ("c", "b")]}),
    ],
)
def test_what_four_processes_saved_any_number_restores(
    count: int, mesh: Mesh, entries: dict[str, Entries] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    on_job(monkeypatch, 4, lambda clients: save_values(place, clients))
    assert os.listdir(tmp_path) == ["place"]
    wanted = {name: own if entries is None else entries.get(name, []) for name, (_, own) in VALUES.items()}

    def restore(clients: Clients) -> None:
        layouts = {name: layout_on(mesh, clients, wanted[name]) for name in VALUES}
        held = {name: variable(np.zeros_like(values), layouts[name]) for name, (values, _) in VALUES.items()}
        there = Checkpoint(**held, plain=np.zeros(7), number=np.float32(0), step=0, text="")
        assert there.restore(place).complete
        loaded = sw.load_variables(place, layouts)
        for name, (values, _) in VALUES.items():
            check_components(held[name].value, values, mesh, wanted[name])
            check_components(loaded[name], values, mesh, wanted[name])
        assert (there.step, there.text, there.number) == (3, "a", np.float32(2.5))
        np.testing.assert_array_equal(there.plain, np.arange(7.0))

    on_job(monkeypatch, count, restore)
    sw.verify_checkpoint(place)


def test_a_checkpoint_does_not_say_how_many_wrote_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and hashes are the same, byte by byte; the manifest has the time."""
    on_job(monkeypatch, 4, lambda clients: save_values(tmp_path / "four", clients))
    save_values(tmp_path / "one", Clients())
    found = [
        sorted(path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*")) for name in ("four", "one")
    ]
    assert found[0] == found[1]
    for path in found[0]:
        if (tmp_path / "four" / path).is_file() and path.name != "checkpoint.jsonl":
            assert (tmp_path / "four" / path).read_bytes() == (tmp_path / "one" / path).read_bytes()


def written(path: Path, clients: Clients, arrays: dict[str, Any]) -> Transfers:
    found = Checkpoint(**arrays).found("saved")
    with Team.over(found.layouts, "a test") as team:
        return write_checkpoint(path, found, team)


def counted(monkeypatch: pytest.MonkeyPatch, what: str) -> list[int]:
    """The bytes that each call of the system's moves, from now on."""
    found, real = list[int](), getattr(os, what)

    def call(descriptor: int, buffers: Sequence[Any], at: int) -> int:
        found.append(done := real(descriptor, buffers, at))
        return done

    monkeypatch.setattr(os, what, call)
    return found


def test_each_box_is_written_by_one_process_that_holds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, same = np.ones((4096, 64), "float32"), np.ones((160, 256), "float32")

    def save(clients: Clients) -> Transfers:
        split = {"rows": variable(rows, layout_on(MESH, clients, ["x"]))}
        copies = {f"same{n}": variable(same, layout_on(MESH, clients, [])) for n in range(8)}
        return written(tmp_path / "c", clients, {**split, **copies, "plain": np.ones(100)})

    calls = counted(monkeypatch, "pwritev")
    moved = on_job(monkeypatch, 4, save)
    for process, transfers in enumerate(moved):
        # Of the rows a process has the box of two devices, and of eight copies each device writes as much as one.
        plain = 100 * 8 if process == 0 else 0
        assert sum(transfers.by_device.values()) == rows.nbytes // 4 + 2 * same.nbytes + plain
        assert {device // 2 for device in transfers.by_device} == {process}
    manifest = read_manifest(tmp_path / "c")
    places = places_of(list(manifest.arrays.values()))
    unwritten = places.gap[1] - places.gap[0]
    chunks = sum(row.stored_bytes for transfers in moved for row in transfers.rows)
    assert chunks == places.directory - unwritten
    assert sum(calls) == manifest.seal.size - unwritten
    tables = (tmp_path / "c/hashes").stat().st_size
    assert [sum(row.hash_bytes for row in transfers.rows) for transfers in moved] == [tables, 0, 0, 0]


def test_small_arrays_are_written_by_the_first_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One page of the file is never written by two processes, which may be on machines with caches of their own."""
    calls, real, small = list[tuple[str, int, int]](), os.pwritev, np.arange(64, dtype="float32")
    large = np.ones((4096, 64), "float32")

    def pwritev(descriptor: int, buffers: Sequence[Any], at: int) -> int:
        calls.append((threading.current_thread().name, at, sum(map(len, buffers))))
        return real(descriptor, buffers, at)

    def save(clients: Clients) -> None:
        layout = layout_on(MESH, clients, ["x"])
        Checkpoint(small=variable(small, layout), large=variable(large, layout)).save(tmp_path / "c")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwritev", pwritev)
        patch.setattr("shardwright.saving.checkpoints.writing.thread_count", lambda size: 1)
        on_job(patch, 4, save)
    writers: dict[int, set[str]] = {}
    for name, at, size in calls:
        for page in range(at // 4096, -(-(at + size) // 4096)):
            writers.setdefault(page, set()).add(name)
    assert len({name for name, _, _ in calls}) == 4
    assert all(len(names) == 1 for names in writers.values())
    assert sw.load_variables(tmp_path / "c")["small"].tolist() == small.tolist()


def test_copies_that_need_many_files_are_written_by_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.zeros((8 << 20, 4), "int8")  # four files of 8 MiB
    mesh = Mesh(x=4)
    moved = on_job(
        monkeypatch,
        4,
        lambda clients: written(tmp_path / "c", clients, {"v": variable(values, layout_on(mesh, clients, []))}),
    )
    assert [dict(transfers.by_device) for transfers in moved] == [{device: 8 << 20} for device in range(4)]


@pytest.mark.parametrize(("count", "entries", "chunks"), [
    (2, ["a"], 4 * 16),  # half of the rows: whole boxes
    (4, [None, ("a", "b")], 4 * 16),  # two boxes of an eighth of the columns: all chunks of a half, each once
    (8, [("a", "b"), "c"], 2 * 8),  # two boxes in two, of which another process reads the other half
    (8, ["b"], 2 * 16),  # copies: the same quarter of the rows on two processes
])  # fmt: skip
def test_each_process_reads_its_own_boxes(
    count: int, entries: Entries, chunks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(0).standard_normal((1024, 2048), "float32")
    mesh = Mesh(a=2, b=4, c=2)
    on_job(
        monkeypatch,
        4,
        lambda clients: written(tmp_path / "c", clients, {"v": variable(values, layout_on(MESH, clients, ["x", "y"]))}),
    )

    def restore(clients: Clients) -> Transfers:
        held = variable(np.zeros_like(values), layout_on(mesh, clients, entries))
        report = Checkpoint(v=held).restore(tmp_path / "c")
        check_components(held.value, values, mesh, entries)
        return report.transfers

    calls = counted(monkeypatch, "preadv")
    moved = on_job(monkeypatch, count, restore)
    # Eight boxes of 256 x 1024 elements, each of 16 chunks of 16 x 1024.
    for transfers in moved:
        (row,) = transfers.rows
        assert row.stored_bytes == chunks * CHUNK
        assert row.hash_bytes == 8 * 16 * HASH
    assert sum(calls) == count * chunks * CHUNK


def simple(path: Path, clients: Clients, number: float) -> None:
    held = variable(np.full((8, 4), number), layout_on(MESH, clients, ["x"]))
    Checkpoint(v=held, plain=np.full(3, number), step=number).save(path)


def held_at(path: Path) -> set[float]:
    """The numbers in a simple checkpoint, read by one process."""
    sw.verify_checkpoint(path)
    there = Checkpoint(v=Variable(np.zeros((8, 4))), plain=np.zeros(3), step=0.0)
    there.restore(path)
    return {*np.unique(there.v.numpy()), *np.unique(there.plain), there.step}


FULL = OSError(28, "No space left on device")


def fails_on(process: int, real: Callable[..., Any], error: BaseException) -> Callable[..., Any]:
    """A way to write arrays that fails on one process."""

    def write(writer: Any, moved: Any) -> Any:
        if writer.process == process:
            raise error
        return real(writer, moved)

    return write


@pytest.mark.parametrize("process", range(4))
@pytest.mark.parametrize(
    ("error", "own"),
    [(FULL, "SW0876.*no space left on device"), (MemoryError(), "MemoryError"), (KeyboardInterrupt(), "KeyboardInt")],
)
def test_what_fails_on_one_process_fails_on_all(
    process: int, error: BaseException, own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    on_job(monkeypatch, 4, lambda clients: simple(place, clients, 1.0))
    with monkeypatch.context() as patch:
        patch.setattr(ArrayWriter, "write", fails_on(process, ArrayWriter.write, error))
        said = on_job(patch, 4, lambda clients: failure(lambda: simple(place, clients, 2.0)))
    for at, text in enumerate(said):
        check_said(text, own if at == process else rf"SW0895.*process {process}, on ")
    assert os.listdir(tmp_path) == ["place"]
    assert held_at(place) == {1.0}
    on_job(monkeypatch, 4, lambda clients: simple(place, clients, 3.0))
    assert held_at(place) == {3.0}


def check_said(text: str, pattern: str) -> None:
    assert re.search(pattern, text.replace("\n", " ")), text


@pytest.mark.parametrize("step", ["conclude", "make", "sync_tree", "_exchange"])
def test_what_fails_on_the_first_process_fails_on_all(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    on_job(monkeypatch, 2, lambda clients: simple(place, clients, 1.0))

    def fail(*_: Any) -> None:
        raise FULL

    with monkeypatch.context() as patch:
        patch.setattr(ArrayWriter if hasattr(ArrayWriter, step) else atomic_folder, step, fail)
        said = on_job(patch, 2, lambda clients: failure(lambda: simple(place, clients, 2.0)))
    check_said(said[0], "SW0876.*no space left")
    check_said(said[1], "SW0895.*saving .*place' failed on process 0.*SW0876|SW0895.*No space left")
    assert os.listdir(tmp_path) == ["place"]
    assert held_at(place) == {1.0}


def test_processes_that_save_other_things_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def save(clients: Clients, name: str, rows: int, folder: str) -> None:
        layout = layout_on(MESH, clients, ["x"])
        Checkpoint(**{name: variable(np.ones(rows), layout)}).save(tmp_path / folder)

    for name, rows, folder, what in (
        ("other", 8, "c", "what they save"),
        ("v", 16, "c", "what they save"),
        ("v", 8, "d", "where they save"),
    ):

        def work(clients: Clients, name: str = name, rows: int = rows, folder: str = folder) -> str:
            mine = (name, rows, folder) if clients.place == 1 else ("v", 8, "c")
            return failure(lambda: save(clients, *mine))

        for text in on_job(monkeypatch, 2, work):
            check_said(text, f"SW0902.*disagree on {what}.*process 0: .*process 1: ")
        assert os.listdir(tmp_path) == []


def test_a_process_that_does_not_see_the_folder_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unseen(folder: Path) -> None:
        raise FileNotFoundError(2, "No such file or directory", str(folder))

    with monkeypatch.context() as patch:
        patch.setattr("shardwright.saving.shared_folder.FolderPart", unseen)
        said = on_job(patch, 2, lambda clients: failure(lambda: simple(tmp_path / "c", clients, 1.0)))
    check_said(said[0], "SW0895.*process 1.*the same file system")
    check_said(said[1], "SW0876.*process 1 does not see what process 0 made there.*the same file system")
    assert os.listdir(tmp_path) == []


def test_nothing_changes_unless_every_process_could_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"
    on_job(monkeypatch, 4, lambda clients: simple(place, clients, 1.0))
    flip(place, "v/c/2/0", 3)  # the rows of the third process

    def restore(clients: Clients) -> tuple[str, str, float, set[float]]:
        layout = layout_on(MESH, clients, ["x"])
        there = Checkpoint(v=variable(np.zeros((8, 4)), layout), plain=np.zeros(3), step=0.0)
        said = failure(lambda: there.restore(place))
        loaded = failure(lambda: sw.load_variables(place, {"v": layout}))
        return said, loaded, there.step, {*np.unique(there.plain), *np.unique(there.v.value.stacked)}

    for process, (said, loaded, step, values) in enumerate(on_job(monkeypatch, 4, restore)):
        assert (step, values) == (0.0, {0.0})
        for text in (said, loaded):
            check_said(text, r"SW0873.*v/c/2/0" if process == 2 else r"SW0895.*process 2, on .*SW0873.*v/c/2/0")
            assert "/proc" not in text


def test_a_file_that_all_need_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"
    on_job(monkeypatch, 4, lambda clients: simple(place, clients, 1.0))
    (place / "arrays.zarr.zip").unlink()

    def load(clients: Clients) -> str:
        return failure(lambda: sw.load_variables(place, {"v": layout_on(MESH, clients, ["x"])}))

    said = on_job(monkeypatch, 4, load)
    for text in said:
        check_said(text, "SW0873.*arrays.zarr.zip")


def test_all_processes_read_one_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1.0, 2.0):
        on_job(monkeypatch, 2, lambda clients, number=number: simple(tmp_path / str(number), clients, number))

    def restore(clients: Clients) -> tuple[str, float]:
        there = Checkpoint(v=variable(np.zeros((8, 4)), layout_on(MESH, clients, ["x"])), plain=np.zeros(3), step=0.0)
        return failure(lambda: there.restore(tmp_path / f"{clients.place + 1}.0")), there.step

    for text, step in on_job(monkeypatch, 2, restore):
        check_said(text, "SW0880.*was replaced while the processes opened it, or they gave different paths")
        assert step == 0.0


class ThreadsStep(threading.local):
    """A number that each thread has for itself."""

    now = 0


def test_a_manager_of_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def train(clients: Clients) -> list[Any]:
        layout = layout_on(MESH, clients, ["x"])
        v = variable(np.zeros(8), layout)
        manager = CheckpointManager(
            Checkpoint(v=v), tmp_path / "run", max_to_keep=2, step_counter=lambda: steps.now, checkpoint_interval=2
        )
        first = manager.restore_or_initialize()
        paths = list[Any]()
        for steps.now in range(5):
            v.keep(variable(np.full(8, float(steps.now)), layout).value)
            paths.append(manager.save())
        v.keep(variable(np.zeros(8), layout).value)
        last = manager.restore_or_initialize()
        return [first, paths, last, manager.latest_checkpoint, manager.checkpoints, np.unique(v.value.stacked).tolist()]

    steps = ThreadsStep()
    run = str(tmp_path / "run")
    expected = [None, [f"{run}/ckpt-0", None, f"{run}/ckpt-2", None, f"{run}/ckpt-4"]]
    expected += [f"{run}/ckpt-4", f"{run}/ckpt-4", [f"{run}/ckpt-2", f"{run}/ckpt-4"], [4.0]]
    assert on_job(monkeypatch, 4, train) == [expected] * 4
    assert sorted(os.listdir(run)) == ["ckpt-2", "ckpt-4"]


@sw.function
def doubled(v: Any, x: Any) -> Any:
    return v * 2 + x


def save_directory(path: Path, clients: Clients, number: float, **options: Any) -> None:
    layout = layout_on(MESH, clients, ["x"])
    v = variable(np.full((8, 4), number), layout)
    program = doubled.trace(sw.TensorSpec((8, 4), "float64", layout), sw.TensorSpec((4,), "float64"))
    sw.save({"v": v, "plain": np.full(3, number), "program": program}, path, **options)


@pytest.mark.parametrize("count", [1, 2, 8])
def test_programs_saved_on_four_processes_load_on_others(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = tmp_path / "words.txt"
    words.write_text("one")
    place = tmp_path / "d"
    for number in (1.0, 2.0):
        on_job(
            monkeypatch,
            4,
            lambda clients, number=number: save_directory(place, clients, number, assets=[words], overwrite=True),
        )
    mesh = Mesh(x=8)

    def load(clients: Clients) -> None:
        found = sw.load(place, mesh=mesh.seen_by(clients), axes={"y": None})
        check_components(found["v"].value, np.full((8, 4), 2.0), mesh, ["x"])
        np.testing.assert_array_equal(found["plain"], np.full(3, 2.0))
        assert found["program"].signatures == ["v: f64[8@x, 4], x: f64[4]"]

    on_job(monkeypatch, count, load)
    assert sorted(os.listdir(tmp_path)) == ["d", "words.txt"]


@pytest.mark.parametrize("given", [None, Mesh(x=2, y=2), Mesh()])
def test_programs_of_four_processes_run_in_one(
    given: Mesh | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a mesh it is the one that was saved, all of which is here now."""
    place = tmp_path / "d"
    on_job(monkeypatch, 4, lambda clients: save_directory(place, clients, 3.0))
    found = sw.load(place) if given is None else sw.load(place, mesh=given)
    result = found["program"](found["v"].value, np.arange(4.0))
    np.testing.assert_array_equal(np.asarray(result), np.full((8, 4), 6.0) + np.arange(4.0))
    assert found["v"].layout.mesh == (MESH if given is None else given)


def test_a_saved_mesh_that_the_processes_cannot_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "d"
    on_job(monkeypatch, 4, lambda clients: save_directory(place, clients, 3.0))
    monkeypatch.setenv("SHARDWRIGHT_NUM_CLIENTS", "3")
    with pytest.raises(ValueError, match=r"SW0883.*saved by 4 processes and cannot be spread over 3"):
        sw.load(place)


def test_a_directory_is_saved_by_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "d"
    on_job(monkeypatch, 2, lambda clients: save_directory(place, clients, 1.0))
    for text in on_job(monkeypatch, 2, lambda clients: failure(lambda: save_directory(place, clients, 2.0))):
        check_said(text, "SW0867.*there already|SW0895.*process 0.*SW0867")
    patches: list[tuple[Any, str, Any]] = [(ArrayWriter, "write", fails_on(1, ArrayWriter.write, FULL))]

    def fail(*_: Any, **options: Any) -> None:
        raise FULL

    patches += [(writing, "fingerprint", fail), (writing, "splitter_for", fail)]
    for owner, name, replacement in patches:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, replacement)
            said = on_job(
                patch, 2, lambda clients: failure(lambda: save_directory(place, clients, 2.0, overwrite=True))
            )
        process = 1 if name == "write" else 0
        check_said(said[process], "SW0867.*No space left on device")
        check_said(said[1 - process], f"SW0895.*process {process}.*No space left on device")
        assert os.listdir(tmp_path) == ["d"]
        np.testing.assert_array_equal(sw.load(place)["v"].numpy(), np.full((8, 4), 1.0))


def test_programs_alone_are_saved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no array to write, and yet the processes do not save one after the other."""

    def save(clients: Clients) -> None:
        layout = layout_on(MESH, clients, ["x"])
        traced = doubled.trace(sw.TensorSpec((8, 4), "float64", layout), sw.TensorSpec((4,), "float64"))
        sw.save(traced, tmp_path / "d")

    on_job(monkeypatch, 4, save)
    result = sw.load(tmp_path / "d")(np.ones((8, 4)), np.arange(4.0))
    np.testing.assert_array_equal(np.asarray(result), np.full((8, 4), 2.0) + np.arange(4.0))


def test_a_folder_belongs_to_all_who_write_into_it(tmp_path: Path) -> None:
    folder, lock = make_pending(tmp_path / "a", is_folder=True)
    parts = [FolderPart(folder) for _ in range(2)]
    os.close(lock)  # the first process is dead
    parts[0].discard()
    assert remove_leftovers(tmp_path) == []
    assert folder.exists()
    (parts[1].inside / "part").write_text("still written")
    parts[1].discard()
    assert not folder.exists()
    with pytest.raises(FileNotFoundError):
        FolderPart(folder)


def test_leftovers_are_not_looked_for_among_what_is_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed = list[Path]()
    real: Any = checkpoints.write_arrays

    def write(*arguments: Any, **options: Any) -> Any:
        removed.extend(remove_leftovers(tmp_path))
        return real(*arguments, **options)

    monkeypatch.setattr(checkpoints, "write_arrays", write)
    on_job(monkeypatch, 3, lambda clients: simple_rows(tmp_path / "c", clients))
    assert removed == []
    assert [name for name in os.listdir(tmp_path) if is_pending(name)] == []


def simple_rows(path: Path, clients: Clients) -> None:
    Checkpoint(v=variable(np.ones((6, 2)), layout_on(Mesh(x=3), clients, ["x"]))).save(path)


def test_a_reader_keeps_its_version_while_a_job_saves_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"
    on_job(monkeypatch, 2, lambda clients: simple(place, clients, 1.0))
    with reading(place, "SW0873") as folder:
        on_job(monkeypatch, 2, lambda clients: simple(place, clients, 2.0))
        np.testing.assert_array_equal(sw.load_variables(folder)["v"], np.full((8, 4), 1.0))
    assert held_at(place) == {2.0}
    assert os.listdir(tmp_path) == ["place"]
