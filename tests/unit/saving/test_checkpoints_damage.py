"""Damaged and hostile checkpoints: every changed byte is found, and nothing outside of a checkpoint is touched."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright
from shardwright import Checkpoint, Layout, Mesh, Variable
from shardwright.saving.checkpoints.hashes import HASHES
from shardwright.saving.checkpoints.manifest import MANIFEST, read_manifest

MESH = Mesh(x=2)


def small(path: Path) -> Path:
    """A checkpoint with an array in two files, a scalar and a number."""
    w = Variable(np.arange(8, dtype="float32"), layout=Layout(["x"], MESH))
    return Path(Checkpoint(w=w, rate=Variable(0.5), step=3).save(path))


def files_of(path: Path) -> list[Path]:
    return sorted(item for item in path.rglob("*") if item.is_file())


def missed(file: Path, step: int) -> list[str]:
    """Flips bits of a file, one byte at a time; what `verify_checkpoint` said where it did not name the file."""
    data = file.read_bytes()
    folder = file.parent if file.name in (MANIFEST, HASHES) else file.parents[2]
    wrong: list[str] = []
    for at in range(0, len(data), step):
        file.write_bytes(data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :])
        try:
            said = f"byte {at}: {shardwright.verify_checkpoint(folder)} bytes are whole"
        except shardwright.ShardwrightValueError as error:
            said = str(error)
        if "SW0873" not in said or file.name not in said:
            wrong.append(said)
    file.write_bytes(data)
    return wrong


def test_flipped_bits_are_found(tmp_path: Path) -> None:
    path = small(tmp_path / "c")
    names = [str(file.relative_to(path)) for file in files_of(path)]
    assert names == [
        "arrays/0/c.0",
        "arrays/0/c.1",
        "arrays/0/zarr.json",
        "arrays/1/c",
        "arrays/1/zarr.json",
        MANIFEST,
        "hashes",
    ]
    for file in files_of(path):
        assert missed(file, step=7) == []
    assert shardwright.verify_checkpoint(path) == 36


@pytest.mark.slow
def test_every_flipped_byte_is_found(tmp_path: Path) -> None:
    path = small(tmp_path / "c")
    assert [missed(file, step=1) for file in files_of(path)] == [[]] * 7


def test_damaged_arrays_are_not_restored(tmp_path: Path) -> None:
    path = small(tmp_path / "c")
    file = path / "arrays/0/c.1"
    data = file.read_bytes()
    w, rate = np.zeros(8, "float32"), Variable(7.0)
    checkpoint = Checkpoint(w=w, rate=rate, step=0)
    for at in range(len(data)):
        file.write_bytes(data[:at] + bytes([data[at] ^ 0x80]) + data[at + 1 :])
        with pytest.raises(ValueError, match=r"SW0873.*'w'(.|\n)*arrays/0/c\.1"):
            checkpoint.restore(path)
    # Nothing was changed by what was read before the damage was seen.
    assert (w.tolist(), float(rate), checkpoint.step) == ([0.0] * 8, 7.0, 0)
    file.write_bytes(data)
    assert checkpoint.restore(path).complete


def test_a_device_that_reads_elsewhere_does_not_mind(tmp_path: Path) -> None:
    path = small(tmp_path / "c")
    (path / "arrays/0/c.1").write_bytes((path / "arrays/0/c.1").read_bytes()[::-1])
    found = Checkpoint(rate=Variable(0.0)).restore(path, strict=False)
    assert found.restored == ("rate",)


def swap(path: Path) -> None:
    (path / "arrays/0/c.0").rename(path / "t")
    (path / "arrays/0/c.1").rename(path / "arrays/0/c.0")
    (path / "t").rename(path / "arrays/0/c.1")


def link(path: Path, target: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    target.write_bytes(data)
    path.symlink_to(target)


DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "file missing": (lambda path: (path / "arrays/0/c.1").unlink(), r"arrays/0/c\.1: it is missing"),
    "folder missing": (lambda path: shutil.rmtree(path / "arrays/1"), "arrays/1 is missing"),
    "all missing": (lambda path: shutil.rmtree(path / "arrays"), "arrays/0 is missing"),
    "file cut": (lambda path: (path / "arrays/1/c").write_bytes(b""), "arrays/1/c: it has 0 bytes instead of 28"),
    "file longer": (
        lambda path: (path / "arrays/1/c").write_bytes((path / "arrays/1/c").read_bytes() + b"\0"),
        "arrays/1/c: it has 29 bytes instead of 28",
    ),
    "metadata": (lambda path: (path / "arrays/1/zarr.json").write_text("{}"), r"zarr\.json: it has 2 bytes"),
    "additional chunk": (lambda path: (path / "arrays/0/c.2").touch(), r"arrays/0/c\.2: nothing of that name"),
    "additional file": (lambda path: (path / "note").touch(), "note: nothing of that name"),
    "additional folder": (lambda path: (path / "arrays/2").mkdir(), "arrays/2: nothing of that name"),
    "folder renamed": (lambda path: (path / "arrays/1").rename(path / "arrays/01"), "arrays/1 is missing"),
    "files swapped": (swap, r"arrays/0/c\.0: its checksums are right, but 1 of the chunks read"),
    "link": (lambda path: link(path / "arrays/1/c", path.parent / "elsewhere"), "arrays/1/c: it is no file"),
    "folder": (
        lambda path: ((path / "arrays/1/c").unlink(), (path / "arrays/1/c").mkdir()),
        "arrays/1/c: it is no file",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_missing_and_additional_files_are_named(name: str, tmp_path: Path) -> None:
    path = small(tmp_path / "c")
    damage, message = DAMAGES[name]
    damage(path)
    with pytest.raises(ValueError, match=rf"SW0873(.|\n)*{message}"):
        shardwright.verify_checkpoint(path)


def test_folders_that_are_links_are_not_followed(tmp_path: Path) -> None:
    for name in ("arrays", "arrays/1"):
        path = small(tmp_path / name.replace("/", ""))
        (path / name).rename(tmp_path / "elsewhere")
        (path / name).symlink_to(tmp_path / "elsewhere")
        for read in (shardwright.verify_checkpoint, shardwright.load_variables):
            with pytest.raises(ValueError, match=r"SW0873(.|\n)*arrays/[01] is"):
                read(path)
        shutil.rmtree(tmp_path / "elsewhere")


def test_all_damages_are_listed_at_once(tmp_path: Path) -> None:
    path = small(tmp_path / "c")
    for name in ("arrays/0/c.0", "arrays/0/c.1", "arrays/1/c"):
        data = bytearray((path / name).read_bytes())
        data[0] ^= 1
        (path / name).write_bytes(data)
    with pytest.raises(ValueError, match="SW0873") as error:
        shardwright.verify_checkpoint(path)
    assert all(name in str(error.value) for name in ("arrays/0/c.0", "arrays/0/c.1", "arrays/1/c"))


def test_what_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / MANIFEST).symlink_to(small(tmp_path / "c") / MANIFEST)
    (tmp_path / "file").touch()
    for name in ("none", "linked", "file", ".", "\0", "x" * 300):
        for read in (shardwright.load_variables, shardwright.verify_checkpoint, Checkpoint(a=1).restore):
            with pytest.raises(ValueError, match="SW0872"):
                read(tmp_path / name)


def test_names_never_become_paths(tmp_path: Path) -> None:
    names = [
        "..",
        "../../x",
        "/etc/passwd",
        "a\0b",
        "",
        ".",
        "A",
        "a",
        "x" * 5000,
        "con",
        "a/../b",
        "\ud800",
        "c.0",
        "~0",
    ]
    saved = {name: np.full(2, at) for at, name in enumerate(names)}
    path = Path(Checkpoint(saved).save(tmp_path / "c"))
    assert [item.name for item in tmp_path.iterdir()] == ["c"]
    assert sorted(item.name for item in (path / "arrays").iterdir()) == sorted(map(str, range(len(names))))
    there = {name: np.zeros(2, int) for name in names}
    assert Checkpoint(there).restore(path).complete
    assert [int(there[name][0]) for name in names] == list(range(len(names)))


def test_values_that_cannot_be_read_again_are_not_written(tmp_path: Path) -> None:
    for state in ({"text": "x" * (1 << 20)}, {"x" * (1 << 20): np.zeros(1)}, {"many": [0] * ((1 << 16) + 1)}):
        with pytest.raises(ValueError, match="SW0875"):
            Checkpoint(state).save(tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


HEAD = {"format": "shardwright checkpoint", "version": 2, "sequence": 0, "time": "0x0.0p+0"}
ARRAY = {"name": "v", "dtype": "float32", "shape": [8], "file": [8], "chunk": [8], "hashes": "0" * 64}


def forged(folder: Path, *lines: Any, folders: int = 1) -> Path:
    """A checkpoint that somebody wrote by hand, with the right hash."""
    for number in range(folders):
        (folder / "arrays" / str(number)).mkdir(parents=True)
    text = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    end = json.dumps({"sha256": hashlib.sha256(text).hexdigest()}, separators=(",", ":")).encode() + b"\n"
    (folder / MANIFEST).write_bytes(text + end)
    return folder


HOSTILE: dict[str, tuple[Any, ...]] = {
    "empty": (),
    "another format": ({**HEAD, "format": "x"},),
    "another version": ({**HEAD, "version": 3},),
    "no object": (b"[]",),
    "no JSON": (HEAD, b"{"),
    "deep nesting": (HEAD, b"[" * (1 << 19)),
    "deep objects": (HEAD, b'{"a":' * (1 << 17)),
    "long line": (HEAD, b'{"name":"a","str":"' + b"x" * (1 << 21) + b'"}'),
    "many values": (HEAD, *[b'{"name":"%d","int":"0x1"}' % at for at in range(1 << 17)]),
    "many lists": (HEAD, b'{"name":"a","dtype":"float32","shape":[' + b"[]," * (1 << 18) + b"1]}"),
    "long number": (HEAD, b'{"name":"a","int":"0x' + b"1" * 100 + b'"}', {**ARRAY, "hashes": 10**30}),
    "decimal number": (HEAD, {"name": "a", "int": "1" * 100000}),
    "long JSON number": (HEAD, b'{"name":"v","dtype":"float32","shape":[' + b"1" * 5000 + b'],"file":[1],"chunk":[1]}'),
    "name twice": (HEAD, ARRAY, ARRAY),
    "no name": (HEAD, {"int": "0x1"}),
    "two values": (HEAD, {"name": "a", "int": "0x1", "str": ""}),
    "value of no type": (HEAD, {"name": "a", "object": "os.system"}),
    "no bool": (HEAD, {"name": "a", "bool": "yes"}),
    "no float": (HEAD, {"name": "a", "float": "0x"}),
    "no dtype": (HEAD, {**ARRAY, "dtype": "object"}),
    "dtype a list": (HEAD, {**ARRAY, "dtype": ["float32"]}),
    "string dtype": (HEAD, {**ARRAY, "dtype": "S99"}),
    "negative": (HEAD, {**ARRAY, "shape": [-8]}),
    "fraction": (HEAD, {**ARRAY, "shape": [8.0]}),
    "true": (HEAD, {**ARRAY, "shape": [True]}),
    "no chunks": (HEAD, {**ARRAY, "chunk": [0]}),
    "no files": (HEAD, {**ARRAY, "file": [0]}),
    "chunks that do not fit": (HEAD, {**ARRAY, "chunk": [3]}),
    "other ranks": (HEAD, {**ARRAY, "chunk": [8, 1]}),
    "many dims": (HEAD, {**ARRAY, "shape": [1] * 33, "file": [1] * 33, "chunk": [1] * 33}),
    "huge product": (HEAD, {**ARRAY, "shape": [1 << 40] * 2, "file": [1] * 2, "chunk": [1] * 2}),
    "huge chunk": (HEAD, {**ARRAY, "shape": [1 << 30], "file": [1 << 30], "chunk": [1 << 30]}),
    "huge file": (HEAD, {**ARRAY, "shape": [1 << 40], "file": [1 << 40], "chunk": [1 << 10]}),
    "tiny chunks": (HEAD, {**ARRAY, "shape": [1 << 20], "file": [1 << 10], "chunk": [1 << 4]}),
    "no hash": (HEAD, {**ARRAY, "hashes": "0" * 63}),
    "many chunks": (HEAD, {**ARRAY, "shape": [1 << 20], "file": [1 << 20], "chunk": [1]}),
    "another driver": (HEAD, {**ARRAY, "dtype": "float32", "driver": "http", "kvstore": {"driver": "http"}}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_manifests_are_refused_at_once(name: str, tmp_path: Path) -> None:
    folder = forged(tmp_path, *HOSTILE[name])
    start = time.process_time()
    with pytest.raises(ValueError, match=r"SW08(7[234]|81)"):
        shardwright.load_variables(folder)
    assert time.process_time() - start < 1
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"SW08(7[234]|81)"):
        shardwright.load_variables(folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20


def test_declared_sizes_take_no_memory(tmp_path: Path) -> None:
    entry = {**ARRAY, "shape": [1 << 50], "file": [1 << 20], "chunk": [1 << 10]}
    folder = forged(tmp_path / "a", HEAD, entry)
    start = time.process_time()
    for read in (shardwright.load_variables, shardwright.verify_checkpoint):
        with pytest.raises(ValueError, match=r"SW0873(.|\n)*arrays/0 has 0 files instead of 1073741825"):
            read(folder)
    assert shardwright.list_variables(folder) == [("v", (1 << 50,))]
    with pytest.raises(ValueError, match="SW0879"):
        Checkpoint(v=np.zeros(8, "float32")).restore(folder)
    assert time.process_time() - start < 1


def test_huge_manifests_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / MANIFEST).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ValueError, match=r"SW0874.*1099511627776 bytes"):
        read_manifest(tmp_path)


def test_files_of_zarr_are_never_read(tmp_path: Path) -> None:
    """`zarr.json` could name other shapes and codecs: what is opened is made of the manifest alone."""
    from shardwright.saving.checkpoints.store import ArrayStore, Transfers

    path = small(tmp_path / "c")
    (path / "arrays/0/zarr.json").write_text('{"zarr_format": 3, "node_type": "array", "shape": [1099511627776]}')
    entry = read_manifest(path).arrays["w"]
    assert ArrayStore(path).read(entry, None, Transfers()).tolist() == list(range(8))
    (path / "arrays/0/zarr.json").unlink()
    assert ArrayStore(path).read(entry, None, Transfers()).tolist() == list(range(8))
