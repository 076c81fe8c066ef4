"""
The programs in `tests/data/programs`, as JAX exported them: text, `meta.json`, and for small ones their arrays.

Arrays are inputs, and the outputs that JAX computed of them on one device. `meta.json` has the mesh, the tolerance, and
what XLA's and Shardy's partitioners send for the same program.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

PROGRAMS = Path(__file__).resolve().parents[1] / "data" / "programs"
NAMES = sorted(path.parent.name for path in PROGRAMS.glob("*/meta.json"))
TEXTS = [PROGRAMS / name / f"{name}.mlir" for name in NAMES]
RUNNABLE = [path.stem for path in TEXTS if path.with_suffix(".npz").exists()]
"""The programs whose arrays are stored."""
SHARED = [
    ("heat_stencil", 2),
    ("sort_sharded", 4),
    ("moe_onehot_train", 8),
    ("smap_pipeline", 8),
    ("smap_cube_collectives", 8),
    ("edges", 8),
    ("tblock_fsdp_train", 4),
    ("gru_scan_train", 2),
    ("mlp_mixed_train_fsdp", 8),
    ("scatter_min_mul", 4),
    ("switch_branches", 2),
    ("strided_reversed", 2),
    ("strided_reversed", 8),
]
"""What the default suite runs on several processes, and on how many: every kind of collective, loops, branches."""


@cache
def meta(name: str) -> dict[str, Any]:
    """What a program's `meta.json` says."""
    return json.loads((PROGRAMS / name / "meta.json").read_text())


def text(name: str) -> str:
    """The program as JAX printed it."""
    return (PROGRAMS / name / f"{name}.mlir").read_text()


def tagged(tag: str, names: list[str]) -> list[str]:
    """Those of the programs that have a tag."""
    return [name for name in names if tag in meta(name)["tags"]]


def inputs(name: str) -> list[Any]:
    """The arguments, in the program's dtypes."""
    return _arrays(name, "inputs")


def outputs(name: str) -> list[Any]:
    """What JAX computed of them."""
    return _arrays(name, "outputs")


def assert_right(name: str, results: Any) -> None:
    """The results are of the right types and shapes, and within the program's tolerance of JAX's."""
    for actual, wanted in zip(results, outputs(name), strict=True):
        assert (actual.dtype, tuple(actual.shape)) == (wanted.dtype, wanted.shape)
        pair = [np.asarray(one) for one in (actual, wanted)]
        if wanted.dtype.kind == "V":
            pair = [one.astype(np.float64) for one in pair]
        np.testing.assert_allclose(*pair, **meta(name)["tol"])


def _arrays(name: str, side: str) -> list[Any]:
    with np.load(PROGRAMS / name / f"{name}.npz") as archive:
        return [_typed(archive[entry["key"]], entry) for entry in meta(name)[side]]


def _typed(array: Any, entry: dict[str, Any]) -> Any:
    """The array in the program's dtype: bf16 and its like are stored as bits."""
    return array if entry["npz_dtype"] == entry["dtype"] else array.view(getattr(ml_dtypes, entry["dtype"]))
