"""What JAX does to ten rows that a constraint splits over four devices: equal to JAX on one device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.benchmarks import xla

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()
jnp, P = jax.numpy, jax.sharding.PartitionSpec

MESH = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"))
ROWS = np.random.default_rng(0).standard_normal((10, 6)).astype(np.float32)


def rows(x: Any, *spec: Any) -> Any:
    """The value with its rows over `data`, or with another layout."""
    return jax.lax.with_sharding_constraint(x, jax.sharding.NamedSharding(MESH, P(*(spec or ("data",)))))


def loss(x: Any) -> Any:
    w = jnp.linspace(-1, 1, 24).reshape(6, 4)
    return jnp.mean((jax.nn.gelu(rows(x) @ w) @ w.T) ** 2)


def images(x: Any) -> Any:
    return rows(x).reshape(1, 10, 6, 1)


def convolved(x: Any) -> Any:
    kernel = jnp.linspace(0, 1, 9).reshape(3, 3, 1, 1)
    return jax.lax.conv_general_dilated(images(x), kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pooled(x: Any) -> Any:
    return jax.lax.reduce_window(rows(x), -jnp.inf, jax.lax.max, (3, 2), (2, 2), "SAME")


def scanned(x: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        carry = rows(jnp.roll(carry, 1) * 0.5 + row.sum())
        return carry, carry.max()

    return jax.lax.scan(step, jnp.zeros(10), rows(x))


def attention(x: Any) -> Any:
    weights = jax.nn.softmax(rows(x) @ x.T / 2.0, axis=-1)
    return rows(weights) @ x, weights


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "loss": loss,
    "gradient": jax.grad(loss),
    "statistics": lambda x: (rows(x).mean(0), rows(x).std(0), rows(x).max(0), rows(x).min(), rows(x).prod(1)),
    "norms": lambda x: (jnp.linalg.norm(rows(x)), rows(x) / jnp.linalg.norm(rows(x), axis=0)),
    "places": lambda x: (jnp.argmax(rows(x), 0), jnp.argmin(rows(x), 1), jnp.argsort(rows(x), 0)),
    "sorted": lambda x: (jnp.sort(rows(x), 0), jnp.median(rows(x), 0), jax.lax.top_k(rows(x).T, 3)),
    "accumulated": lambda x: (jnp.cumsum(rows(x), 0), jax.lax.cummax(rows(x), 0, reverse=True)),
    "associative": lambda x: jax.lax.associative_scan(jnp.multiply, rows(x)),
    "cut": lambda x: (rows(x)[1:], rows(x)[::3], rows(x)[-4:-1], rows(x)[::-1]),
    "joined": lambda x: (jnp.concatenate([rows(x), x[:3]]), jnp.stack([rows(x), x]), jnp.roll(rows(x), 3, 0)),
    "padded": lambda x: jax.lax.pad(rows(x), 1.0, ((-1, -2, 2), (0, 0, 0))),
    "reflected": lambda x: jnp.pad(rows(x), ((2, 1), (0, 0)), mode="reflect"),
    "taken": lambda x: (rows(x)[jnp.array([9, 0, -1, 40])], jax.lax.dynamic_slice(rows(x), (8, 0), (4, 6))),
    "written": lambda x: (rows(x).at[jnp.array([9, 9, 12, 1])].add(1.0), rows(x).at[7:].set(0.0)),
    "reshaped": lambda x: (rows(x).reshape(60), rows(x).reshape(5, 12), rows(x).T.reshape(3, 20)),
    "products": lambda x: (rows(x).T @ rows(x), rows(x) @ rows(x).T, jnp.einsum("ij,ik->jk", rows(x), x)),
    "both dims": lambda x: rows(rows(x, "data", "model"), "model", "data").sum(1),
    "convolved": convolved,
    "kernel's gradient": jax.grad(lambda x: jnp.sum(convolved(x) ** 2)),
    "pooled": pooled,
    "pool's gradient": jax.grad(lambda x: jnp.sum(pooled(x) ** 2)),
    "scanned": scanned,
    "attention": attention,
    "one row": lambda x: (rows(x[:1]) * 2, rows(x[:2]).sum(0), rows(x[:3]).max(0)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_equal_to_jax_on_one_device(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = PROGRAMS[name]
    found = sw.jax.jit(lambda x: function(x))(ROWS)
    monkeypatch.setitem(globals(), "rows", lambda x, *spec: x)
    wanted = jax.jit(lambda x: function(x))(ROWS)
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-5)
