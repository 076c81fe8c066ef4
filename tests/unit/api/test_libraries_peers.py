"""Tensors in the hands of libraries that know NumPy, JAX, or the array API standard: einops and optax."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shardwright as sw

from .cases import floats
from .placing import place

pytestmark = pytest.mark.peers

X = floats(8, 4, 2)


def test_einops_by_its_module_for_the_standard() -> None:
    einops: Any = pytest.importorskip("einops")
    standard: Any = pytest.importorskip("einops.array_api")
    for name, pattern, more in (
        ("rearrange", "a b c -> c (a b)", {}),
        ("rearrange", "(a d) b c -> d (c a) b", {"d": 2}),
        ("reduce", "a b c -> b a", {"reduction": "mean"}),
        ("repeat", "a b c -> a (b n) c", {"n": 3}),
    ):
        expected = getattr(einops, name)(X, pattern, **more)
        function = getattr(standard, name)
        traced = sw.function(lambda x, f=function, p=pattern, m=more: f(x, p, **m))
        for found in (function(place(X, "both"), pattern, **more), traced(place(X, "both"))):
            assert isinstance(found, sw.DTensor)
            np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)
    assert isinstance(einops.rearrange(sw.asarray(X), "a b c -> c (a b)"), sw.Tensor)


def test_optax_takes_tensors_and_refuses_distributed_ones() -> None:
    optax: Any = pytest.importorskip("optax")
    optimizer = optax.adam(0.1)
    weights = {"w": sw.asarray(X)}
    updates, _ = optimizer.update({"w": sw.ones(X.shape)}, optimizer.init(weights), weights)
    np.testing.assert_allclose(np.asarray(optax.apply_updates(weights, updates)["w"]), X - 0.1, atol=1e-5)
    distributed = {"w": place(X, "both")}
    with pytest.raises((TypeError, ValueError), match=r"DTensor|jax_array"):
        optimizer.update(distributed, optimizer.init(distributed), distributed)


def test_jax_gathers_no_distributed_tensor() -> None:
    """`apply_updates` makes a JAX array of each sum; sums themselves stay distributed."""
    jax: Any = pytest.importorskip("jax")
    optax: Any = pytest.importorskip("optax")
    weights = {"w": place(X, "both")}
    jitted = sw.jax.jit(lambda tree: tree["w"] * 2)
    for taken in (
        lambda: optax.apply_updates(weights, weights),
        lambda: jax.numpy.asarray(weights["w"]),
        lambda: jitted(weights),
        lambda: jitted.lower(weights),
    ):
        with pytest.raises(TypeError) as caught:
            taken()
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.code == "SW0579"
        described = weights["w"].layout.describe(X.shape, "f32")
        assert diagnostic.message == f"JAX would gather a distributed tensor: {described}"
        assert diagnostic.help == (
            "compute with operators and shardwright's functions, as jax.tree.map(lambda p, u: p + u, params, updates) "
            "does, or gather it yourself: numpy.asarray(x)"
        )
    with pytest.raises(TypeError, match="SW0579"):
        jax.numpy.asarray(sw.Variable(weights["w"]))
    np.testing.assert_array_equal(jax.numpy.asarray(sw.Variable(X)) + 1, X + 1)
    ones = jax.numpy.ones(X.shape, X.dtype)
    for found in (ones + weights["w"], weights["w"] + ones, jax.tree.map(lambda p: p + ones, weights)["w"]):
        assert isinstance(found, sw.DTensor)
        np.testing.assert_array_equal(np.asarray(found), X + 1)


def test_arrays_that_jax_traces_are_refused_by_name() -> None:
    jax: Any = pytest.importorskip("jax")
    x, tensor = jax.numpy.ones(X.shape, X.dtype), place(X, "both")
    layout, program = tensor.layout, sw.function(lambda x: x * 2)
    compiled = program.trace(sw.TensorSpec(X.shape, X.dtype)).compile()
    taking: dict[str, Any] = {
        "argument x": lambda x: program(x),
        "argument x2": lambda x: tensor + x,
        "relayout": lambda x: sw.relayout(x, layout),
        "multiply": lambda x: sw.function(lambda y: y * x)(tensor),
        "Variable": lambda x: sw.Variable(x),
    }
    for what, take in [*taking.items(), ("argument x", lambda x: compiled(x))]:
        with pytest.raises(TypeError, match="SW0507") as caught:
            jax.jit(take)(x)
        assert f"{what} takes no arrays that JAX traces: they have no elements yet" in str(caught.value)
        assert "compute with jax.numpy inside of jax.jit; shardwright.jax.jit partitions such a" in str(caught.value)


def test_keys_of_jax_are_refused_by_name() -> None:
    """NumPy has no type for them; their numbers are arrays."""
    jax: Any = pytest.importorskip("jax")
    key, ones = jax.random.key(0), np.ones(4, np.float32)
    normal = sw.from_jax(jax.jit(lambda key, x: jax.random.normal(key, x.shape) * x), key, ones).compile()
    np.testing.assert_allclose(normal(jax.random.key_data(key), ones), jax.random.normal(key, (4,)), rtol=1e-6)
    taking: dict[str, Any] = {
        "argument key": lambda: normal(key, ones),
        "argument x": lambda: sw.function(lambda x: x)(key),
        "relayout": lambda: sw.relayout(key, sw.Layout([], sw.Mesh(x=2))),
        "stateless_random_normal": lambda: sw.random.stateless_random_normal((2,), seed=key),
    }
    for what, take in taking.items():
        with pytest.raises(TypeError, match="SW0507") as caught:
            take()
        assert f"{what} takes arrays of numbers, not keys of JAX" in str(caught.value)
        assert "give its numbers: jax.random.key_data(key)" in str(caught.value)
