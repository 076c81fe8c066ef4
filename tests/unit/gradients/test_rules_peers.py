"""Gradients of array functions and of `nn` against JAX's, in float64, on one device and on a mesh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.benchmarks import xla

pytestmark = pytest.mark.peers
jax = pytest.importorskip("jax")
xla.prepare()
jnp, lax = jax.numpy, jax.lax

MESH = sw.Mesh(x=4, y=2)
_random = np.random.default_rng(3)
PLACES = np.array([3, 0, 7, 3])
ZEROS = np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, -1.0, 2.0]] * 4)
TIES = np.array([[1.0, 1.0, 2.0, 2.0, 0.0, 0.0, 0.0, -0.0]] * 4)


def floats(*shape: int) -> np.ndarray[Any, Any]:
    """Numbers around zero."""
    return _random.standard_normal(shape)


def positive(*shape: int) -> np.ndarray[Any, Any]:
    """Symmetric positive definite matrices."""
    roots = floats(*shape)
    return roots @ np.swapaxes(roots, -1, -2) + 2 * np.eye(shape[-1])


W, IMAGE = floats(3, 3, 4, 6), floats(4, 8, 8, 4)


def _conv(x: Any, w: Any, **options: Any) -> Any:
    return lax.conv_general_dilated(x, w, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)


def _attention(q: Any, k: Any) -> Any:
    """Causal attention whose softmax is in float64, as JAX's own is not."""
    scores = jnp.einsum("bthd,bshd->bhts", q, jnp.repeat(k, 2, 2)) / np.sqrt(q.shape[-1])
    weights = jax.nn.softmax(jnp.where(np.tril(np.ones((8, 8), bool)), scores, -jnp.inf))
    return jnp.einsum("bhts,bshd->bthd", weights, jnp.repeat(k, 2, 2))


def _pool(x: Any, start: float, operation: Any) -> Any:
    return lax.reduce_window(x, start, operation, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


def cholesky(a: Any) -> Any:
    """The factor of symmetric matrices, of which both triangles count, as in JAX."""
    from shardwright.compiler.tracing import emit
    from shardwright.dialects import stablehlo

    whole = (a + sw.matrix_transpose(a)) / 2
    return emit.trace_now().emit(stablehlo.CholeskyOp(whole.value, lower=True))


CASES: list[tuple[str, Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = [
    ("sort", lambda x: sw.sort(x, axis=0), lambda x: jnp.sort(x, axis=0), (floats(8, 4),)),
    ("top_k", lambda x: sw.top_k(x, 3)[0], lambda x: lax.top_k(x, 3)[0], (floats(8, 8),)),
    ("cumsum", lambda x: sw.cumsum(x, 1), lambda x: jnp.cumsum(x, 1), (floats(8, 4),)),
    ("cumprod", lambda x: sw.cumprod(x, 1), lambda x: jnp.cumprod(x, 1), (floats(8, 4),)),
    ("cumprod zeros", lambda x: sw.cumprod(x, 1), lambda x: jnp.cumprod(x, 1), (ZEROS,)),
    ("prod zeros", lambda x: sw.prod(x, axis=1), lambda x: jnp.prod(x, 1), (ZEROS,)),
    ("max ties", lambda x: sw.max(x, axis=1), lambda x: jnp.max(x, 1), (TIES,)),
    ("take", lambda x: sw.take(x, PLACES, axis=0), lambda x: jnp.take(x, PLACES, 0), (floats(8, 4),)),
    ("index", lambda x: x[:, PLACES], lambda x: x[:, PLACES], (floats(4, 8),)),
    (
        "along",
        lambda x: sw.take_along_axis(x, PLACES[None], axis=1),
        lambda x: jnp.take_along_axis(x, PLACES[None], 1),
        (floats(4, 8),),
    ),
    (
        "scatter_add",
        lambda x, u: sw.scatter_add(x, PLACES, u),
        lambda x, u: x.at[PLACES].add(u),
        (floats(8, 4), floats(4, 4)),
    ),
    (
        "scatter_max",
        lambda x, u: sw.scatter_max(x, PLACES, u),
        lambda x, u: x.at[PLACES].max(u),
        (floats(8, 4), floats(4, 4)),
    ),
    (
        "scatter_update",
        lambda x, u: sw.scatter_update(x, PLACES[:3], u),
        lambda x, u: x.at[PLACES[:3]].set(u),
        (floats(8, 4), floats(3, 4)),
    ),
    (
        "segment_sum",
        lambda x: sw.segment_sum(x, PLACES, 8),
        lambda x: jax.ops.segment_sum(x, PLACES, 8),
        (floats(4, 4),),
    ),
    ("hypot", sw.hypot, jnp.hypot, (floats(8), floats(8))),
    ("trace", lambda x: sw.einsum("bii->b", x), lambda x: jnp.einsum("bii->b", x), (floats(4, 4, 4),)),
    (
        "conv2d",
        lambda x, w: sw.nn.conv2d(x, w, 2),
        lambda x, w: _conv(x, w, window_strides=(2, 2), padding="SAME"),
        (IMAGE, W),
    ),
    (
        "conv2d dilated",
        lambda x, w: sw.nn.conv2d(x, w, padding=[(2, 0), (1, 3)], dilations=(1, 2)),
        lambda x, w: _conv(x, w, window_strides=(1, 1), padding=[(2, 0), (1, 3)], rhs_dilation=(1, 2)),
        (IMAGE, W),
    ),
    (
        "conv2d groups",
        lambda x, w: sw.nn.conv2d(x, w, groups=2),
        lambda x, w: _conv(x, w, window_strides=(1, 1), padding="SAME", feature_group_count=2),
        (IMAGE, floats(3, 3, 2, 6)),
    ),
    (
        "conv2d_transpose",
        lambda x, w: sw.nn.conv2d_transpose(x, w, strides=2),
        lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", transpose_kernel=True),
        (IMAGE, floats(3, 3, 5, 4)),
    ),
    ("max_pool", lambda x: sw.nn.max_pool2d(x, 3, 2, "SAME"), lambda x: _pool(x, -jnp.inf, lax.max), (IMAGE,)),
    ("avg_pool", lambda x: sw.nn.avg_pool2d(x, 2), lambda x: x.reshape(4, 4, 2, 4, 2, 4).mean((2, 4)), (IMAGE,)),
    *[
        (
            f"resize {method}",
            lambda x, method=method: sw.nn.resize(x, (4, 12, 5, 4), method),
            lambda x, method=method: jax.image.resize(x, (4, 12, 5, 4), method),
            (IMAGE,),
        )
        for method in ("nearest", "linear", "cubic", "lanczos3", "lanczos5")
    ],
    (
        "attention",
        lambda q, k: sw.nn.scaled_dot_product_attention(q, k, k, causal=True),
        _attention,
        (floats(4, 8, 4, 8), floats(4, 8, 2, 8)),
    ),
    ("logsumexp", lambda x: sw.nn.logsumexp(x, axis=1), lambda x: jax.nn.logsumexp(x, 1), (TIES,)),
    ("relu zeros", sw.nn.relu, jax.nn.relu, (ZEROS,)),
    ("relu6", sw.nn.relu6, jax.nn.relu6, (ZEROS * 3,)),
    ("elu", sw.nn.elu, jax.nn.elu, (floats(8),)),
    ("selu", sw.nn.selu, jax.nn.selu, (floats(8),)),
    ("mish", sw.nn.mish, jax.nn.mish, (floats(8),)),
    ("softplus", sw.nn.softplus, jax.nn.softplus, (floats(8) * 50,)),
    ("hard_silu", sw.nn.hard_silu, jax.nn.hard_silu, (floats(8) * 3,)),
    ("cholesky", cholesky, lambda a: jnp.linalg.cholesky(a), (positive(4, 3, 3),)),
]


def place(array: np.ndarray[Any, Any]) -> sw.DTensor:
    """The array split over x along its first dim that divides."""
    entries: list[Any] = [None] * array.ndim
    dim = next((dim for dim, size in enumerate(array.shape) if size % 4 == 0), None)
    if dim is not None:
        entries[dim] = "x"
    return sw.relayout(array, sw.Layout(entries, MESH))


@pytest.mark.parametrize(("name", "ours", "theirs", "arguments"), CASES, ids=[name for name, *_ in CASES])
def test_gradients_are_those_of_jax(name: str, ours: Any, theirs: Any, arguments: tuple[Any, ...]) -> None:
    places = tuple(range(len(arguments)))
    with jax.enable_x64(True):
        value, back = jax.vjp(theirs, *arguments)
        weights = np.cos(np.arange(value.size)).reshape(value.shape)
        expected = back(jnp.asarray(weights))
    gradient = sw.function(sw.grad(lambda *xs: sw.sum(ours(*xs) * weights), argnums=places))
    for values in (arguments, tuple(map(place, arguments))):
        for found, wanted in zip(gradient(*values), expected, strict=True):
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-9, atol=1e-9)
