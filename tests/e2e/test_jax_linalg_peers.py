"""Linear algebra of our own on JAX's devices, as NumPy has it; on those that are no CPUs by JAX's own functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.dialects.stablehlo.calls.custom_calls import CustomCallOp
from shardwright.dialects.text.printing import print_module
from shardwright.engines.jax.internals import compiled_for
from shardwright.engines.jax.lapack import spell_for
from shardwright.layout import Layout, Mesh

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(4, 6, 5)) + 1j * RANDOM.normal(size=(4, 6, 5))
S = np.einsum("bij,bkj->bik", A, A.conj()) + 6 * np.eye(6)
L = sw.linalg

FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "cholesky": (lambda a, s: L.cholesky(s), lambda a, s: np.linalg.cholesky(s)),
    "upper": (lambda a, s: L.cholesky(s, upper=True), lambda a, s: np.linalg.cholesky(s, upper=True)),
    "qr": (lambda a, s: sw.matmul(*L.qr(a)), lambda a, s: a),
    "complete qr": (
        lambda a, s: sw.abs(L.qr(a, mode="complete").R),
        lambda a, s: np.abs(np.linalg.qr(a, "complete").R),
    ),
    "svd": (lambda a, s: sw.abs(L.svd(a).U[..., :5]), lambda a, s: np.abs(np.linalg.svd(a).U[..., :5])),
    "thin svd": (lambda a, s: sw.abs(L.svd(a, full_matrices=False).Vh), lambda a, s: np.abs(np.linalg.svd(a).Vh)),
    "svdvals": (lambda a, s: L.svdvals(a), lambda a, s: np.linalg.svdvals(a)),
    "eigh": (lambda a, s: sw.abs(L.eigh(s).eigenvectors), lambda a, s: np.abs(np.linalg.eigh(s).eigenvectors)),
    "eigvalsh": (lambda a, s: L.eigvalsh(s), lambda a, s: np.linalg.eigvalsh(s)),
    "inv": (lambda a, s: L.inv(s), lambda a, s: np.linalg.inv(s)),
    "det": (lambda a, s: L.det(s), lambda a, s: np.linalg.det(s)),
    "solve": (lambda a, s: L.solve(s, a), lambda a, s: np.linalg.solve(s, a)),
    "pinv": (lambda a, s: L.pinv(a), lambda a, s: np.linalg.pinv(a)),
    "matrix_rank": (lambda a, s: L.matrix_rank(a), lambda a, s: np.linalg.matrix_rank(a)),
}


def arrays(dtype: str) -> list[Any]:
    return [(each if dtype[0] == "c" else each.real).astype(dtype) for each in (A, S)]


def close(found: Any, due: Any) -> None:
    np.testing.assert_allclose(found, due, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_on_jaxs_devices(name: str, dtype: str) -> None:
    ours, numpys = FUNCTIONS[name]
    mesh = Mesh(x=2, y=2, devices="jax")
    given = [sw.relayout(each, Layout(["x"], mesh)) for each in arrays(dtype)]
    close(sw.function(ours)(*given).numpy(), numpys(*arrays(dtype)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_exported(name: str) -> None:
    """The text by itself, compiled by XLA for devices of its own."""
    ours, numpys = FUNCTIONS[name]
    given = arrays("float32")
    mesh = Mesh(x=4)
    specs = [sw.TensorSpec(each.shape, "float32", Layout(["x"], mesh)) for each in given]
    traced = sw.function(ours).trace(*specs)
    for text in (traced.partition().to_stablehlo(), traced.propagate().to_sdy()):
        run = compiled_for(text, 4)
        parts = [
            [jax.device_put(row, device) for row, device in zip(each, jax.devices(), strict=False)] for each in given
        ]
        parts = [[row[None] for row in each] for each in parts]
        (found,) = run.execute_sharded(
            [as_one(each, given[at]) for at, each in enumerate(parts)]
        ).consume_with_handlers([lambda shards: [np.asarray(shard) for shard in shards]])
        close(np.concatenate(found), numpys(*given))


def as_one(parts: list[Any], whole: Any) -> Any:
    """The parts as one array that is split over the devices."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("x",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    return jax.make_array_from_single_device_arrays(whole.shape, sharding, parts)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_by_jaxs_functions(name: str, dtype: str) -> None:
    """What other devices than CPUs get, on a CPU."""
    ours, numpys = FUNCTIONS[name]
    given = arrays(dtype)
    module = sw.function(ours).trace(*given).partition().module.clone()
    export_stablehlo(module)
    calls = [op for op in module.walk() if isinstance(op, CustomCallOp)]
    spell_for(module, jax.devices()[0])
    assert not any(op.parent is not None for op in calls)
    run = compiled_for(print_module(module), 1)
    (found,) = run.execute([jax.device_put(each) for each in given])
    close(np.asarray(found), numpys(*given))


def test_matrices_lie_by_columns() -> None:
    """What XLA has to know of LAPACK's memory, and in which types JAX's kernels take their options."""
    text = sw.function(lambda s: L.eigh(s).eigenvalues).trace(arrays("float32")[1]).partition().to_stablehlo()
    (line,) = [line for line in text.splitlines() if "custom_call" in line]
    theirs = jax.jit(jax.numpy.linalg.eigvalsh).lower(arrays("float32")[1]).as_text()
    (due,) = [line for line in theirs.splitlines() if "custom_call" in line]
    for pattern in (r"operand_layouts = \[.*?>\]", r"result_layouts = \[.*?>\]", r"uplo = \d+ : ui8"):
        assert re.search(pattern, line)[0] == re.search(pattern, due)[0]  # pyright: ignore[reportOptionalSubscript]
