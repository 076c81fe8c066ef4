"""What storage moves for each device's box: foretold in closed form, and counted by tensorstore itself."""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import shardwright
from shardwright import Checkpoint, Layout, Mesh, Variable
from shardwright.saving.checkpoints.boxes import holdings
from shardwright.saving.checkpoints.chunks import CHUNK_BYTES, FILE_BYTES, SMALL_CHUNK_BYTES, choose_grid
from shardwright.saving.checkpoints.manifest import read_manifest
from shardwright.saving.checkpoints.store import ArrayStore, Transfers, write_arrays

MESH = Mesh(x=4, y=2)
CHECKSUM, INDEX_ENTRY = 4, 16


def storage_read() -> int:
    """The bytes that tensorstore has read from files in this process."""
    import tensorstore

    found = tensorstore.experimental_collect_matching_metrics("/tensorstore/kvstore/file/bytes_read")
    return sum(value["value"] for metric in found for value in metric["values"])


def read(folder: Path, layout: Layout | None) -> tuple[Any, Transfers, int]:
    """An array in a layout, what was counted, and what tensorstore counted."""
    moved, before = Transfers(), storage_read()
    value = ArrayStore(folder).read(read_manifest(folder).arrays["v"], layout, moved)
    return value, moved, storage_read() - before


def test_devices_read_their_own_boxes_with_checksums_and_indices(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((1024, 2048), "float32")
    write_arrays(tmp_path, {"v": Variable(values, layout=Layout(["x", "y"], MESH))})
    # Eight files of 256 x 1024 elements, each of 8 x 32 chunks of 32 x 32.
    chunk, index = 32 * 32 * 4 + CHECKSUM, 8 * 32 * INDEX_ENTRY + CHECKSUM
    for entries, rows, columns in [
        ([], 1, 1),
        (["x"], 4, 1),
        ([None, "x"], 1, 4),
        (["y", "x"], 2, 4),
        ([("x", "y")], 8, 1),
        ([None, ("x", "y")], 1, 8),
    ]:
        value, moved, counted = read(tmp_path, Layout(entries, MESH))
        np.testing.assert_array_equal(value.numpy(), values)
        (row,) = moved.rows
        assert (row.count, row.box_bytes) == (rows * columns, values.nbytes // rows // columns)
        assert counted == row.stored_bytes
        assert row.hash_bytes == 32 * 64 * 16
        # Boxes end where chunks do: each chunk is read once, an index for each file that a box touches.
        assert counted == 32 * 64 * chunk + max(rows, 4) * max(columns, 2) * index
        assert counted < 1.02 * moved.box_bytes


@pytest.mark.parametrize("shape", [(64, 64), (1024,), (16, 16, 16), (64, 200)])
def test_parts_of_small_arrays_are_read_without_the_rest(shape: tuple[int, ...], tmp_path: Path) -> None:
    values = np.arange(math.prod(shape), dtype="float64").reshape(shape)
    write_arrays(tmp_path, {"v": Variable(values)})
    value, moved, counted = read(tmp_path, Layout([("x", "y")], MESH))
    np.testing.assert_array_equal(value.numpy(), values)
    assert moved.box_bytes == values.nbytes
    assert moved.rows[0].box_bytes == values.nbytes // 8
    assert counted == moved.rows[0].stored_bytes < 2.5 * moved.box_bytes


def test_every_device_writes_what_it_holds_and_replicas_take_turns(tmp_path: Path) -> None:
    values = np.zeros((64, 6), "float32")
    arrays = {f"v{number}": Variable(values, layout=Layout(["y"], MESH)) for number in range(8)}
    moved = write_arrays(tmp_path, arrays)
    # Each half is held by four devices, and written by one of them.
    assert {row.box_bytes * row.count for row in moved.rows} == {values.nbytes}
    assert sum(moved.by_device.values()) == 8 * values.nbytes
    assert dict(moved.by_device) == dict.fromkeys(range(8), values.nbytes)
    split = Variable(values, layout=Layout([("x", "y")], MESH))
    (tmp_path / "b").mkdir()
    assert dict(write_arrays(tmp_path / "b", {"v": split}).by_device) == dict.fromkeys(range(8), values.nbytes // 8)


def test_the_files_on_disk_have_the_sizes_foretold(tmp_path: Path) -> None:
    for number, shape in enumerate([(5,), (64, 64), (3, 50257), (1000, 1000), (7, 11, 13), ()]):
        folder = tmp_path / str(number)
        folder.mkdir()
        moved = write_arrays(folder, {"v": Variable(np.ones(shape, "float32"))})
        grid = read_manifest(folder).arrays["v"].grid
        files = {
            path.name: path.stat().st_size for path in (folder / "arrays" / "0").iterdir() if path.name != "zarr.json"
        }
        assert files == {grid.file_name(index): grid.file_bytes(index) for index in grid.file_indices()}
        assert sum(files.values()) == moved.rows[0].stored_bytes
        chunks = math.prod(-(-size // extent) for size, extent in zip(grid.shape, grid.chunk, strict=True))
        assert (folder / "hashes").stat().st_size == moved.rows[0].hash_bytes == 16 * chunks


sizes = st.integers(1, 5000)
splits = st.sampled_from([1, 2, 3, 4, 8])


@st.composite
def split_shapes(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    parts = tuple(draw(st.lists(splits, max_size=3)))
    return tuple(draw(sizes) * count for count in parts), parts, draw(st.sampled_from([1, 2, 4, 16]))


@given(split_shapes())
@settings(deadline=None)
def test_grids_cut_at_the_borders_of_devices(case: tuple[tuple[int, ...], tuple[int, ...], int]) -> None:
    shape, parts, itemsize = case
    grid = choose_grid(shape, parts, itemsize)
    for size, count, file, chunk in zip(shape, parts, grid.file, grid.chunk, strict=True):
        assert file % chunk == 0
        assert count == 1 or (size // count) % file == 0
    rough = any(count > 1 for count in parts)
    assert rough or grid.chunk_bytes <= CHUNK_BYTES
    assert grid.file_chunks == 1 or grid.chunk_bytes >= SMALL_CHUNK_BYTES  # shorter gaps would be read
    assert math.prod(grid.file) * itemsize <= max(FILE_BYTES, grid.chunk_bytes)
    assert grid.file_chunks <= 1 << 16
    covered = (
        [
            sum(stop - start for start, stop in {grid.file_box(index)[dim] for index in grid.file_indices()})
            for dim in range(len(shape))
        ]
        if grid.file_count < 500
        else list(shape)
    )
    assert covered == list(shape)


@pytest.mark.parametrize(
    "entries", [[], ["x"], [None, ("y", "x")], ["x:(1)2", "y"], ["x:(2)2"], [("x:(2)2", "y", "x:(1)2")]]
)
def test_holdings_are_the_boxes_of_all_devices(entries: Sequence[Any]) -> None:
    from shardwright.layout.boxes import box

    layout, shape = Layout(entries, MESH).for_rank(2), (16, 8)
    expected: dict[Any, set[int]] = {}
    for device, place in enumerate(product(range(4), range(2))):
        part = box(layout.spec, shape, MESH, dict(zip("xy", place, strict=True)))
        expected.setdefault(part, set()).add(device)
    found = holdings(layout, shape)
    owners = {item.box: {item.owner(turn) for turn in range(item.device_count)} for item in found}
    assert owners == expected
    assert [item.device_count for item in found] == [len(expected[item.box]) for item in found]


MEMORY = """
import sys
import tempfile
import numpy as np
import shardwright as sw

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))

path, mesh = sys.argv[1], sw.Mesh(x=4, y=2)
sw.load_variables(path + "/small", {"v": sw.Layout(["y"], mesh)})
before = peak()
{act}
print(peak() - before)
"""


HOSTILE = """
import json, hashlib, os
from shardwright.saving.checkpoints.manifest import ArrayEntry, Manifest
from shardwright.saving.checkpoints.chunks import Grid
from shardwright.saving.checkpoints.hashes import table_hash
from shardwright.saving.checkpoints.store import zarr_text
size = 1 << 24
entry = ArrayEntry("v", 0, "uint8", Grid((size << 12,), (size,), (size,), 1), table_hash(bytes(16 << 12)), 0)
folder = path + "/hostile"
os.makedirs(folder + "/arrays/0")
for index in range(1 << 12):  # 64 GiB that take no room on the disk
    with open(f"{folder}/arrays/0/c.{index}", "wb") as file:
        file.truncate(entry.grid.file_bytes((index,)))
with open(folder + "/arrays/0/zarr.json", "wb") as file:
    file.write(zarr_text(entry))
with open(folder + "/hashes", "wb") as file:
    file.truncate(16 << 12)
with open(folder + "/checkpoint.jsonl", "wb") as file:
    file.write(Manifest({"v": entry}, {}).to_bytes())
try:
    sw.load_variables(folder)
    assert False
except ValueError as error:
    assert "SW087" in str(error)
"""


def peak_of(act: str, path: Path) -> int:
    """How far memory goes up in a process of its own."""
    text = MEMORY.replace("{act}", act)
    return int(subprocess.run([sys.executable, "-c", text, str(path)], capture_output=True, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux says what the peak was")
def test_restoring_needs_the_shards_and_a_bounded_buffer(tmp_path: Path) -> None:
    size = 64 << 20
    Checkpoint(v=np.ones(1 << 12, "uint8")).save(tmp_path / "small")
    Checkpoint(v=shardwright.ones((1 << 13, 1 << 13), dtype="uint8")).save(tmp_path / "large")
    read = 'value = sw.load_variables(path + "/large", {"v": sw.Layout([None, ("x", "y")], mesh)})'
    assert size <= peak_of(read, tmp_path) < size + (32 << 20)
    assert peak_of(HOSTILE, tmp_path) < 48 << 20
    write = 'v = np.ones(1 << 26, "uint8"); sw.Checkpoint(v=v).save(path + "/again")'
    assert size <= peak_of(write, tmp_path) < size + (48 << 20)


@st.composite
def layouts(draw: st.DrawFn, rank: int) -> Layout:
    """A layout on some mesh of three axes, each of which splits one dim or none."""
    names = draw(st.permutations(["a", "b", "c"]))
    mesh = Mesh([(name, draw(st.sampled_from([1, 2, 3]))) for name in names])
    dims: list[list[str]] = [[] for _ in range(rank)]
    for name in draw(st.permutations(names)):
        place = draw(st.integers(0, rank))
        if place < rank:
            dims[place].append(name)
    return Layout([tuple(entry) for entry in dims], mesh)


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_random_arrays_go_from_any_mesh_to_any_other(data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, 3))
    first, second = (data.draw(layouts(rank)) for _ in range(2))
    parts = [[layout.mesh.group_size(axes) for axes in layout.spec.dims] for layout in (first, second)]
    shape = [math.lcm(*pair) * data.draw(st.integers(0, 9)) for pair in zip(*parts, strict=True)]
    dtype = data.draw(st.sampled_from(["bool", "int8", "bfloat16", "float32", "complex128"]))
    values = np.random.default_rng(0).integers(0, 2, shape).astype(shardwright.asarray(0, dtype=dtype).dtype)
    with tempfile.TemporaryDirectory() as folder:
        write_arrays(Path(folder), {"v": shardwright.relayout(values, first)})
        value, moved, counted = read(Path(folder), second)
        assert (value.layout, value.dtype) == (second, values.dtype)
        np.testing.assert_array_equal(value.numpy(), values)
        assert counted == moved.rows[0].stored_bytes
        assert moved.rows[0].count == len({part.box for part in holdings(second, tuple(shape))})
        assert ArrayStore(Path(folder)).damages(read_manifest(Path(folder)).arrays["v"]) == []
