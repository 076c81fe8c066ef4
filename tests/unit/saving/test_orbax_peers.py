"""Orbax's own checkpoints, in each of the forms that it writes."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import shardwright as sw

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax", reason="make peers installs it")
ocp: Any = pytest.importorskip("orbax.checkpoint", reason="make peers installs it")

RANDOM = np.random.default_rng(0)
KINDS = [
    *("bool", "uint8", "int8", "int32", "float16", "float32"),
    *("complex64", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
]
TREE = {
    "layers": [{"kernel": RANDOM.standard_normal((8, 12)).astype(np.float32), "bias": np.ones(12, ml_dtypes.bfloat16)}],
    "kinds": {kind: np.arange(5).astype(kind) for kind in KINDS},
    "a/b": {"c.d": np.arange(3.0)},
    "step": 7,
    "rate": 0.5,
    "name": "a text",
    "nothing": None,
}
NAMES = {
    "layers/0/kernel": TREE["layers"][0]["kernel"],
    "layers/0/bias": TREE["layers"][0]["bias"],
    **{f"kinds/{kind}": array for kind, array in TREE["kinds"].items()},
    "a~1b/c.d": TREE["a/b"]["c.d"],
    "step": np.array(7),
    "rate": np.array(0.5),
}


def on_devices(tree: Any) -> Any:
    """The arrays as JAX's, the matrix split over two axes of a mesh where there are devices for it."""
    sharding = importlib.import_module("jax.sharding")
    devices = np.array(jax.devices())
    rows = 2 if len(devices) % 2 == 0 else 1
    mesh = sharding.Mesh(devices[: rows * 2].reshape(rows, -1), ("x", "y"))
    split = sharding.NamedSharding(mesh, sharding.PartitionSpec("x", "y"))
    kernel = jax.device_put(tree["layers"][0]["kernel"], split)
    return tree | {"layers": [tree["layers"][0] | {"kernel": kernel}]}


@pytest.mark.parametrize("database", [True, False])
@pytest.mark.parametrize("newer", [True, False])
def test_trees_are_read(database: bool, newer: bool, tmp_path: Path) -> None:
    handler = ocp.PyTreeCheckpointHandler(use_ocdbt=database, use_zarr3=newer)
    ocp.Checkpointer(handler).save(tmp_path / "tree", on_devices(TREE))
    found = sw.load_variables(tmp_path / "tree")
    assert found.keys() == NAMES.keys()
    for name, array in NAMES.items():
        assert (found[name].shape, found[name].dtype) == (array.shape, array.dtype), name
        assert found[name].tobytes() == array.tobytes(), name


def test_steps_of_a_manager(tmp_path: Path) -> None:
    tree = {name: value for name, value in TREE.items() if name not in ("name", "nothing")}
    with ocp.CheckpointManager(tmp_path) as manager:
        for step in (1, 2):
            manager.save(step, args=ocp.args.StandardSave(tree))
        manager.wait_until_finished()
    assert sw.load_variables(tmp_path / "2").keys() == NAMES.keys()
    with pytest.raises(ValueError, match=r"(?s)SW0897.*1/default.*2/default"):
        sw.load_variables(tmp_path)
    layout = sw.Layout(["x", "y"], sw.Mesh(x=2, y=3))
    kernel = sw.load_variables(tmp_path / "1", {"layers/0/kernel": layout})["layers/0/kernel"]
    assert kernel.layout == layout
    np.testing.assert_array_equal(np.asarray(kernel), NAMES["layers/0/kernel"])
