"""Programs of numerical methods on eight devices: as JAX exports them, with its results, and at most XLA's bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from harness import run

from shardwright.benchmarks import xla
from shardwright.engines.jax import hlo

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()

import jax.numpy as jnp  # noqa: E402
import jax.scipy.linalg as jsl  # noqa: E402

Axes = tuple[str | None, ...]


def gaussian_process(x: Any, y: Any) -> Any:
    """The weights and the likelihood of a regression."""
    kernel = jnp.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) + 0.1 * jnp.eye(x.shape[0])
    factor = jnp.linalg.cholesky(kernel)
    weights = jsl.cho_solve((factor, True), y)
    return weights, 2 * jnp.log(jnp.diag(factor)).sum() + y @ weights


def subspace_iteration(a: Any) -> Any:
    """QR in a loop."""

    def step(basis: Any, _: Any) -> Any:
        basis, upper = jnp.linalg.qr(a @ basis)
        return basis, abs(jnp.diag(upper))

    return jax.lax.scan(step, jnp.eye(16, 4), None, length=5)[1]


def ridge(x: Any, y: Any) -> Any:
    """Least squares with a penalty."""
    return jnp.linalg.solve(x.T @ x + 0.5 * jnp.eye(x.shape[1]), x.T @ y)


def components(x: Any) -> Any:
    """Principal components."""
    x = x - x.mean(0)
    _, values, right = jnp.linalg.svd(x, full_matrices=False)
    return values, abs(x @ right.T[:, :2])


def kalman(a: Any, observed: Any) -> Any:
    """A filter with a solve in each step."""

    def step(carry: Any, z: Any) -> Any:
        mean, spread = a @ carry[0], a @ carry[1] @ a.T + 0.1 * jnp.eye(4)
        gain = jnp.linalg.solve(spread + jnp.eye(4), spread.T).T
        mean = mean + gain @ (z - mean)
        return (mean, (jnp.eye(4) - gain) @ spread), mean

    return jax.lax.scan(step, (jnp.zeros(4), jnp.eye(4)), observed)[1]


def newton(a: Any, b: Any) -> Any:
    """Solves in a while loop."""

    def body(state: Any) -> Any:
        x, count = state
        return x - jnp.linalg.solve(a + jnp.diag(x**2), a @ x - b), count + 1

    return jax.lax.while_loop(lambda state: state[1] < 5, body, (jnp.ones(8), 0))[0]


def spectrum(x: Any) -> Any:
    """A power spectrum, and a filter by it."""
    found = jnp.fft.rfft(x)
    return (abs(found) ** 2).mean(0), jnp.fft.irfft(found * jnp.exp(-jnp.arange(found.shape[-1]) / 10.0))


def convolution(x: Any, kernel: Any) -> Any:
    """By transforms of two dims."""
    return jnp.fft.irfft2(jnp.fft.rfft2(x) * jnp.fft.rfft2(kernel, s=x.shape[-2:]))


def dropout(kind: str, key: Any, x: Any) -> Any:
    """Random masks."""
    return jnp.where(jax.random.bernoulli(jax.random.wrap_key_data(key, impl=kind), 0.7, x.shape), x / 0.7, 0)


def draws(kind: str, key: Any) -> Any:
    """Many distributions."""
    keys = jax.random.split(jax.random.wrap_key_data(key, impl=kind), 6)
    random = jax.random
    return (
        random.randint(keys[0], (16,), 0, 10),
        random.categorical(keys[1], jnp.ones((4, 6))),
        random.permutation(keys[2], 16),
        random.gamma(keys[3], 2.0, (4,)),
        random.truncated_normal(keys[4], -1, 1, (8,)),
        random.multivariate_normal(keys[5], jnp.zeros(3), jnp.eye(3), (4,)),
    )


def numbers(*shape: int) -> Any:
    """Normal numbers."""
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


SPLIT: Axes = ("batch", "model")
KEY = np.array([3, 4, 5, 6], np.uint32)
PROGRAMS: dict[str, tuple[Callable[..., Any], list[Any], list[Axes]]] = {
    "gaussian process": (gaussian_process, [numbers(32, 3), numbers(32)], [("batch",), ("batch",)]),
    "subspace iteration": (subspace_iteration, [numbers(16, 16)], [SPLIT]),
    "ridge": (ridge, [numbers(64, 8), numbers(64, 4)], [("batch",), SPLIT]),
    "components": (components, [numbers(32, 8)], [SPLIT]),
    "kalman": (kalman, [numbers(4, 4) / 3, numbers(6, 4)], [(), ()]),
    "newton": (newton, [numbers(8, 8) + 4 * np.eye(8, dtype=np.float32), numbers(8)], [SPLIT, ("batch",)]),
    "spectrum": (spectrum, [numbers(8, 64)], [SPLIT]),
    "convolution": (convolution, [numbers(8, 16, 16), numbers(8, 4, 4)], [("batch", None, "model"), ("batch",)]),
    "transform of all": (lambda x: abs(jnp.fft.fft2(x)), [numbers(16, 32)], [("batch",)]),
    "dropout": (partial(dropout, "threefry2x32"), [KEY[:2], numbers(16, 32)], [(), SPLIT]),
    "dropout by rbg": (partial(dropout, "rbg"), [KEY, numbers(16, 32)], [(), SPLIT]),
    "draws": (partial(draws, "threefry2x32"), [KEY[:2]], [()]),
    "draws by rbg": (partial(draws, "unsafe_rbg"), [KEY], [()]),
    "gradient of eigenvalues": (
        jax.grad(lambda a: jnp.linalg.eigvalsh(a @ a.swapaxes(-1, -2)).sum()),
        [numbers(8, 4, 4)],
        [SPLIT],
    ),
    "gradient of determinants": (
        jax.grad(lambda a: jnp.linalg.slogdet(a)[1].sum()),
        [numbers(8, 4, 4)],
        [("batch",)],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    function, arguments, dims = PROGRAMS[name]
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("batch", "model"))
    shardings = tuple(jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes)) for axes in dims)
    lowered = jax.jit(function, in_shardings=shardings).lower(*arguments)
    expected = [np.asarray(one) for one in jax.tree.leaves(jax.jit(function)(*arguments))]
    ran = run(lowered.as_text(), arguments)
    for found, wanted in zip(ran.results, expected, strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, 5e-3, 5e-3)
    peer = sum(one.sent_bytes for one in hlo.collectives(lowered.compile().as_text(), 8))
    assert ran.predicted <= peer
