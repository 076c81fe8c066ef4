"""What storage moves for each device's box: foretold in closed form, and counted by the system."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from reads import Reads
from sampling import examples

import shardwright
from shardwright import Checkpoint, Layout, Mesh, Variable
from shardwright.layout.forms.clients import Clients
from shardwright.saving.checkpoints.archive.chunks import CHUNK_BYTES, SMALL_CHUNK_BYTES, choose_grid
from shardwright.saving.checkpoints.archive.places import places_of
from shardwright.saving.checkpoints.boxes import holdings
from shardwright.saving.checkpoints.manifest import read_manifest
from shardwright.saving.checkpoints.reading import ArrayReader
from shardwright.saving.checkpoints.transfers import Transfers
from shardwright.saving.checkpoints.writing import write_arrays

MESH = Mesh(x=4, y=2)


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux says what was read, and what the peak was")


def read(folder: Path, layout: Layout | None) -> tuple[Any, Transfers, int]:
    """An array in a layout, what was counted, and what the system counted."""
    moved, manifest = Transfers(), read_manifest(folder)
    reader = ArrayReader(folder, manifest)
    assert reader.faults() == []
    reads = Reads()
    (value,) = reader.read([(manifest.arrays["v"], layout)], moved)
    return value, moved, reads.bytes


@needs_linux
def test_each_chunk_is_read_once_whatever_the_layout(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((1024, 2048), "float32")
    write_arrays(tmp_path, {"v": Variable(values, layout=Layout(["x", "y"], MESH))})
    # Eight boxes of 256 x 1024 elements, of 16 chunks of 16 x 1024 each.
    assert read_manifest(tmp_path).arrays["v"].grid.chunk == (16, 1024)
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
        assert counted == row.stored_bytes == values.nbytes == moved.box_bytes
        assert row.hash_bytes == 8 * 16 * 16


@needs_linux
def test_a_process_reads_the_chunks_that_its_boxes_touch(tmp_path: Path) -> None:
    """Rows of a box end where chunks do; of columns a process reads the chunks that have some of them."""
    values = np.random.default_rng(0).standard_normal((1024, 2048), "float32")
    write_arrays(tmp_path, {"v": Variable(values, layout=Layout(["x", "y"], MESH))})
    for count, entries, part in [(4, ["x"], 1 / 4), (2, [None, "y"], 1 / 2), (8, [None, ("x", "y")], 1 / 2)]:
        mesh = Mesh(x=4, y=2) if count == 8 else Mesh([(str(next(filter(None, entries))), count)])
        value, _, counted = read(tmp_path, Layout(entries, mesh.seen_by(Clients(count=count, place=count - 1))))
        axis = 0 if entries[0] else 1
        np.testing.assert_array_equal(value.components()[0], np.split(values, count, axis)[-1])
        assert counted == values.nbytes * part


@needs_linux
@pytest.mark.parametrize("shape", [(64, 64), (1024,), (16, 16, 16), (40, 200)])
def test_small_arrays_are_read_whole(shape: tuple[int, ...], tmp_path: Path) -> None:
    values = np.arange(math.prod(shape), dtype="float64").reshape(shape)
    write_arrays(tmp_path, {"v": Variable(values)})
    value, moved, counted = read(tmp_path, Layout([("x", "y")], MESH))
    np.testing.assert_array_equal(value.numpy(), values)
    assert moved.box_bytes == values.nbytes
    assert moved.rows[0].box_bytes == values.nbytes // 8
    assert values.nbytes < counted == moved.rows[0].stored_bytes < values.nbytes + 2 * 64 + len("v/c/0/0/0") + 30


@needs_linux
def test_small_arrays_that_are_neighbours_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = {f"layers/{number}/bias": np.full(256, number, "float32") for number in range(1000)}
    path = Path(Checkpoint(layers=[{"bias": array} for array in arrays.values()]).save(tmp_path / "c"))
    assert sorted(item.name for item in path.rglob("*")) == ["arrays.zarr.zip", "checkpoint.jsonl", "hashes"]
    calls, real = list[int](), os.preadv
    monkeypatch.setattr(os, "preadv", lambda *given: calls.append(len(given[1][0])) or real(*given))
    found = shardwright.load_variables(path)
    assert all(np.array_equal(found[name], array) for name, array in arrays.items())
    assert len(calls) == 2  # a MiB and the rest
    assert sum(calls) < 1.2 * 1000 * 1024


def test_every_device_writes_what_it_holds_and_replicas_take_turns(tmp_path: Path) -> None:
    values = np.zeros((1 << 18, 6), "float32")
    arrays = {f"v{number}": Variable(values, layout=Layout(["y"], MESH)) for number in range(8)}
    moved = write_arrays(tmp_path, arrays)
    # Each half is held by four devices, and written by one of them.
    assert {row.box_bytes * row.count for row in moved.rows} == {values.nbytes}
    assert sum(moved.by_device.values()) == 8 * values.nbytes
    assert dict(moved.by_device) == dict.fromkeys(range(8), values.nbytes)
    split = Variable(np.zeros((64, 6), "float32"), layout=Layout([("x", "y")], MESH))
    (tmp_path / "b").mkdir()
    assert dict(write_arrays(tmp_path / "b", {"v": split}).by_device) == dict.fromkeys(range(8), 8 * 6 * 4)


def test_the_files_on_disk_have_the_sizes_foretold(tmp_path: Path) -> None:
    shapes = [(5,), (64, 64), (3, 50257), (1000, 1000), (7, 11, 13), (), (0, 4)]
    moved = write_arrays(tmp_path, {str(at): Variable(np.ones(shape, "float32")) for at, shape in enumerate(shapes)})
    manifest = read_manifest(tmp_path)
    places = places_of(list(manifest.arrays.values()))
    with zipfile.ZipFile(tmp_path / "arrays.zarr.zip") as archive:
        assert archive.testzip() is None
        found = {item.filename: (item.header_offset, item.file_size) for item in archive.infolist()}
    for row, entry, place in zip(moved.rows, manifest.arrays.values(), places.arrays, strict=True):
        grid = entry.grid
        assert row.stored_bytes == grid.count * place.stride
        for number, index in enumerate(grid.indices()):
            name = "/".join((entry.name, "c", *map(str, index)))
            assert found.pop(name) == (place.member(number), grid.chunk_bytes)
            assert place.is_packed or place.member(number) % 4096 == place.stride % 4096 == 0
    assert all(name.endswith("zarr.json") and at >= places.directory for name, (at, _) in found.items())
    assert (tmp_path / "arrays.zarr.zip").stat().st_size == manifest.seal.size
    assert (tmp_path / "hashes").stat().st_size == sum(row.hash_bytes for row in moved.rows)


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
    local = math.prod(shape) // math.prod(parts) * itemsize
    for size, count, chunk in zip(shape, parts, grid.chunk, strict=True):
        assert count == 1 or (size // count) % chunk == 0
    rough = any(count > 1 for count in parts)
    assert rough or grid.chunk_bytes <= CHUNK_BYTES
    assert grid.chunk_bytes == local or grid.chunk_bytes > SMALL_CHUNK_BYTES // 8
    assert local > SMALL_CHUNK_BYTES or grid.chunk_bytes == local
    if rough or grid.count > 500:
        return
    covered = [
        sum(stop - start for start, stop in {grid.box(index)[dim] for index in grid.indices()})
        for dim in range(len(shape))
    ]
    assert covered == list(shape)


@st.composite
def uneven_layouts(draw: st.DrawFn, rank: int) -> Layout:
    """Each axis splits some dim or none, whether that divides or not."""
    split: list[list[str]] = [[] for _ in range(rank)]
    for axis in draw(st.permutations(["x", "y"])):
        dim = draw(st.integers(-1, rank - 1))
        if dim >= 0:
            split[dim].append(axis)
    return Layout([tuple(axes) or None for axes in split], MESH, uneven=True)


@given(st.data(), st.lists(st.integers(0, 40), min_size=1, max_size=3), st.sampled_from(["int8", "float64"]))
@examples(40)
def test_uneven_layouts_are_written_and_read(data: st.DataObject, shape: list[int], dtype: str) -> None:
    """Parts that are shorter, or empty: each element comes back in any other layout, on each device."""
    written, read = (data.draw(uneven_layouts(len(shape))) for _ in range(2))
    whole = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    with tempfile.TemporaryDirectory() as folder:
        path = Checkpoint({"a": shardwright.relayout(whole, written)}).save(f"{folder}/saved")
        found = shardwright.load_variables(path, {"a": read})["a"]
        np.testing.assert_array_equal(shardwright.load_variables(path)["a"], whole)
    np.testing.assert_array_equal(np.asarray(found), whole)
    pairs = zip(shardwright.unpack(found), shardwright.unpack(shardwright.relayout(whole, read)), strict=True)
    assert all(np.array_equal(mine, wanted) for mine, wanted in pairs)


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
import os
from shardwright.saving.checkpoints.archive.chunks import Grid
from shardwright.saving.checkpoints.archive.hashes import table_hash
from shardwright.saving.checkpoints.archive.places import places_of
from shardwright.saving.checkpoints.entries import ArrayEntry
from shardwright.saving.checkpoints.manifest import Manifest, Seal
size = 1 << 24
entry = ArrayEntry("v", 0, "uint8", Grid((size << 12,), (size,), 1))
folder = path + "/hostile"
os.makedirs(folder)
end = places_of([entry]).directory
with open(folder + "/arrays.zarr.zip", "wb") as file:  # 64 GiB that take no room on the disk
    file.truncate(end)
with open(folder + "/hashes", "wb") as file:
    file.truncate(16 << 12)
with open(folder + "/checkpoint.jsonl", "wb") as file:
    file.write(Manifest({"v": entry}, {}, seal=Seal(end, "0" * 64, table_hash(bytes(16 << 12)))).to_bytes())
try:
    sw.load_variables(folder)
    assert False
except ValueError as error:
    assert "SW0873" in str(error) or "SW0879" in str(error)
"""


def peak_of(act: str, path: Path) -> int:
    """How far memory goes up in a process of its own."""
    text = MEMORY.replace("{act}", act)
    return int(subprocess.run([sys.executable, "-c", text, str(path)], capture_output=True, check=True).stdout)


@needs_linux
def test_restoring_needs_the_shards_and_a_bounded_buffer(tmp_path: Path) -> None:
    size = 64 << 20
    Checkpoint(v=np.ones(1 << 12, "uint8")).save(tmp_path / "small")
    Checkpoint(v=shardwright.ones((1 << 13, 1 << 13), dtype="uint8")).save(tmp_path / "large")
    read = 'value = sw.load_variables(path + "/large", {"v": sw.Layout([None, ("x", "y")], mesh)})'
    assert size <= peak_of(read, tmp_path) < size + (32 << 20)
    assert peak_of(HOSTILE, tmp_path) < 64 << 20
    write = 'v = np.ones(1 << 26, "uint8"); sw.Checkpoint(v=v).save(path + "/again")'
    assert 0.98 * size <= peak_of(write, tmp_path) < size + (48 << 20)


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
@examples(40)
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
        reader = ArrayReader(Path(folder), read_manifest(Path(folder)))
        assert reader.faults() == reader.damages() == []
