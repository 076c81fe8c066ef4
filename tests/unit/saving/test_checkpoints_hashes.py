"""Chunks are those that were written: none of another checkpoint is taken for one of this, however whole it is."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright import Checkpoint, Layout, Mesh, Variable
from shardwright.saving.checkpoints.chunks import Grid
from shardwright.saving.checkpoints.hashes import chunk_hashes, wrong_chunks
from shardwright.saving.checkpoints.manifest import MANIFEST, read_manifest
from shardwright.saving.checkpoints.store import ArrayStore, Transfers

MESH = Mesh(x=2, y=2)
SHAPE = (64, 48)
ROWS = Layout(["x"], MESH)


def values(seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal(SHAPE, "float32")


def saved(path: Path, seed: int) -> Path:
    return Path(Checkpoint(w=Variable(values(seed), layout=ROWS), step=3).save(path))


def index_of(file: Path, chunks: int) -> list[tuple[int, int]]:
    """Where the chunks of a file of zarr's are, and how long: what stands at its end, before four bytes of checksum."""
    numbers = struct.unpack(f"<{2 * chunks}Q", file.read_bytes()[-16 * chunks - 4 : -4])
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def copy_chunk(source: Path, target: Path, which: int, chunks: int) -> None:
    """Puts a chunk of one file, with its checksum, in the place of the same chunk of another."""
    (begin, size), (there, length) = (index_of(file, chunks)[which] for file in (source, target))
    assert size == length
    data = bytearray(target.read_bytes())
    data[there : there + size] = source.read_bytes()[begin : begin + size]
    target.write_bytes(data)


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
    assert grid.file_chunks > 8
    RESTORE[name](mine)
    for which in (0, grid.file_chunks - 1):
        shutil.copytree(mine, copy := tmp_path / str(which))
        copy_chunk(other / "arrays/0/c.1.0", copy / "arrays/0/c.1.0", which, grid.file_chunks)
        with pytest.raises(ValueError, match=r"SW0873(.|\n)*arrays/0/c\.1\.0: its checksums are right, but 1 of"):
            RESTORE[name](copy)


@pytest.mark.parametrize("name", RESTORE)
def test_files_of_another_checkpoint_are_refused(name: str, tmp_path: Path) -> None:
    for files in (["arrays/0/c.0.0"], ["arrays/0/c.0.0", "arrays/0/c.1.0"], ["hashes"], ["hashes", "arrays/0/c.0.0"]):
        mine, other = saved(tmp_path / "mine", 0), saved(tmp_path / "other", 1)
        for file in files:
            shutil.copy(other / file, mine / file)
        with pytest.raises(ValueError, match="SW0873"):
            RESTORE[name](mine)


def test_a_directory_with_a_chunk_of_another_one_is_refused(tmp_path: Path) -> None:
    paths = [Path(sw.save({"w": Variable(values(seed), layout=ROWS)}, tmp_path / str(seed))) for seed in range(2)]
    mine, other = (path / "variables/arrays/0/c.1.0" for path in paths)
    copy_chunk(other, mine, 5, read_manifest(paths[0] / "variables").arrays["w"].grid.file_chunks)
    for mesh in (None, Mesh(x=1, y=1)):
        with pytest.raises(ValueError, match=r"SW0873(.|\n)*c\.1\.0: its checksums are right"):
            sw.load(paths[0], mesh=mesh)
    shutil.rmtree(paths[0] / "variables")
    shutil.copytree(paths[1] / "variables", paths[0] / "variables")
    with pytest.raises(ValueError, match="SW0870"):
        sw.load(paths[0])


def test_a_part_is_compared_by_the_chunks_that_it_touches(tmp_path: Path) -> None:
    """A box that ends within a chunk has that chunk compared, and none of the next one."""
    mine, other = saved(tmp_path / "mine", 0), saved(tmp_path / "other", 1)
    entry = read_manifest(mine).arrays["w"]
    rows, columns = entry.grid.chunk
    per_row = entry.grid.file[1] // columns
    copy_chunk(other / "arrays/0/c.0.0", mine / "arrays/0/c.0.0", per_row + 1, entry.grid.file_chunks)
    store = ArrayStore(mine)

    def faults(*box: tuple[int, int]) -> list[str]:
        part = np.zeros([stop - start for start, stop in box], "float32")
        found = list(store._read_faults(entry, [((0, 0), box, part)]))
        expected = values(0)[tuple(slice(*span) for span in box)]
        assert found or np.array_equal(part, expected)
        return found

    assert faults((0, rows), (0, 2 * columns)) == []
    assert faults((1, rows + 1), (1, columns)) == []
    assert faults((rows, 2 * rows), (2 * columns, 3 * columns)) == []
    assert len(faults((rows, rows + 1), (2 * columns - 1, 2 * columns))) == 1
    assert len(faults((rows - 1, rows + 1), (0, 2 * columns))) == 1


def test_hashes_are_sha256_of_what_is_in_a_chunk() -> None:
    grid, part = Grid((5, 7), (4, 8), (2, 4), 2), np.arange(35, dtype="int16").reshape(5, 7)
    table = chunk_hashes(part, grid)
    assert grid.chunks == (3, 2)
    assert grid.hash_bytes == table.size == 3 * 2 * 16
    for row in range(3):
        for column in range(2):
            chunk = part[2 * row : 2 * row + 2, 4 * column : 4 * column + 4]
            assert bytes(table[row, column]) == hashlib.sha256(chunk.tobytes()).digest()[:16]
    assert wrong_chunks(part[2:4, 4:], ((2, 4), (4, 7)), grid, table) == 0
    part[3, 6] += 1
    assert wrong_chunks(part[2:4], ((2, 4), (0, 7)), grid, table) == 1


def test_what_is_read_beside_the_boxes_is_foretold(tmp_path: Path) -> None:
    mine, moved = saved(tmp_path / "mine", 0), Transfers()
    entry = read_manifest(mine).arrays["w"]
    ArrayStore(mine).read(entry, Layout(["y"], MESH), moved)
    assert moved.rows[0].hash_bytes == (mine / "hashes").stat().st_size == entry.grid.hash_bytes
    assert moved.stored_bytes == moved.rows[0].stored_bytes + moved.rows[0].hash_bytes


@pytest.mark.parametrize("version", [1, 3, "2", None])
def test_other_versions_are_refused(version: Any, tmp_path: Path) -> None:
    """The first version had one checksum for an array: its parts could not be compared."""
    manifest = saved(tmp_path / "c", 0) / MANIFEST
    head, *lines = manifest.read_bytes().splitlines(keepends=True)[:-1]
    body = b"".join([json.dumps({**json.loads(head), "version": version}).encode() + b"\n", *lines])
    end = {"sha256": hashlib.sha256(body).hexdigest()}
    manifest.write_bytes(body + json.dumps(end, separators=(",", ":")).encode() + b"\n")
    for read in RESTORE.values():
        with pytest.raises(ValueError, match=r"SW0881.*this is read: 2(.|\n)*with the version that wrote it"):
            read(manifest.parent)
