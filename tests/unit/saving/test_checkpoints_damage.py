"""Damaged and hostile checkpoints: every changed byte is found, and nothing outside of a checkpoint is touched."""

from __future__ import annotations

import hashlib
import json
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from archives import ARCHIVE, flip, put, span

import shardwright
from shardwright import Checkpoint, Layout, Mesh, Variable
from shardwright.saving.checkpoints.archive.hashes import HASHES
from shardwright.saving.checkpoints.archive.places import LEAST_BYTES
from shardwright.saving.checkpoints.manifest import MANIFEST, read_manifest

MESH = Mesh(x=2)


def small(path: Path) -> Path:
    """A checkpoint with an array in two chunks, a scalar and a number."""
    w = Variable(np.arange(8, dtype="float32"), layout=Layout(["x"], MESH))
    return Path(Checkpoint(w=w, rate=Variable(0.5), step=3).save(path))


def files_of(path: Path) -> list[Path]:
    return sorted(item for item in path.rglob("*") if item.is_file())


def missed(file: Path, step: int) -> list[str]:
    """Flips bits of a file, one byte at a time; what `verify_checkpoint` said where it did not name the file."""
    data = file.read_bytes()
    wrong: list[str] = []
    for at in range(0, len(data), step):
        file.write_bytes(data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :])
        try:
            said = f"byte {at}: {shardwright.verify_checkpoint(file.parent)} bytes are whole"
        except shardwright.ShardwrightValueError as error:
            said = str(error)
        if "SW0873" not in said or file.name not in said:
            wrong.append(said)
    file.write_bytes(data)
    return wrong


def test_flipped_bits_are_found(tmp_path: Path) -> None:
    path = small(tmp_path / "c")
    assert [str(file.relative_to(path)) for file in files_of(path)] == [ARCHIVE, MANIFEST, HASHES]
    for file in files_of(path):
        assert missed(file, step=7) == []
    assert shardwright.verify_checkpoint(path) == 36


@pytest.mark.slow
def test_every_flipped_byte_is_found(tmp_path: Path) -> None:
    path = small(tmp_path / "c")
    assert [missed(file, step=1) for file in files_of(path)] == [[]] * 3


def test_damaged_arrays_are_not_restored(tmp_path: Path) -> None:
    path = small(tmp_path / "c")
    w, rate = np.zeros(8, "float32"), Variable(7.0)
    checkpoint = Checkpoint(w=w, rate=rate, step=0)
    for at in range(16):
        flip(path, "w/c/1", at)
        with pytest.raises(ValueError, match=r"SW0873.*'w'(.|\n)*w/c/1 is not what was written"):
            checkpoint.restore(path)
        flip(path, "w/c/1", at)
    # Nothing was changed by what was read before the damage was seen.
    assert (w.tolist(), float(rate), checkpoint.step) == ([0.0] * 8, 7.0, 0)
    assert checkpoint.restore(path).complete


def test_what_others_read_is_not_needed_to_restore(tmp_path: Path) -> None:
    """Headers, documents and zip's own directory are compared by `verify_checkpoint` alone: nothing else reads them."""
    path = small(tmp_path / "c")
    start = span(path, "w/c/1")[0]
    checksum = (path / ARCHIVE).read_bytes().index(b"w/c/1") - 30 + 14
    for at in (start - 1, checksum, span(path, "w/zarr.json")[0], (path / ARCHIVE).stat().st_size - 1):
        before = (path / ARCHIVE).read_bytes()
        put(path, at, bytes([before[at] ^ 1]))
        w = np.zeros(8, "float32")
        assert Checkpoint(w=w, rate=Variable(0.0), step=0).restore(path).complete
        assert w.tolist() == list(range(8))
        with pytest.raises(
            ValueError, match=r"SW0873(.|\n)*(another header|directory|another checksum) .*was.* written"
        ):
            shardwright.verify_checkpoint(path)
        put(path, at, before[at : at + 1])


def test_a_device_that_reads_elsewhere_does_not_mind(tmp_path: Path) -> None:
    path = small(tmp_path / "c")
    flip(path, "w/c/1")
    found = Checkpoint(rate=Variable(0.0)).restore(path, strict=False)
    assert found.restored == ("rate",)


def swap(path: Path) -> None:
    data = (path / ARCHIVE).read_bytes()
    first, second = (span(path, f"w/c/{number}") for number in range(2))
    put(path, first[0], data[slice(*second)])
    put(path, second[0], data[slice(*first)])


def link(path: Path, target: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    target.write_bytes(data)
    path.symlink_to(target)


DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "archive missing": (lambda path: (path / ARCHIVE).unlink(), r"arrays\.zarr\.zip: it is missing"),
    "hashes missing": (lambda path: (path / HASHES).unlink(), "hashes: it is missing"),
    "archive cut": (
        lambda path: (path / ARCHIVE).write_bytes((path / ARCHIVE).read_bytes()[:-1]),
        r"arrays\.zarr\.zip: it has \d+ bytes instead of \d+",
    ),
    "archive longer": (
        lambda path: (path / ARCHIVE).write_bytes((path / ARCHIVE).read_bytes() + b"\0"),
        r"arrays\.zarr\.zip: it has \d+ bytes instead of \d+",
    ),
    "hashes cut": (lambda path: (path / HASHES).write_bytes(b""), "hashes: it has 0 bytes instead of 48"),
    "other hashes": (lambda path: (path / HASHES).write_bytes(bytes(48)), "hashes: it is not what was written"),
    "metadata": (lambda path: flip(path, "w/zarr.json"), r"zarr\.zip: its directory is not what was written"),
    "header": (lambda path: put(path, span(path, "rate/c")[0] - 1, b"x"), "rate/c has another header than was written"),
    "additional file": (lambda path: (path / "note").touch(), "note: nothing of that name"),
    "additional folder": (lambda path: (path / "arrays").mkdir(), "arrays: nothing of that name"),
    "chunks swapped": (swap, r"w/c/0 is not what was written"),
    "link": (lambda path: link(path / ARCHIVE, path.parent / "elsewhere"), r"arrays\.zarr\.zip: it is no file"),
    "link to hashes": (lambda path: link(path / HASHES, path.parent / "elsewhere"), "hashes: it is no file"),
    "folder": (
        lambda path: ((path / HASHES).unlink(), (path / HASHES).mkdir()),
        "hashes: it is no file",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_missing_and_additional_files_are_named(name: str, tmp_path: Path) -> None:
    path = small(tmp_path / "c")
    damage, message = DAMAGES[name]
    damage(path)
    with pytest.raises(ValueError, match=rf"SW0873(.|\n)*{message}"):
        shardwright.verify_checkpoint(path)


def test_links_are_not_followed(tmp_path: Path) -> None:
    for name in (ARCHIVE, HASHES):
        path = small(tmp_path / name)
        (path / name).rename(tmp_path / "elsewhere")
        (path / name).symlink_to(tmp_path / "elsewhere")
        for read in (shardwright.verify_checkpoint, shardwright.load_variables):
            with pytest.raises(ValueError, match=rf"SW0873(.|\n)*{name}: it is no file"):
                read(path)
        (tmp_path / "elsewhere").unlink()


def test_all_damages_are_listed_at_once(tmp_path: Path) -> None:
    path, names = small(tmp_path / "c"), ("w/c/0", "w/c/1", "rate/c")
    for name in names:
        flip(path, name)
    (path / "note").touch()
    with pytest.raises(ValueError, match="SW0873") as error:
        shardwright.verify_checkpoint(path)
    assert all(f"{name} is not what was written" in str(error.value) for name in names)
    assert "note: nothing of that name" in str(error.value)


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
    assert sorted(item.name for item in path.iterdir()) == [ARCHIVE, MANIFEST, HASHES]
    members = zipfile.ZipFile(path / ARCHIVE).namelist()
    assert len(set(members)) == len(members)
    for member in members:
        assert not {"", ".", ".."} & set(member.split("/"))
    there = {name: np.zeros(2, int) for name in names}
    assert Checkpoint(there).restore(path).complete
    assert [int(there[name][0]) for name in names] == list(range(len(names)))


def test_values_that_cannot_be_read_again_are_not_written(tmp_path: Path) -> None:
    for state in ({"text": "x" * (1 << 20)}, {"x" * (1 << 20): np.zeros(1)}, {"many": [0] * ((1 << 16) + 1)}):
        with pytest.raises(ValueError, match="SW0875"):
            Checkpoint(state).save(tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


HEAD = {
    "format": "shardwright checkpoint",
    "version": 3,
    "sequence": 0,
    "time": "0x0.0p+0",
    "size": LEAST_BYTES,
    "directory": "0" * 64,
    "hashes": "0" * 64,
}
ARRAY = {"name": "v", "dtype": "float32", "shape": [8], "chunk": [8]}


def forged(folder: Path, *lines: Any, arrays: int = 1) -> Path:
    """A checkpoint that somebody wrote by hand, with the right hash, and an archive in which arrays have room."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ARCHIVE).write_bytes(bytes(LEAST_BYTES * arrays))
    text = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    end = json.dumps({"sha256": hashlib.sha256(text).hexdigest()}, separators=(",", ":")).encode() + b"\n"
    (folder / MANIFEST).write_bytes(text + end)
    return folder


HOSTILE: dict[str, tuple[Any, ...]] = {
    "empty": (),
    "another format": ({**HEAD, "format": "x"},),
    "another version": ({**HEAD, "version": 4},),
    "no size": ({**HEAD, "size": -1}, ARRAY),
    "size a text": ({**HEAD, "size": "1"}, ARRAY),
    "no hash of the hashes": ({**HEAD, "hashes": "0" * 63}, ARRAY),
    "no hash of the directory": ({**HEAD, "directory": None}, ARRAY),
    "no room": (HEAD, ARRAY, {**ARRAY, "name": "w"}),
    "no object": (b"[]",),
    "no JSON": (HEAD, b"{"),
    "deep nesting": (HEAD, b"[" * (1 << 19)),
    "deep objects": (HEAD, b'{"a":' * (1 << 17)),
    "long line": (HEAD, b'{"name":"a","str":"' + b"x" * (1 << 21) + b'"}'),
    "many values": (HEAD, *[b'{"name":"%d","int":"0x1"}' % at for at in range(1 << 17)]),
    "many lists": (HEAD, b'{"name":"a","dtype":"float32","shape":[' + b"[]," * (1 << 18) + b"1]}"),
    "long number": (HEAD, b'{"name":"a","int":"0x' + b"1" * 100 + b'"}', {**ARRAY, "shape": [10**30]}),
    "decimal number": (HEAD, {"name": "a", "int": "1" * 100000}),
    "long JSON number": (HEAD, b'{"name":"v","dtype":"float32","shape":[' + b"1" * 5000 + b'],"chunk":[1]}'),
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
    "other ranks": (HEAD, {**ARRAY, "chunk": [8, 1]}),
    "many dims": (HEAD, {**ARRAY, "shape": [1] * 33, "chunk": [1] * 33}),
    "huge product": (HEAD, {**ARRAY, "shape": [1 << 40] * 2, "chunk": [1] * 2}),
    "huge chunk": (HEAD, {**ARRAY, "shape": [1 << 30], "chunk": [1 << 30]}),
    "many chunks": (HEAD, {**ARRAY, "shape": [1 << 20], "chunk": [1]}),
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
    entry = {**ARRAY, "shape": [1 << 50], "chunk": [1 << 10]}
    folder = forged(tmp_path / "a", HEAD, entry)
    start = time.process_time()
    for read in (shardwright.load_variables, shardwright.verify_checkpoint):
        with pytest.raises(ValueError, match=r"SW0873(.|\n)*hashes: it is missing"):
            read(folder)
        (folder / HASHES).touch()
        with pytest.raises(ValueError, match=r"SW0873(.|\n)*hashes: it has 0 bytes instead of 17592186044416"):
            read(folder)
        (folder / HASHES).unlink()
    assert shardwright.list_variables(folder) == [("v", (1 << 50,))]
    with pytest.raises(ValueError, match="SW0879"):
        Checkpoint(v=np.zeros(8, "float32")).restore(folder)
    assert time.process_time() - start < 1


def test_arrays_for_which_the_archive_has_no_room(tmp_path: Path) -> None:
    folder = forged(tmp_path / "a", HEAD, {**ARRAY, "shape": [1 << 16], "chunk": [1 << 10]})
    (folder / HASHES).write_bytes(bytes(16 * 64))
    for read in (shardwright.load_variables, shardwright.verify_checkpoint):
        with pytest.raises(ValueError, match=r"SW0873(.|\n)*arrays\.zarr\.zip: it has no room for its arrays"):
            read(folder)


def test_huge_manifests_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / MANIFEST).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ValueError, match=r"SW0874.*1099511627776 bytes"):
        read_manifest(tmp_path)
