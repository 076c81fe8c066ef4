"""Functions of JAX's users as `jax.export` writes them, text and bytecode, on eight devices: JAX's values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shardwright.benchmarks import xla
from shardwright.tools.main import main

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()

from jax import export  # noqa: E402
from jax_functions import CASES, MESH, Case  # noqa: E402

TOLERANCE = "2e-3"
"""Of eigenvalues, inverses and sums in float32, by other algorithms."""


def arguments(case: Case) -> list[np.ndarray]:
    """Random numbers in the shapes that a case asks for."""
    random = np.random.default_rng(0)
    kinds = {"f32": np.float32, "i32": np.int32, "u32": np.uint32}
    found: list[np.ndarray] = []
    for text in case.arguments:
        kind, dims = text.rstrip("]").split("[")
        shape = tuple(int(dim) for dim in dims.split(",") if dim)
        whole = kind != "f32"
        drawn = random.integers(0, 12, shape) if whole else random.standard_normal(shape)
        found.append(np.asarray(drawn, kinds[kind]))
    return found


def exported(case: Case, values: list[np.ndarray]) -> Any:
    """What `jax.export` makes of a function over all devices of the mesh."""
    split = tuple(jax.sharding.NamedSharding(MESH, jax.P(*spec)) for spec in case.specs)
    jitted = jax.jit(case.function, in_shardings=split, keep_unused=True)
    return export.export(jitted, platforms=["cpu"])(*values)


@pytest.mark.parametrize("name", CASES)
def test_what_jax_exports_gives_what_jax_computes(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    values = arguments(case)
    program, wanted = exported(case, values), jax.tree.leaves(jax.jit(case.function)(*values))
    (tmp_path / "program.mlir").write_text(str(program.mlir_module()))
    (tmp_path / "program.bin").write_bytes(bytes(program.serialize()))
    arrays = {f"in_{place}": value for place, value in enumerate(values)}
    arrays |= {f"out_{place}": np.asarray(value) for place, value in enumerate(wanted)}
    np.savez(tmp_path / "arrays.npz", **arrays)
    archive = str(tmp_path / "arrays.npz")
    for file in ("program.mlir", "program.bin"):
        given = ["--inputs", archive, "--expect", archive, "--check", "--rtol", TOLERANCE, "--atol", TOLERANCE]
        code, said = main(["run", str(tmp_path / file), *given]), capsys.readouterr().err
        if case.refused:
            assert code == 1
            assert f"error[{case.refused}]" in said
        else:
            assert code == 0, said
