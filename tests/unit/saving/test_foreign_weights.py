"""Checkpoints of TensorFlow and weights of Keras: as they are written, damaged, and hostile."""

from __future__ import annotations

import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from graph_models import unpacked

import shardwright as sw
from shardwright.saving.tensors.keras import is_keras
from shardwright.saving.tensors.tensorflow import is_tensorflow, read_tensorflow
from shardwright.serialization.tables.tensor_bundle import TensorBundle
from shardwright.tools.main import main

h5py: Any = pytest.importorskip("h5py")
MESH = sw.Mesh(x=2, y=4)

# TensorFlow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a checkpoint that TensorFlow wrote: the variables of a stored model, under another prefix."""
    source = unpacked() / "mlp" / "variables"
    for path in source.iterdir():
        shutil.copy(path, tmp_path / path.name.replace("variables", "ckpt-7"))
    return tmp_path


def expected(folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    """What the bundle's own reader gives, which is compared with TensorFlow's by the peers."""
    bundle, value = TensorBundle(folder / "ckpt-7"), "/.ATTRIBUTES/VARIABLE_VALUE"
    kinds = {1: np.dtype("float32"), 3: np.dtype("int32"), 9: np.dtype("int64")}
    keys = [key for key in bundle.keys if bundle.entry(key).dtype in kinds]
    return {key.removesuffix(value): bundle.tensor(key, kinds[bundle.entry(key).dtype]) for key in keys}


@pytest.mark.parametrize("path", ["ckpt-7", "ckpt-7.index", ""])
def test_a_checkpoint_of_tensorflow(path: str, folder: Path) -> None:
    given = str(folder / path)
    found, wanted = sw.load_variables(given), expected(folder)
    assert list(found) == list(wanted)
    assert "variables/0" in found
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)
    assert sw.list_variables(given) == [(name, array.shape) for name, array in wanted.items()]


def test_each_device_gets_its_box(folder: Path) -> None:
    layout = sw.Layout(["x", "y"], MESH)
    kernel = sw.load_variables(folder, {"variables/0": layout})["variables/0"]
    assert kernel.layout == layout
    np.testing.assert_array_equal(np.asarray(kernel), expected(folder)["variables/0"])


def test_a_tensor_is_read_once_for_all_devices(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = TensorBundle.tensor

    def counted(bundle: TensorBundle, key: str, dtype: Any) -> Any:
        read.append(key)
        return original(bundle, key, dtype)

    monkeypatch.setattr(TensorBundle, "tensor", counted)
    stored = read_tensorflow(str(folder))["variables/0"]
    stored.read(sw.Layout(["x", "y"], MESH))
    assert read == ["variables/0/.ATTRIBUTES/VARIABLE_VALUE"]


@pytest.mark.parametrize("wrong", ["unknown_rank", "negative", "other"])
def test_shapes_are_not_believed(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = TensorBundle.entry

    def changed(bundle: TensorBundle, key: str) -> Any:
        entry = original(bundle, key)
        if key.startswith("variables/0/"):
            entry.shape.unknown_rank = wrong == "unknown_rank"
            entry.shape.dim[0].size = -16 if wrong == "negative" else entry.shape.dim[0].size + (wrong == "other")
        return entry

    monkeypatch.setattr(TensorBundle, "entry", changed)
    with pytest.raises(ValueError, match="SW0892"):
        sw.list_variables(folder)


def test_the_variables_of_a_saved_model(folder: Path) -> None:
    found = sw.load_variables(unpacked() / "mlp")
    np.testing.assert_array_equal(found["variables/0"], expected(folder)["variables/0"])


def test_the_latest_is_what_tensorflow_says(folder: Path) -> None:
    for path in list(folder.iterdir()):
        shutil.copy(path, folder / path.name.replace("ckpt-7", "ckpt-8"))
    with pytest.raises(ValueError, match="SW0892") as caught:
        sw.load_variables(folder)
    (found,) = caught.value.diagnostics  # pyright: ignore
    assert found.message == f"{folder} has 2 checkpoints"
    assert found.notes == ("ckpt-7", "ckpt-8")
    assert found.help == "give the path of one"
    (folder / "checkpoint").write_text(
        'model_checkpoint_path: "/somewhere/else/ckpt-8"\nall_model_checkpoint_paths: ""'
    )
    assert sw.load_variables(folder)["variables/0"].shape == (16, 32)
    (folder / "checkpoint").write_text('model_checkpoint_path: "ckpt-9"')  # which is not there
    with pytest.raises(ValueError, match="SW0892"):
        sw.load_variables(folder)


def test_what_is_damaged_is_refused(folder: Path) -> None:
    data = next(folder.glob("*.data-*"))
    whole = bytearray(data.read_bytes())
    place = TensorBundle(folder / "ckpt-7").entry("variables/0/.ATTRIBUTES/VARIABLE_VALUE").offset
    whole[place] ^= 1
    data.write_bytes(whole)
    with pytest.raises(ValueError, match=r"SW0892.*checksum"):
        sw.load_variables(folder)
    (folder / "ckpt-7.index").write_bytes(b"no table")
    with pytest.raises(ValueError, match="SW0892"):
        sw.list_variables(folder)


def test_other_paths_are_no_checkpoints_of_tensorflow(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text("x" * 2_000_000)
    assert not is_tensorflow(str(tmp_path))
    assert not is_tensorflow(str(tmp_path / "nothing"))
    checkpoint = sw.Checkpoint(w=np.arange(3.0)).save(tmp_path / "ours")
    assert not is_tensorflow(str(checkpoint))


# Keras

ARRAYS = {
    "layers/dense/vars/0": np.arange(32, dtype=np.float32).reshape(4, 8),
    "layers/dense/vars/1": np.arange(8, dtype=np.float64),
    "optimizer/vars/0": np.array(5, np.int64),
    "half": np.arange(4).astype(ml_dtypes.bfloat16),
}


def write_weights(path: Path, change: Callable[[Any], None] = lambda file: None) -> Path:
    """Weights as Keras 3 writes them; bfloat16 as two bytes and an attribute."""
    with h5py.File(path, "w") as file:
        for name, array in ARRAYS.items():
            if array.dtype == ml_dtypes.bfloat16:
                file.create_dataset(name, data=array.view("V2")).attrs["dtype"] = "bfloat16"
            else:
                file[name] = array
        file["layers"].attrs["name"] = "of no interest"
        file["text"] = "words"
        change(file)
    return path


def archived(tmp_path: Path) -> Path:
    weights, path = write_weights(tmp_path / "inside.h5"), tmp_path / "model.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", '{"class_name": "Lambda"}')
        archive.write(weights, "model.weights.h5")
    return path


@pytest.mark.parametrize("name", ["w.weights.h5", "w.h5", "w.hdf5", "w.keras"])
def test_weights_of_keras(name: str, tmp_path: Path) -> None:
    path = archived(tmp_path) if name.endswith("keras") else write_weights(tmp_path / name)
    found = sw.load_variables(path)
    assert set(found) == set(ARRAYS)
    for key, array in ARRAYS.items():
        assert found[key].dtype == array.dtype
        np.testing.assert_array_equal(found[key], array)
    assert dict(sw.list_variables(path)) == {key: array.shape for key, array in ARRAYS.items()}
    layout = sw.Layout(["x", "y"], MESH)
    placed = sw.load_variables(path, {"layers/dense/vars/0": layout})["layers/dense/vars/0"]
    assert placed.layout == layout
    np.testing.assert_array_equal(np.asarray(placed), ARRAYS["layers/dense/vars/0"])


def test_converted_into_a_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_weights(tmp_path / "model.weights.h5")
    assert main(["convert", str(path), str(tmp_path / "checkpoint")]) == 0
    capsys.readouterr()
    for key, array in sw.load_variables(tmp_path / "checkpoint").items():
        np.testing.assert_array_equal(array, ARRAYS[key])


def outside(kind: str, folder: Path) -> Callable[[Any], None]:
    """Something in a file that leads to another one."""
    other = folder / "secret.h5"
    with h5py.File(other, "w") as file:
        file["secret"] = np.arange(3.0)

    def change(file: Any) -> None:
        if kind == "external link":
            file["there"] = h5py.ExternalLink(str(other), "/secret")
        elif kind == "soft link":
            file["there"] = h5py.SoftLink("/layers")
        elif kind == "raw bytes elsewhere":
            file.create_dataset("there", (3,), "float64", external=[(str(other), 0, 24)])
        else:
            layout = h5py.VirtualLayout((3,), "float64")
            layout[:] = h5py.VirtualSource(str(other), "secret", (3,))
            file.create_virtual_dataset("there", layout)

    return change


@pytest.mark.parametrize("kind", ["external link", "soft link", "raw bytes elsewhere", "virtual"])
def test_no_file_leads_to_another(kind: str, tmp_path: Path) -> None:
    path = write_weights(tmp_path / "model.weights.h5", outside(kind, tmp_path))
    with pytest.raises(ValueError, match="SW0899") as caught:
        sw.load_variables(path)
    where = "is a link to somewhere else" if "link" in kind else "lies in another file"
    assert f"has no weights of Keras that can be read: 'there' {where}" in str(caught.value)


def test_what_is_no_file_of_keras_is_refused(tmp_path: Path) -> None:
    for name, data in (("a.h5", b"no HDF5"), ("b.keras", b"no archive"), ("c.weights.h5", None)):
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match="SW0899"):
            sw.load_variables(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "d.keras", "w") as archive:
        archive.writestr("config.json", "{}")
    with pytest.raises(ValueError, match="SW0899"):
        sw.load_variables(tmp_path / "d.keras")


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = write_weights(tmp_path / "model.weights.h5", lambda file: file.create_dataset(b"\xff\xfe", data=np.ones(2)))
    with pytest.raises(ValueError, match=r"SW0899.*has no weights of Keras that can be read: 'utf-8' codec"):
        sw.load_variables(path)


def test_a_file_that_ends_too_early(tmp_path: Path) -> None:
    path = write_weights(tmp_path / "model.weights.h5")
    for size in (10, 100, path.stat().st_size // 2, path.stat().st_size - 8):
        (tmp_path / "short.h5").write_bytes(path.read_bytes()[:size])
        with pytest.raises(ValueError, match="SW0899"):
            sw.load_variables(tmp_path / "short.h5")


def test_without_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_weights(tmp_path / "model.weights.h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"SW0877.*weights of Keras are read with h5py, which is not installed"):
        sw.load_variables(path)


def test_endings() -> None:
    assert [is_keras(name) for name in ("a.h5", "a.keras", "a.h5.index", "a")] == [True, True, False, False]
