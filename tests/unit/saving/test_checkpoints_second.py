"""Checkpoints of the second format, which had a folder for each array, are read, compared and refused as they were."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import shardwright as sw
from shardwright import Checkpoint, Layout, Mesh, Variable
from shardwright.saving.checkpoints.manifest import MANIFEST

SECOND = Path(__file__).parents[2] / "data" / "checkpoints" / "second"
W = np.arange(64 * 48, dtype="float32").reshape(64, 48) / 7
ARRAYS = {
    "w": W,
    "half": np.arange(6).astype(ml_dtypes.bfloat16).reshape(2, 3),
    "small": (np.arange(8) - 4).astype(ml_dtypes.int4),
    "rate": np.float32(0.5),
    "layers/0/b": np.arange(3),
    "layers/1/b": np.zeros((0, 2)),
}

READ: dict[str, Callable[[Path], Any]] = {
    "restore": lambda path: Checkpoint(w=Variable(np.zeros_like(W))).restore(path, strict=False),
    "load_variables": sw.load_variables,
    "load_variables in parts": lambda path: sw.load_variables(path, {"w": Layout([None, "x"], Mesh(x=4))}),
    "verify_checkpoint": sw.verify_checkpoint,
}


@pytest.fixture
def second(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SECOND, tmp_path / "c"))


def test_everything_comes_back(second: Path) -> None:
    found = sw.load_variables(second)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()
    assert sw.verify_checkpoint(second) == sum(array.nbytes for array in ARRAYS.values())
    assert sw.list_variables(second) == [(name, array.shape) for name, array in ARRAYS.items()]


@pytest.mark.parametrize("entries", [[], ["x"], [None, "y"], ["y", "x"], [("x", "y")], [None, ("x", "y")]])
def test_any_layout_is_read(entries: list[Any], second: Path) -> None:
    layout = Layout(entries, Mesh(x=4, y=2))
    read = sw.load_variables(second, {"w": layout})["w"]
    assert read.layout == layout.for_rank(2)
    np.testing.assert_array_equal(read.numpy(), W)


def test_objects_are_restored_and_saved_in_the_format_of_now(second: Path) -> None:
    w = Variable(np.zeros_like(W), layout=Layout(["x"], Mesh(x=4)))
    checkpoint = Checkpoint(w=w, step=0)
    report = checkpoint.restore(second, strict=False)
    assert (report.restored, checkpoint.step) == (("w", "step"), 3)
    np.testing.assert_array_equal(w.numpy(), W)
    (row,) = report.transfers.rows
    assert (row.count, row.box_bytes, row.hash_bytes) == (4, W.nbytes // 4, 32 * 16)
    checkpoint.save(second)
    assert sorted(item.name for item in second.iterdir()) == ["arrays.zarr.zip", MANIFEST, "hashes"]
    np.testing.assert_array_equal(sw.load_variables(second)["w"], W)


def flip(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("name", READ)
def test_changed_chunks_are_refused(name: str, second: Path) -> None:
    READ[name](second)
    for at in (0, 3000, 6400):
        flip(second / "arrays/0/c.1.0", at)
        with pytest.raises(ValueError, match=r"SW0873(.|\n)*arrays/0/c\.1\.0"):
            READ[name](second)
        flip(second / "arrays/0/c.1.0", at)
    flip(second / "hashes", 5)
    with pytest.raises(ValueError, match=r"SW0873(.|\n)*hashes"):
        READ[name](second)


def test_chunks_of_elsewhere_are_refused_whose_checksums_are_right(second: Path) -> None:
    (second / "arrays/0/c.0.0").rename(second / "t")
    (second / "arrays/0/c.1.0").rename(second / "arrays/0/c.0.0")
    (second / "t").rename(second / "arrays/0/c.1.0")
    for read in READ.values():
        with pytest.raises(
            ValueError, match=r"SW0873(.|\n)*c\.0\.0: its checksums are right, but [0-9]+ of the chunks"
        ):
            read(second)


DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "file missing": (lambda path: (path / "arrays/0/c.1.0").unlink(), r"arrays/0/c\.1\.0: it is missing"),
    "folder missing": (lambda path: shutil.rmtree(path / "arrays/1"), "arrays/1 is missing"),
    "all missing": (lambda path: shutil.rmtree(path / "arrays"), "arrays/0 is missing|does not list"),
    "file cut": (lambda path: (path / "arrays/3/c").write_bytes(b""), "arrays/3/c: it has 0 bytes instead of 28"),
    "metadata": (lambda path: (path / "arrays/1/zarr.json").write_text("{}"), r"zarr\.json: it has 2 bytes"),
    "additional file": (lambda path: (path / "arrays/0/c.2.0").touch(), r"arrays/0/c\.2\.0: nothing of that name"),
    "additional folder": (lambda path: (path / "arrays/6").mkdir(), "arrays/6: nothing of that name"),
    "note": (lambda path: (path / "note").touch(), "note: nothing of that name"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_missing_and_additional_files_are_named(name: str, second: Path) -> None:
    damage, message = DAMAGES[name]
    damage(second)
    with pytest.raises(ValueError, match=rf"SW0873(.|\n)*({message})"):
        sw.verify_checkpoint(second)


HEAD = {"format": "shardwright checkpoint", "version": 2, "sequence": 0, "time": "0x0.0p+0"}
ARRAY = {"name": "v", "dtype": "float32", "shape": [8], "file": [8], "chunk": [8], "hashes": "0" * 64}

HOSTILE: dict[str, dict[str, Any]] = {
    "no files": {"file": [0]},
    "chunks that do not fit": {"chunk": [3]},
    "other ranks": {"file": [8, 1]},
    "huge file": {"shape": [1 << 40], "file": [1 << 40], "chunk": [1 << 10]},
    "tiny chunks": {"shape": [1 << 20], "file": [1 << 10], "chunk": [1 << 4]},
    "many chunks": {"shape": [1 << 20], "file": [1 << 20], "chunk": [1]},
    "no hash": {"hashes": "0" * 63},
    "a number as hash": {"hashes": 10**30},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_manifests_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "arrays" / "0").mkdir(parents=True)
    text = "".join(json.dumps(line) + "\n" for line in (HEAD, {**ARRAY, **HOSTILE[name]})).encode()
    end = json.dumps({"sha256": hashlib.sha256(text).hexdigest()}, separators=(",", ":")).encode() + b"\n"
    (tmp_path / MANIFEST).write_bytes(text + end)
    with pytest.raises(ValueError, match="SW0874"):
        sw.load_variables(tmp_path)


def test_without_tensorstore_the_error_says_what_to_install(second: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tensorstore", None)
    with pytest.raises(ImportError, match=r"SW0877(.|\n)*pip install 'shardwright\[checkpoints\]'"):
        sw.load_variables(second)
