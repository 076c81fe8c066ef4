"""Programs of linear algebra, transforms and random numbers that JAX exports: read, partitioned, run, and compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import run

from shardwright.benchmarks import xla
from shardwright.compiler.report import predicted_bytes

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()

import jax.numpy as jnp  # noqa: E402
import jax.scipy.linalg as jsl  # noqa: E402

Shapes = tuple[tuple[int, ...], ...]


def positive(a: Any) -> Any:
    """Positive definite matrices."""
    return a @ a.swapaxes(-1, -2) + a.shape[-1] * jnp.eye(a.shape[-1], dtype=a.dtype)


def normal(kind: str) -> Callable[..., Any]:
    """Normal and uniform numbers from a key of some kind."""

    def draw(key: Any) -> Any:
        keys = jax.random.split(jax.random.wrap_key_data(key, impl=kind))
        return jax.random.normal(keys[0], (8, 16)), jax.random.uniform(keys[1], (16,)), jax.random.key_data(keys)

    return draw


M = ((8, 4, 4),)
PROGRAMS: dict[str, tuple[Callable[..., Any], Shapes]] = {
    "cholesky": (lambda a: jnp.linalg.cholesky(positive(a)), M),
    "cholesky_grad": (jax.grad(lambda a: jnp.linalg.cholesky(positive(a)).sum()), M),
    "solve": (jnp.linalg.solve, (*M, (8, 4, 2))),
    "solve_grad": (jax.grad(lambda a, b: jnp.linalg.solve(a, b).sum(), (0, 1)), (*M, (8, 4, 2))),
    "inv": (jnp.linalg.inv, M),
    "det": (jnp.linalg.det, M),
    "slogdet": (jnp.linalg.slogdet, M),
    "qr": (lambda a: jnp.linalg.qr(a), ((8, 6, 4),)),
    "qr_of_many_rows": (lambda a: jnp.linalg.qr(a), ((256, 4),)),
    "eigh": (lambda a: jnp.linalg.eigh(positive(a))[0], M),
    "eigh_matrix": (lambda a: abs(jnp.linalg.eigh(positive(a))[1]), M),
    "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False)[1], ((8, 6, 4),)),
    "svd_matrix": (lambda a: abs(jnp.linalg.svd(a, full_matrices=False)[2]), ((8, 6, 4),)),
    "pinv": (jnp.linalg.pinv, ((8, 6, 4),)),
    "lstsq": (lambda a, b: jnp.linalg.lstsq(a, b)[0], ((8, 4), (8, 2))),
    "expm": (lambda a: jsl.expm(a / 4), M),
    "lu": (lambda a: jsl.lu_factor(a)[0], M),
    "cho_solve": (lambda a, b: jsl.cho_solve((positive(a), True), b), (*M, (8, 4, 2))),
    "solve_triangular": (lambda a, b: jsl.solve_triangular(a, b, trans=1, lower=True), (*M, (8, 4, 2))),
    "eig_values": (lambda a: abs(jnp.linalg.eigvals(a)), M),
    "fft2": (lambda a: jnp.fft.fft2(a), ((8, 4, 8),)),
    "rfft": (lambda a: jnp.fft.irfft(jnp.fft.rfft(a) * 2), ((8, 16),)),
    "fft_first": (lambda a: jnp.fft.fft(a, axis=0), ((8, 16),)),
    "fftn": (lambda a: jnp.fft.ifftn(jnp.fft.fftn(a) ** 2).real, ((8, 4, 4),)),
    "fft_grad": (jax.grad(lambda a: (abs(jnp.fft.rfft(a)) ** 2).sum()), ((8, 16),)),
    "top_k": (lambda a: jax.lax.top_k(a, 3), ((8, 16),)),
    "approx_max_k": (lambda a: jax.lax.approx_max_k(a, 3), ((8, 16),)),
}
RANDOM = {"threefry2x32": 2, "rbg": 4, "unsafe_rbg": 4}


def exported(function: Callable[..., Any], arguments: list[Any], dims: list[list[str | None]]) -> tuple[str, list[Any]]:
    """The program as JAX writes it with arguments split over two axes, and its results on one device."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("x", "y"))
    shardings = tuple(jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes)) for axes in dims)
    text = jax.jit(function, in_shardings=shardings).lower(*arguments).as_text()
    return text, [np.asarray(one) for one in jax.tree.leaves(jax.jit(function)(*arguments))]


def compare(text: str, arguments: list[Any], expected: list[Any]) -> None:
    """Runs on four devices, in both engines."""
    for namespace in ("plain_numpy", "numpy"):
        results = run(text, [np.asarray(one) for one in arguments], namespace=namespace).results
        for found, wanted in zip(results, expected, strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, 2e-3, 2e-3)


@pytest.mark.parametrize("split", ["batch", "both", "inner", "whole"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, split: str) -> None:
    function, shapes = PROGRAMS[name]
    generator = np.random.default_rng(1)
    arguments = [generator.standard_normal(shape).astype(np.float32) for shape in shapes]
    axes: dict[str, Callable[[int], list[str | None]]] = {
        "batch": lambda rank: ["x", *[None] * (rank - 1)],
        "both": lambda rank: ["x", "y", *[None] * (rank - 2)],
        "inner": lambda rank: [*[None] * (rank - 2), "x", "y"],
        "whole": lambda rank: [None] * rank,
    }
    text, expected = exported(function, arguments, [axes[split](len(shape)) for shape in shapes])
    compare(text, arguments, expected)


@pytest.mark.parametrize("function", [jnp.linalg.det, jnp.linalg.slogdet])
def test_what_the_determinant_of_columns_sends_is_told(function: Callable[..., Any]) -> None:
    """JAX reads the diagonal in a branch for the platform, of which there is one: what is sent there is known."""
    matrix = np.random.default_rng(2).standard_normal((24, 24)).astype(np.float32)
    text, expected = exported(function, [matrix], [[None, "x"]])
    ran = run(text, [matrix])
    assert "case" in text
    assert predicted_bytes(ran.planned) == ran.executable.ledger.sent_bytes < 24 * 12 * 4  # that it is gathered
    for found, wanted in zip(ran.results, expected, strict=True):
        np.testing.assert_allclose(found, wanted, 1e-4)


@pytest.mark.parametrize("kind", RANDOM)
def test_random_numbers(kind: str) -> None:
    key = np.arange(7, 7 + RANDOM[kind]).astype(np.uint32)
    text, expected = exported(normal(kind), [key], [[None]])
    compare(text, [key], expected)
