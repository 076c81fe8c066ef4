"""Coming from PyTorch: each public name of its DTensor has a row, whose line runs and gives what NumPy gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "from-pytorch.md").read_text()
NAMES = {
    "torch.distributed.tensor": """DTensor distribute_tensor distribute_module Shard Replicate Partial Placement ones
        empty full rand randn zeros DeviceMesh init_device_mesh""",
    "DTensor": "from_local to_local full_tensor redistribute device_mesh placements",
    "DeviceMesh": """from_group get_all_groups get_coordinate get_group get_local_rank get_rank __getitem__ size ndim
        shape mesh mesh_dim_names device_type""",
    "Placement": "is_shard is_replicate is_partial",
    "Shard": "dim",
    "Partial": "reduce_op",
    "torch.distributed.tensor.parallel": """parallelize_module ParallelStyle ColwiseParallel RowwiseParallel
        SequenceParallel PrepareModuleInput PrepareModuleOutput PrepareModuleInputOutput loss_parallel""",
    "torch.distributed.tensor.debug": "CommDebugMode visualize_sharding",
    "CommDebugMode": "get_comm_counts get_total_counts",
    "torch.distributed.tensor.experimental": "context_parallel implicit_replication local_map register_sharding",
    "torch": """set_rotate_method fully_shard FSDPModule MixedPrecisionPolicy dcp.save dcp.load torchrun
        init_process_group clip_grad_norm_ Tensor.backward""",
}
"""The public names of PyTorch 2.9, and what is often used with them."""

ROWS = {
    name: (here, line) for name, here, line in re.findall(r"^\| `([\w.]+)` \| (.*) \| `(.*)` \|$", PAGE, re.MULTILINE)
}
VALUES = np.arange(32, dtype=np.float32).reshape(8, 4)
GRID = np.arange(8).reshape(2, 4)
HIDDEN = VALUES @ np.ones((4, 16), np.float32)


def softmax(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


EXPECTED: dict[str, object] = {
    "DTensor": "Layout(['dp', 'unsharded'], Mesh(dp=2, tp=4))",
    "DTensor.from_local": VALUES,
    "DTensor.to_local": VALUES[4:],
    "DTensor.full_tensor": VALUES,
    "DTensor.redistribute": VALUES[:, 1:2],
    "DTensor.device_mesh": {"dp": 2, "tp": 4},
    "DTensor.placements": ["dp", "unsharded"],
    "distribute_tensor": VALUES,
    "Placement": (1, 4),
    "Shard": (8, 1),
    "Shard.dim": 1,
    "Replicate": True,
    "Partial": 4 * VALUES,
    "Placement.is_shard": False,
    "Placement.is_replicate": False,
    "Placement.is_partial": False,
    "Partial.reduce_op": "max",
    "zeros": np.zeros((8, 4)),
    "ones": np.ones((8, 4)),
    "empty": (8, 4),
    "full": np.full((8, 4), 2.5),
    "init_device_mesh": GRID.shape,
    "DeviceMesh": 4,
    "DeviceMesh.from_group": 4,
    "DeviceMesh.get_group": VALUES.sum(0),
    "DeviceMesh.get_all_groups": ("dp", "tp"),
    "DeviceMesh.get_rank": tuple(range(8)),
    "DeviceMesh.get_coordinate": tuple(np.argwhere(GRID == 5)[0]),
    "DeviceMesh.get_local_rank": 1,
    "DeviceMesh.__getitem__": tuple(f"CPU:{device}" for device in GRID[1]),
    "DeviceMesh.size": (8, 4),
    "DeviceMesh.ndim": 2,
    "DeviceMesh.shape": (2, 4),
    "DeviceMesh.mesh_dim_names": ("dp", "tp"),
    "DeviceMesh.mesh": GRID,
    "DeviceMesh.device_type": None,
    "parallelize_module": 2,
    "ParallelStyle": ["tp", "unsharded"],
    "ColwiseParallel": HIDDEN[:4, :4],
    "RowwiseParallel": np.maximum(HIDDEN, 0) @ np.ones((16, 4), np.float32),
    "SequenceParallel": 0,
    "PrepareModuleInput": VALUES + 1,
    "PrepareModuleOutput": VALUES + 1,
    "PrepareModuleInputOutput": VALUES + 1,
    "loss_parallel": np.log(np.exp(VALUES.astype(np.float64)).sum(1)),
    "fully_shard": (4 // 2, 16),
    "FSDPModule": [(4, 16), (16, 4)],
    "MixedPrecisionPolicy": 2 * VALUES,
    "CommDebugMode": [("all_reduce", ("tp",))],
    "CommDebugMode.get_comm_counts": [2 * (4 - 1) * (4 * 4 * 4) // 4],  # a ring of four: 2 (n - 1) / n of 4 x 4 floats
    "CommDebugMode.get_total_counts": 2 * (4 - 1) * (4 * 4 * 4) // 4,
    "local_map": VALUES.max(0),
    "implicit_replication": VALUES + 1,
    "context_parallel": softmax(VALUES.astype(np.float64) @ VALUES.T),
    "set_rotate_method": VALUES @ VALUES.T,
    "torchrun": 1,
    "Tensor.backward": 2 * VALUES,
}
ALIKE: dict[str, Callable[[np.ndarray], object]] = {
    "rand": lambda found: (found >= 0).all() and (found < 1).all() and len(np.unique(found)) > 24,
    "randn": lambda found: abs(found.mean()) < 1 and 0.5 < found.std() < 2 and len(np.unique(found)) > 24,
}
"""What is said of random numbers, which NumPy has no way to make."""

DONE: dict[str, str] = {
    "distribute_module": "'up' in str(layouts.resolve(mlp)) and 'down' in str(layouts.resolve(mlp))",
    "visualize_sharding": "all(str(device) in str(picture) for device in range(8))",
    "register_sharding": "Pattern.parse('i -> i')",
    "dcp.save": "place.startswith(folder)",
    "dcp.load": "np.array_equal(again['mlp'].up, np.ones((4, 16)))",
    "clip_grad_norm_": "isinstance(optimizer, sw.Module)",
    "init_process_group": "mesh.clients.count == 1",
}
"""What is so after a line that gives nothing to be compared."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the blocks of the page and the lines of its rows define."""
    names: dict[str, Any] = {"folder": str(tmp_path_factory.mktemp("page"))}
    for block in re.findall(r"(?ms)^```python\n(.*?)^```", PAGE):
        exec(block, names)
    for name, (_, line) in ROWS.items():
        if name in DONE:
            exec(line, names)
    return names


def test_every_name_has_a_row_and_every_row_a_trial() -> None:
    rooms = {room: texts.split() for room, texts in NAMES.items()}
    names = {name if room.startswith("torch") else f"{room}.{name}" for room, found in rooms.items() for name in found}
    assert set(ROWS) == names
    assert len(re.findall(r"^\| `", PAGE, re.MULTILINE)) == len(ROWS)
    assert {*EXPECTED, *ALIKE, *DONE} == names
    assert len(EXPECTED) + len(ALIKE) + len(DONE) == len(names)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_line_gives_what_numpy_gives(name: str, page: dict[str, Any]) -> None:
    found, wanted = eval(ROWS[name][1], page), EXPECTED[name]
    if isinstance(wanted, np.ndarray):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5, atol=1e-7, strict=False)
        assert np.shape(found) == wanted.shape
    else:
        assert found == wanted


@pytest.mark.parametrize("name", ALIKE)
def test_random_numbers_are_as_they_should_be(name: str, page: dict[str, Any]) -> None:
    found = eval(ROWS[name][1], page)
    assert found.shape == (8, 4)
    assert found.layout.sharding_specs == ["dp", "unsharded"]
    assert ALIKE[name](np.asarray(found))


@pytest.mark.parametrize("name", DONE)
def test_a_line_did_what_it_says(name: str, page: dict[str, Any]) -> None:
    assert eval(DONE[name], page)
