"""Convolutions, pools and cumulative ops as JAX exports them, with their gradients, split over devices, against JAX."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from harness import run

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module")
def jax():
    """JAX, with eight devices to name."""
    jax = pytest.importorskip("jax")
    if len(jax.devices()) < 8:
        pytest.skip("JAX was started with fewer than eight devices")
    return jax


def check(jax, function, arguments, specs) -> None:
    """Exports a function with layouts of its arguments, splits it, and compares with JAX on one device."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("x", "y"))
    places = [jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec)) for spec in specs]
    text = jax.jit(function, in_shardings=tuple(places)).lower(*arguments).as_text()
    expected = jax.tree.leaves(jax.jit(function)(*arguments))
    results = run(text, [np.asarray(argument) for argument in arguments]).results
    for found, wanted in zip(results, expected, strict=True):
        wanted = np.asarray(wanted)
        scale = float(np.abs(np.asarray(wanted, np.float64)).max(initial=1.0))
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5 * scale, err_msg=text)


def spec_of(choose: Random, shape: tuple[int, ...]) -> list[str | tuple[str, ...] | None]:
    """An even layout over axes of 2 and 4."""
    spec: list[list[str]] = [[] for _ in shape]
    for axis, size in (("x", 2), ("y", 4)):
        able = [
            dim
            for dim, extent in enumerate(shape)
            if extent % (size * math.prod({"x": 2, "y": 4}[a] for a in spec[dim])) == 0
        ]
        if able and choose.random() < 0.85:
            spec[choose.choice(able)].append(axis)
    return [tuple(axes) if axes else None for axes in spec]


LAYOUTS = [("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW"), ("HWNC", "OHWI", "NHWC")]


@pytest.mark.parametrize("seed", range(24))
def test_convolutions_and_their_gradients(jax, seed: int) -> None:
    choose, random = Random(seed), np.random.default_rng(seed)
    names = choose.choice(LAYOUTS)
    groups = choose.choice([1, 1, 2, 4])
    sizes = {"N": 8, "H": choose.choice([8, 16]), "W": choose.choice([8, 12]), "C": 4}
    kernel = {"H": choose.randint(1, 4), "W": choose.randint(1, 3), "I": 4 // groups, "O": 4 * choose.choice([1, 2])}
    lhs = random.normal(size=[sizes[name] for name in names[0]]).astype(np.float32)
    rhs = random.normal(size=[kernel[name] for name in names[1]]).astype(np.float32)
    padding = choose.choice(["SAME", "VALID", ((1, 1), (0, 2))])
    options = {
        "window_strides": choose.choice([(1, 1), (2, 1), (2, 2)]),
        "padding": padding,
        "lhs_dilation": None if isinstance(padding, str) else choose.choice([None, (2, 1)]),
        "rhs_dilation": choose.choice([None, None, (1, 2)]),
        "dimension_numbers": names,
        "feature_group_count": groups,
    }

    def step(lhs, rhs):
        def loss(lhs, rhs):
            return jax.numpy.sum(jax.lax.conv_general_dilated(lhs, rhs, **options) ** 2)

        return jax.value_and_grad(loss, argnums=(0, 1))(lhs, rhs)

    specs = spec_of(choose, lhs.shape), spec_of(choose, rhs.shape) if choose.random() < 0.3 else ()
    check(jax, step, (lhs, rhs), specs)


@pytest.mark.parametrize("seed", range(16))
def test_pools_and_their_gradients(jax, seed: int) -> None:
    choose, random = Random(seed), np.random.default_rng(seed)
    shape = (4, 16, choose.choice([8, 16]), 4)
    size, stride = (
        (1, choose.randint(1, 3), choose.randint(1, 3), 1),
        (1, choose.randint(1, 2), choose.randint(1, 2), 1),
    )
    padding = choose.choice(["SAME", "VALID", ((0, 0), (1, 1), (0, 1), (0, 0))])
    average = choose.random() < 0.5
    value = random.normal(size=shape).astype(np.float32)

    def step(value):
        def loss(value):
            if average:
                pooled = jax.lax.reduce_window(value, 0.0, jax.lax.add, size, stride, padding)
            else:
                pooled = jax.lax.reduce_window(value, -jax.numpy.inf, jax.lax.max, size, stride, padding)
            return jax.numpy.sum(jax.numpy.where(jax.numpy.isfinite(pooled), pooled, 0.0) ** 2)

        return jax.value_and_grad(loss)(value)

    check(jax, step, (value,), (spec_of(choose, shape),))


@pytest.mark.parametrize("seed", range(12))
def test_cumulative_ops_and_their_gradients(jax, seed: int) -> None:
    choose, random = Random(seed), np.random.default_rng(seed)
    shape, dim, reverse = (16, 8), choose.randint(0, 1), choose.random() < 0.5
    operation = choose.choice(["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"])
    value = random.uniform(0.5, 1.5, size=shape).astype(np.float32)

    def step(value):
        def run_it(value):
            return getattr(jax.lax, operation)(value, dim, reverse)

        return run_it(value), jax.grad(lambda value: jax.numpy.sum(jax.numpy.sin(run_it(value))))(value)

    check(jax, step, (value,), (spec_of(choose, shape),))
