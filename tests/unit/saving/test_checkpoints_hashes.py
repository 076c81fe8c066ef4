"""Chunks are those that were written: none of another checkpoint is taken for one of this, however whole it is."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import blake3
import numpy as np
import pytest
from archives import ARCHIVE, copy_chunk, put, span

import shardwright as sw
from shardwright import Checkpoint, Layout, Mesh, Variable
from shardwright.layout.forms.clients import Clients
from shardwright.saving.checkpoints.archive.hashes import HASHES, chunk_hash
from shardwright.saving.checkpoints.manifest import MANIFEST, read_manifest
from shardwright.saving.checkpoints.reading import ArrayReader
from shardwright.saving.checkpoints.transfers import Transfers

MESH = Mesh(x=2, y=2)
SHAPE = (1024, 512)
ROWS = Layout(["x"], MESH)


def values(seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal(SHAPE, "float32")


def saved(path: Path, seed: int) -> Path:
    return Path(Checkpoint(w=Variable(values(seed), layout=ROWS), step=3).save(path))


RESTORE: dict[str, Callable[[Path], Any]] = {
    "restore": lambda path: Checkpoint(w=Variable(np.zeros(SHAPE, "float32"), layout=ROWS), step=0).restore(path),
    "restore elsewhere": lambda path: Checkpoint(w=np.zeros(SHAPE, "float32"), step=0).restore(path),
    "load_variables": sw.load_variables,
    "load_variables in parts": lambda path: sw.load_variables(path, {"w": Layout([None, ("x", "y")], MESH)}),
    "verify_checkpoint": sw.verify_checkpoint,
}


@pytest.mark.parametrize("name", RESTORE)
def test_a_chunk_of_another_checkpoint_is_refused(name: str, tmp_path: Path) -> None:
    mine, other = saved(tmp_path / "mine", 0), saved(tmp_path / "other", 1)
    grid = read_manifest(mine).arrays["w"].grid
    assert grid.counts == (32, 1)
    RESTORE[name](mine)
    for chunk in ("w/c/0/0", "w/c/31/0"):
        shutil.copytree(mine, copy := tmp_path / chunk.replace("/", ""))
        copy_chunk(other, copy, chunk)
        with pytest.raises(ValueError, match=rf"SW0873(.|\n)*arrays\.zarr\.zip: {chunk} is not what was written"):
            RESTORE[name](copy)


@pytest.mark.parametrize("name", RESTORE)
def test_chunks_of_one_array_are_not_taken_for_each_other(name: str, tmp_path: Path) -> None:
    mine = saved(tmp_path / "mine", 0)
    data = (mine / ARCHIVE).read_bytes()
    first, last = (span(mine, chunk) for chunk in ("w/c/3/0", "w/c/30/0"))
    put(mine, first[0], data[slice(*last)])
    put(mine, last[0], data[slice(*first)])
    with pytest.raises(ValueError, match=r"SW0873(.|\n)*w/c/(3|30)/0 is not what was written"):
        RESTORE[name](mine)


@pytest.mark.parametrize("name", RESTORE)
def test_files_of_another_checkpoint_are_refused(name: str, tmp_path: Path) -> None:
    for files in ([ARCHIVE], [HASHES], [ARCHIVE, HASHES], [MANIFEST], [MANIFEST, HASHES], [MANIFEST, ARCHIVE]):
        mine, other = saved(tmp_path / "mine", 0), saved(tmp_path / "other", 1)
        for file in files:
            shutil.copy(other / file, mine / file)
        with pytest.raises(ValueError, match="SW0873"):
            RESTORE[name](mine)


def test_a_directory_with_a_chunk_of_another_one_is_refused(tmp_path: Path) -> None:
    paths = [Path(sw.save({"w": Variable(values(seed), layout=ROWS)}, tmp_path / str(seed))) for seed in range(2)]
    mine, other = (path / "variables" for path in paths)
    (name,) = read_manifest(mine).arrays
    copy_chunk(other, mine, f"{name}/c/5/0")
    for mesh in (None, Mesh(x=1, y=1)):
        with pytest.raises(ValueError, match=r"SW0873(.|\n)*c/5/0 is not what was written"):
            sw.load(paths[0], mesh=mesh)
    shutil.rmtree(mine)
    shutil.copytree(other, mine)
    with pytest.raises(ValueError, match="SW0870"):
        sw.load(paths[0])


def test_a_part_is_compared_by_the_chunks_that_it_touches(tmp_path: Path) -> None:
    """A device's box that ends within a chunk has that chunk compared, and none of the next one."""
    mine, other = saved(tmp_path / "mine", 0), saved(tmp_path / "other", 1)
    entry = read_manifest(mine).arrays["w"]
    assert entry.grid.chunk == (32, SHAPE[1])
    copy_chunk(other, mine, "w/c/9/0")
    reader = ArrayReader(mine, read_manifest(mine))
    assert reader.faults() == []

    def is_refused(process: int, count: int) -> bool:
        """Whether a process does not get its rows, of as many parts as there are processes."""
        layout = Layout(["x"], Mesh(x=count).seen_by(Clients(count=count, place=process)))
        try:
            (found,) = reader.read([(entry, layout)], Transfers())
        except ValueError as error:
            return "w/c/9/0" in str(error)
        assert np.array_equal(found.components()[0], np.split(values(0), count)[process])
        return False

    assert [is_refused(process, 8) for process in range(8)] == [False] * 2 + [True] + [False] * 5
    assert [is_refused(process, 64) for process in (17, 18, 19, 20)] == [False, True, True, False]


def test_hashes_are_blake3_of_what_is_in_a_chunk(tmp_path: Path) -> None:
    """The digests of nothing and of 64 KiB are those of BLAKE3's own tools; an array's end is filled up with zeros."""
    assert chunk_hash()(b"").hex() == "af1349b9f5f9a1a6a0404dea36dcc949"
    given = np.arange(100_000, dtype="uint8")
    path = Path(Checkpoint(v=given).save(tmp_path / "c"))
    chunks = np.concatenate([given, np.zeros(2 * 50_000 - given.size, "uint8")]).reshape(2, -1)
    assert read_manifest(path).arrays["v"].grid.chunk == (50_000,)
    expected = [blake3.blake3(chunk.tobytes()).digest()[:16] for chunk in chunks]
    assert (path / HASHES).read_bytes() == b"".join(expected)


@pytest.mark.parametrize("version", [1, 4, "3", None])
def test_other_versions_are_refused(version: Any, tmp_path: Path) -> None:
    """The first version had one checksum for an array: its parts could not be compared."""
    manifest = saved(tmp_path / "c", 0) / MANIFEST
    head, *lines = manifest.read_bytes().splitlines(keepends=True)[:-1]
    body = b"".join([json.dumps({**json.loads(head), "version": version}).encode() + b"\n", *lines])
    end = {"sha256": hashlib.sha256(body).hexdigest()}
    manifest.write_bytes(body + json.dumps(end, separators=(",", ":")).encode() + b"\n")
    for read in RESTORE.values():
        with pytest.raises(ValueError, match=r"SW0881.*these are read: 2, 3(.|\n)*with the version that wrote it"):
            read(manifest.parent)
