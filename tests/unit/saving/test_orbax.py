"""Orbax: trees written by hand, as its format guide has them, are read; damaged ones are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tensorstore

import shardwright as sw
from shardwright.saving.tensors.orbax import read_orbax
from shardwright.tools.main import main

MESH = sw.Mesh(x=2, y=3)
W = np.arange(24, dtype=np.float32).reshape(4, 6)
ARRAYS = {
    ("layers", "0", "w"): W,
    ("a/b",): np.arange(3, dtype=np.int8),
    ("step",): np.array(7, np.int64),
    ("half",): np.ones(2, ml_dtypes.bfloat16),
}
NAMES = {"layers/0/w": W, "a~1b": ARRAYS["a/b",], "step": ARRAYS["step",], "half": ARRAYS["half",]}


def leaf(keys: tuple[str, ...], kind: str = "jax.Array") -> dict[str, Any]:
    key_metadata = [{"key": key, "key_type": 1 if key.isdecimal() else 2} for key in keys]
    return {"key_metadata": key_metadata, "value_metadata": {"value_type": kind, "skip_deserialize": kind == "None"}}


def write_tree(folder: Path, *, database: bool = True, newer: bool = False, flag: bool = True) -> Path:
    folder.mkdir(parents=True)
    base = {"driver": "file", "path": f"{folder}/"}
    for keys, array in ARRAYS.items():
        name = ".".join(keys)
        inside = {"driver": "ocdbt", "base": base, "path": f"{name}/"}
        store = inside if database else base | {"path": f"{folder}/{name}/"}
        made = tensorstore.open(
            {"driver": "zarr3" if newer else "zarr", "kvstore": store, "store_data_equal_to_fill_value": flag},
            create=True,
            dtype=array.dtype,
            shape=array.shape,
            chunk_layout=tensorstore.ChunkLayout(chunk_shape=[2, 3][: array.ndim]),
        ).result()
        made.write(array).result()
    leaves = {str(keys): leaf(keys) for keys in ARRAYS} | {
        "('name',)": leaf(("name",), "string"),
        "('nothing',)": leaf(("nothing",), "None"),
    }
    metadata = {"tree_metadata": leaves, "use_zarr3": newer, "store_array_data_equal_to_fill_value": flag}
    (folder / "_METADATA").write_text(json.dumps(metadata))
    return folder


@pytest.mark.parametrize("database", [True, False])
@pytest.mark.parametrize("newer", [True, False])
@pytest.mark.parametrize("flag", [True, False])
def test_trees_are_read(database: bool, newer: bool, flag: bool, tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", database=database, newer=newer, flag=flag)
    found = sw.load_variables(tree)
    assert found.keys() == NAMES.keys()
    for name, array in NAMES.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()
    assert sw.list_variables(tree) == [(name, array.shape) for name, array in NAMES.items()]


@pytest.mark.parametrize("sharding", [["x", "y"], ["x", None], [None, ("x", "y")], [None, None]])
def test_each_device_gets_its_box(sharding: list[Any], tmp_path: Path) -> None:
    layout = sw.Layout(sharding, MESH)
    found = sw.load_variables(write_tree(tmp_path / "tree"), {"layers/0/w": layout})["layers/0/w"]
    assert found.layout == layout
    expected = sw.relayout(W, layout)
    assert isinstance(found, sw.DTensor)
    assert isinstance(expected, sw.DTensor)
    for mine, part in zip(found.components(), expected.components(), strict=True):
        np.testing.assert_array_equal(mine, part)


def test_no_more_chunks_are_read_than_a_box_touches(tmp_path: Path) -> None:
    """A chunk that lies in nobody's box may be damaged."""
    tree = write_tree(tmp_path / "tree", database=False)
    (tree / "layers.0.w" / "1.1").write_bytes(b"damage")
    entry = read_orbax(str(tree))["layers/0/w"]
    np.testing.assert_array_equal(entry.part(((0, 2), (0, 6))), W[:2])
    with pytest.raises(ValueError, match="SW0897"):
        entry.part(((2, 4), (0, 6)))


def test_items_and_steps(tmp_path: Path) -> None:
    write_tree(tmp_path / "manager" / "100" / "default")
    for path in ("manager/100/default", "manager/100", "manager"):
        assert sw.load_variables(tmp_path / path).keys() == NAMES.keys()
    write_tree(tmp_path / "manager" / "200" / "default")
    with pytest.raises(ValueError, match=r"(?s)SW0897.*has 2 trees.*100/default.*200/default.*give the path of one"):
        sw.load_variables(tmp_path / "manager")


def test_converted_to_a_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = write_tree(tmp_path / "tree")
    assert main(["convert", str(tree), str(tmp_path / "checkpoint")]) == 0
    assert str(tmp_path / "checkpoint") in capsys.readouterr().out
    shutil.rmtree(tree)
    found = sw.load_variables(tmp_path / "checkpoint")
    assert {name: array.tobytes() for name, array in found.items()} == {
        name: array.tobytes() for name, array in NAMES.items()
    }


def test_a_checkpoint_of_ours_is_ours(tmp_path: Path) -> None:
    """What lies beside the manifest does not make it another library's."""
    path = Path(sw.Checkpoint(w=W).save(tmp_path / "checkpoint"))
    (path / "_METADATA").write_text("{}")
    assert list(sw.load_variables(path)) == ["w"]


def no_json(tree: Path) -> None:
    (tree / "_METADATA").write_text("{")


def no_names(tree: Path) -> None:
    (tree / "_METADATA").write_text("[]")


def deep(tree: Path) -> None:
    (tree / "_METADATA").write_text("[" * 100_000)


def edited(tree: Path, text: str, keys: Any) -> None:
    metadata = json.loads((tree / "_METADATA").read_text())
    metadata["tree_metadata"][text] = leaf(("w",)) | {"key_metadata": keys}
    (tree / "_METADATA").write_text(json.dumps(metadata))


def no_keys(tree: Path) -> None:
    edited(tree, "('w',)", [])


def keys_that_are_none(tree: Path) -> None:
    edited(tree, "('w',)", [{"key": [1]}])


def a_name_twice(tree: Path) -> None:
    edited(tree, "('w',)", [{"key": "step"}])


def a_way_out(tree: Path) -> None:
    edited(tree, "('w',)", [{"key": "/../../etc/"}])


def an_array_missing(tree: Path) -> None:
    edited(tree, "('w',)", [{"key": "w"}])


def a_chunk_missing(tree: Path) -> None:
    (tree / "layers.0.w" / "1.1").unlink()


def a_chunk_damaged(tree: Path) -> None:
    (tree / "layers.0.w" / "1.1").write_bytes(b"")


def a_type_of_nobody(tree: Path) -> None:
    file = tree / "layers.0.w" / ".zarray"
    file.write_text(file.read_text().replace("<f4", "|S4"))


@pytest.mark.parametrize(
    "damage",
    [
        *(no_json, no_names, deep, no_keys, keys_that_are_none, a_name_twice, a_way_out, an_array_missing),
        *(a_chunk_missing, a_chunk_damaged, a_type_of_nobody),
    ],
    ids=lambda damage: damage.__name__,
)
def test_damage_is_refused(damage: Callable[[Path], None], tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", database=False)
    damage(tree)
    with pytest.raises(ValueError, match="SW0897"):
        sw.load_variables(tree)


def test_more_than_there_is_memory(tmp_path: Path) -> None:
    """A shape is a claim: no memory is taken for one that nobody has memory for."""
    tree = write_tree(tmp_path / "tree", database=False, flag=False)
    file = tree / "layers.0.w" / ".zarray"
    about = json.loads(file.read_text())
    file.write_text(json.dumps(about | {"shape": [1 << 40, 6]}))
    with pytest.raises(ValueError, match=r"SW0879.*takes 26,388,279,066,624 bytes"):
        sw.load_variables(tree)
    with pytest.raises(ValueError, match="SW0879"):
        sw.load_variables(tree, {"layers/0/w": sw.Layout(["x", None], MESH)})
