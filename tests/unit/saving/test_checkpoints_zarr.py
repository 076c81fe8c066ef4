"""What others see in a checkpoint: a zip file, which is a zarr 3 group with the names of the variables."""

from __future__ import annotations

import json
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tensorstore
from archives import ARCHIVE
from hypothesis import given, settings, strategies as st

import shardwright as sw
from shardwright import Checkpoint, Layout, Mesh
from shardwright.dialects.types import element_dtype, element_type_named
from shardwright.saving.checkpoints.archive import records
from shardwright.saving.checkpoints.archive.names import MAX_PATH_BYTES, groups_of, path_of

MESH = Mesh(x=4, y=2)


def opened(checkpoint: str, path: str) -> Any:
    """An array as tensorstore finds it, which knows nothing but the file and the path."""
    store = {"driver": "zip", "base": {"driver": "file", "path": f"{checkpoint}/{ARCHIVE}"}, "path": f"{path}/"}
    return tensorstore.open({"driver": "zarr3", "kvstore": store}, open=True, read=True).result()


def same(found: Any, expected: Any) -> bool:
    found, expected = np.asarray(found), np.asarray(expected)
    return (found.dtype, found.shape, found.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


def test_variables_are_found_by_their_names_whatever_their_layout(tmp_path: Path) -> None:
    layers = [{"w": np.arange(48.0).reshape(8, 6) + at, "b": np.arange(3) + at} for at in range(3)]
    large = np.random.default_rng(0).standard_normal((1000, 500), "float32")
    split = [sw.relayout(layer["w"], Layout(["x", "y"], MESH)) for layer in layers]
    held = [{**layer, "w": w} for layer, w in zip(layers, split, strict=True)]
    path = Checkpoint(layers=held, large=large, scale=np.full((), 7), empty=np.zeros((0, 2)), step=3).save(
        tmp_path / "c"
    )
    for at, layer in enumerate(layers):
        for name, value in layer.items():
            assert same(opened(path, f"layers/{at}/{name}").read().result(), value)
    assert same(opened(path, "large").read().result(), large)
    assert same(opened(path, "large")[10:20, 490:].read().result(), large[10:20, 490:])
    assert same(opened(path, "scale").read().result(), np.full((), 7))
    assert opened(path, "empty").shape == (0, 2)


SHARED = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16"),
    *("float32", "float64", "complex64", "complex128", "int2", "int4", "float4_e2m1fn", "float8_e3m4"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
]
OURS = ["uint2", "uint4", "float8_e4m3", "float6_e2m3fn", "float6_e3m2fn"]
"""Types for which zarr, or tensorstore, has no name."""


@pytest.mark.parametrize("name", [*SHARED, *OURS])
def test_element_types_are_those_of_the_variables(name: str, tmp_path: Path) -> None:
    dtype = element_dtype(element_type_named(name))
    value = (np.arange(12).reshape(3, 4) % 2).astype(dtype)
    found = opened(Checkpoint(v=value).save(tmp_path / "c"), "v").read().result()
    assert same(found, value if name in SHARED else value.view("uint8"))


def test_the_archive_is_a_zip_file_of_groups_and_arrays(tmp_path: Path) -> None:
    path = Checkpoint(a={"b": {"c": np.zeros(3)}, "d": np.ones((2, 2), ml_dtypes.int4)}, e=np.zeros(())).save(
        tmp_path / "c"
    )
    with zipfile.ZipFile(f"{path}/{ARCHIVE}") as archive:
        assert archive.testzip() is None
        documents = {
            name.removesuffix("zarr.json"): json.loads(archive.read(name))
            for name in archive.namelist()
            if name.endswith("zarr.json")
        }
        assert archive.read("a/d/c/0/0") == b"\1\1\1\1"
    kinds = {name: about["node_type"] for name, about in documents.items()}
    groups, arrays = dict.fromkeys(("", "a/", "a/b/"), "group"), dict.fromkeys(("a/b/c/", "a/d/", "e/"), "array")
    assert kinds == groups | arrays
    assert all(about["zarr_format"] == 3 for about in documents.values())
    assert documents["a/d/"]["data_type"] == "int4"
    assert documents["a/d/"]["attributes"] == {}


def test_names_that_zarr_lacks_are_written_otherwise(tmp_path: Path) -> None:
    names = ["..", "", "a\0b", "__w", "x" * 5000, "\ud800", "50%", "zarr.json", "a\\b"]
    path = Checkpoint({name: np.full(2, at) for at, name in enumerate(names)}).save(tmp_path / "c")
    for at, name in enumerate(names):
        array = opened(path, path_of(name))
        assert array.read().result().tolist() == [at, at]
        assert json.loads(array.kvstore["zarr.json"])["attributes"] == {"name": name.replace("\ud800", "?")}


@pytest.mark.peers
def test_zarr_lists_every_name(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    names = ["..", "__w", "50%", "zarr.json", "a\\b", "plain", ".zarray", "é", "a b"]
    path = Checkpoint({name: np.full(2, at) for at, name in enumerate(names)}).save(tmp_path / "c")
    with zarr.storage.ZipStore(f"{path}/{ARCHIVE}", mode="r") as store:
        members = zarr.open_group(store, mode="r").members(max_depth=None)
        found = {array.attrs.get("name", key): array[:].tolist() for key, array in members}
    assert found == {name: [at, at] for at, name in enumerate(names)}


PARTS = st.one_of(st.text("a.%_/\0~\ud800é\\", max_size=5), st.just("zarr.json"))


@given(st.lists(PARTS, max_size=12))
@settings(deadline=None)
def test_no_two_names_have_one_path(names: list[str]) -> None:
    paths = {name: path_of(name) for name in names}
    assert len(set(paths.values())) == len(paths)
    for path in paths.values():
        assert len(path.encode()) <= MAX_PATH_BYTES
        for part in path.split("/"):
            assert part.strip(".")
            assert not part.startswith("__")


def test_long_names_are_hashes_and_still_differ() -> None:
    first, second = ("é" * 600 + end for end in "ab")
    assert path_of(first) != path_of(second)
    assert len(path_of(first)) == len(path_of(second)) == 66


@given(st.lists(st.text("ab/", min_size=1).map(path_of), unique=True))
@settings(deadline=None)
def test_groups_are_what_arrays_lie_in(paths: list[str]) -> None:
    expected = {""} | {"/".join(path.split("/")[:at]) for path in paths for at in range(1, path.count("/") + 1)}
    assert groups_of(paths) == sorted(expected - set(paths))


@pytest.mark.parametrize("at", [0, (1 << 32) - 1, 1 << 32, 1 << 40])
def test_places_beyond_four_gigabytes_are_read_by_others(at: int) -> None:
    """Members and the directory of a file that is larger than is written here: only its end is looked at."""
    listed = records.listing(b"a/c/0", 0, 8, at) + records.listing("é".encode(), 5, 0, at + 100)
    file = _Tail(at + 1000, listed + records.end(2, len(listed), at + 1000))
    with zipfile.ZipFile(file) as archive:  # pyright: ignore[reportArgumentType]
        found = [(item.filename, item.header_offset, item.CRC) for item in archive.infolist()]
    assert found == [("a/c/0", at, 0), ("é", at + 100, 5)]


class _Tail:
    """A file of which there is only what follows a place."""

    def __init__(self, start: int, data: bytes) -> None:
        self._start, self._data, self._at = start, data, 0

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._start + len(self._data))[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        assert self._at >= self._start
        begin = self._at - self._start
        found = self._data[begin:] if size < 0 else self._data[begin : begin + size]
        self._at += len(found)
        return found


@pytest.mark.skipif(find_spec("zarr") is None, reason="needs the package zarr")
def test_zarr_python_opens_the_group(tmp_path: Path) -> None:
    import zarr
    from zarr.storage import ZipStore

    w, b = np.arange(12.0).reshape(3, 4), np.arange(200_000)
    path = Checkpoint(layer={"w": w, "b": b}, scale=np.float32(2)).save(tmp_path / "c")
    group: Any = zarr.open_group(ZipStore(Path(path) / ARCHIVE, mode="r"), mode="r")
    assert sorted(name for name, _ in group.members(max_depth=None)) == ["layer", "layer/b", "layer/w", "scale"]
    assert same(group["layer/w"][:], w)
    assert same(group["layer/b"][:], b)
    assert same(group["scale"][()], np.float32(2))
