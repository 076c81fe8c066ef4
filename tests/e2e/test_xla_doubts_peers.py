"""What XLA's own partitioner gets wrong: we and the programs of devices are right, and `to_sdy` warns of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from e2e.test_export_peers import run_with_jax

import shardwright as sw
from shardwright.benchmarks import xla
from shardwright.compiler.exporting.doubts import doubts
from shardwright.dialects.dtensor import layout_of, meshes
from shardwright.layout import Layout
from shardwright.passes.program import entry_function

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")
xla.prepare()
jnp, lax, P = jax.numpy, jax.lax, jax.sharding.PartitionSpec
Array = np.ndarray[Any, Any]
MESH = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("x", "y"))
LINE, IMAGES = np.arange(1, 9, dtype=np.float32), np.ones((2, 8, 8, 1), np.float32)
KERNEL = np.arange(1, 5, dtype=np.float32)


def put(value: Array, *spec: Any) -> Any:
    return jax.device_put(value, jax.sharding.NamedSharding(MESH, P(*spec)))


def convolved(x: Any, k: Any) -> Any:
    return lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pooled(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")


def shifted(a: Any, value: float) -> Any:
    return lax.pad(a, np.float32(value), ((1, -1, 0),))


def best(a: Any) -> Any:
    """Of each two neighbours the larger one."""
    return lax.reduce_window(a, -jnp.inf, lax.max, (2,), (1,), "VALID")


NINE = np.ones((3, 3, 1, 1), np.float32)
NEIGHBOURS = np.array([2, 3, 3, 3, 3, 3, 3, 2], np.float32)
SHIFTED = np.array([NEIGHBOURS[1:].sum(), NEIGHBOURS.sum(), NEIGHBOURS[:-1].sum()])
DOUBTFUL: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Array, ...]]] = {
    "running sums and products": (
        lambda a: (jnp.cumsum(a), jnp.cumprod(a)),
        (put(LINE, "x"),),
        (np.cumsum(LINE), np.cumprod(LINE)),
    ),
    "a convolution and a pool": (
        lambda x: (convolved(x, NINE), pooled(x)),
        (put(-IMAGES, None, "x"),),
        (-IMAGES * np.outer(NEIGHBOURS, NEIGHBOURS)[:, :, None], -IMAGES),
    ),
    "two shifts": (
        lambda a: (shifted(a, 3), shifted(a, 7)),
        (put(LINE, "x"),),
        (np.array([3, *LINE[:-1]]), np.array([7, *LINE[:-1]])),
    ),
    "the slope of a kernel": (
        lambda x: (jax.grad(lambda k: (convolved(x, k) ** 2).sum())(NINE),),
        (put(IMAGES, None, "x"),),
        (4 * np.outer(SHIFTED, SHIFTED)[:, :, None, None],),
    ),
    "the slope of a sum": (
        lambda x: (jax.grad(lambda k: convolved(x, k).sum())(NINE),),
        (put(IMAGES, None, "x"),),
        (2 * np.outer([7, 8, 7], [7, 8, 7])[:, :, None, None],),
    ),
    "the slope of a pool": (
        lambda a: (jax.grad(lambda a: (best(a) ** 2).sum())(a),),
        (put(LINE[::-1], "x"),),
        (2 * np.array([8, 7, 6, 5, 4, 3, 2, 0], np.float32),),
    ),
    "a kernel in parts": (
        lambda a, k: (jnp.convolve(a, k[::-1], "valid"),),
        (put(LINE, "y"), put(KERNEL, "y")),
        (np.convolve(LINE, KERNEL[::-1], "valid"),),
    ),
    "a clamped start": (
        lambda a, i: (lax.with_sharding_constraint(lax.dynamic_slice(a, (i,), (4,)), a.sharding),),
        (put(LINE, "x"), np.int32(6)),
        (LINE[4:],),
    ),
}
"""Functions, their arguments, and what NumPy makes of these."""


def jitted(name: str) -> tuple[Any, tuple[Any, ...], tuple[Array, ...]]:
    function, arguments, wanted = DOUBTFUL[name]
    if name == "a clamped start":  # the sharding is that of the array, which a tracer does not say
        rows = jax.sharding.NamedSharding(MESH, P("x"))
        return jax.jit(lambda a, i: (lax.dynamic_slice(a, (i,), (4,)),), out_shardings=(rows,)), arguments, wanted
    return jax.jit(function), arguments, wanted


@pytest.mark.parametrize("name", DOUBTFUL)
def test_what_is_left_to_xla_is_doubted(name: str) -> None:
    function, arguments, wanted = jitted(name)
    traced = sw.from_jax(function, *arguments)
    with pytest.warns(RuntimeWarning, match="SW0735"):
        traced.propagate().to_sdy()
    text = traced.propagate().partition().to_stablehlo()
    module = traced.propagate().module
    returned = entry_function(module).get_return_op()
    mesh = next(iter(meshes(module).values()))
    assert returned is not None
    layouts = [Layout.from_spec(spec, mesh) for value in returned.operands if (spec := layout_of(value)) is not None]
    found = run_with_jax(text, [np.asarray(argument) for argument in arguments], layouts)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", DOUBTFUL)
def test_ours_are_right(name: str) -> None:
    function, arguments, wanted = jitted(name)
    for one, other in zip(sw.jax.jit(function)(*arguments), wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", DOUBTFUL)
@pytest.mark.xfail(reason="XLA's own partitioner computes it wrongly with JAX 0.10.2", strict=False)
def test_theirs(name: str) -> None:
    function, arguments, wanted = jitted(name)
    for one, other in zip(function(*arguments), wanted, strict=True):
        np.testing.assert_array_equal(one, other)


SURE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "one padding": (lambda a: (jnp.cumsum(a), shifted(a, 0)), (put(LINE, "x"),)),
    "whole": (lambda a: (jnp.cumsum(a), jnp.cumprod(a)), (put(LINE),)),
    "windows elsewhere": (lambda x: (jnp.cumsum(x, 2), jnp.cumprod(x, 2)), (put(IMAGES, None, "x"),)),
    "windows apart": (
        lambda a: jax.grad(lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (2,), (2,), "VALID").sum())(a),
        (put(LINE, "y"),),
    ),
    "a whole kernel": (lambda x: convolved(x, NINE), (put(IMAGES, None, "x"),)),
    "a whole slice": (lambda a, i: lax.dynamic_slice(a, (i, 0), (8, 1)), (put(LINE[:, None], "x"), np.int32(0))),
}


@pytest.mark.parametrize("name", SURE)
def test_what_is_computed_rightly_is_not_doubted(name: str) -> None:
    function, arguments = SURE[name]
    assert doubts(sw.from_jax(jax.jit(function), *arguments).propagate().module) == []
