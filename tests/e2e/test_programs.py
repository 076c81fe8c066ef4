"""
The dense programs that JAX exported, in `../shared/programs`: right, and with no more bytes than other partitioners.

Each folder's `meta.json` has the tolerances and what XLA's and Shardy's partitioners send for the same program.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness import Array, Ran, run

PROGRAMS = Path(__file__).parents[3] / "shared" / "programs"
NAMES = sorted(path.parent.name for path in PROGRAMS.glob("*/meta.json"))


@cache
def meta(name: str) -> dict[str, Any]:
    """What a program's `meta.json` says."""
    return json.loads((PROGRAMS / name / "meta.json").read_text())


DENSE = [name for name in NAMES if "dense" in meta(name)["tags"]]
pytestmark = pytest.mark.skipif(
    not DENSE, reason=f"{PROGRAMS} is not there: these programs live outside the repository"
)


def arrays(name: str, prefix: str, described: list[dict[str, Any]]) -> list[Array]:
    """The arrays `in_0 ...` or `out_0 ...`, in the dtypes of the program (bf16 is stored as bits)."""
    import ml_dtypes  # noqa: F401  (names bfloat16 for NumPy)

    with np.load(PROGRAMS / name / f"{name}.npz") as archive:
        loaded = [archive[f"{prefix}_{i}"] for i in range(len(described))]
    return [
        array if entry["npz_dtype"] == entry["dtype"] else array.view(np.dtype(entry["dtype"]))
        for array, entry in zip(loaded, described, strict=True)
    ]


@cache
def ran(name: str) -> Ran:
    """The program, partitioned with every check on, and run; predicted bytes are compared with those sent."""
    text = (PROGRAMS / name / f"{name}.mlir").read_text()
    return run(text, arrays(name, "in", meta(name)["inputs"]), namespace="numpy")


@pytest.mark.parametrize("name", DENSE)
def test_results(name: str) -> None:
    tolerance = meta(name)["tol"]
    expected = arrays(name, "out", meta(name)["outputs"])
    for actual, wanted in zip(ran(name).results, expected, strict=True):
        assert actual.dtype == wanted.dtype
        assert actual.shape == wanted.shape
        left, right = (array.astype(np.float64) if array.dtype.kind == "V" else array for array in (actual, wanted))
        np.testing.assert_allclose(left, right, rtol=tolerance["rtol"], atol=tolerance["atol"])


@pytest.mark.parametrize("name", DENSE)
def test_bytes_are_at_most_those_of_xla(name: str) -> None:
    assert ran(name).predicted <= meta(name)["xla"]["sent_bytes"]


@pytest.mark.parametrize("name", [name for name in DENSE if {"fsdp", "seqparallel"} & set(meta(name)["tags"])])
def test_bytes_are_at_most_those_of_shardy(name: str) -> None:
    assert ran(name).predicted <= meta(name)["shardy"]["sent_bytes"]
