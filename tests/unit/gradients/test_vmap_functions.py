"""`vmap` of array functions of every kind on sharded rows: what they give row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw

RANDOM = np.random.default_rng(5)
ROWS = 4
MESH = sw.Mesh(x=2, y=2)
A = RANDOM.standard_normal((ROWS, 4, 4))
S = A @ A.swapaxes(1, 2) + 4 * np.eye(4)
B = RANDOM.standard_normal((ROWS, 4, 2))
V, PLACES = A[:, 0], RANDOM.integers(0, 4, (ROWS, 4))
SEEDS = np.arange(2 * ROWS).reshape(ROWS, 2)
IMAGES = RANDOM.standard_normal((ROWS, 2, 6, 6, 3))
KERNELS = RANDOM.standard_normal((ROWS, 3, 3, 1, 6))
BOTH, FIRST, SECOND = (0, 0), (0, None), (None, 0)


def convolved(x: Any, kernel: Any) -> Any:
    """A convolution in groups, and the gradients of what is pooled of it."""

    def loss(x: Any, kernel: Any) -> Any:
        return sw.sum(sw.nn.max_pool2d(sw.nn.conv2d(x, kernel, groups=3), 2) ** 2)

    return sw.nn.conv2d(x, kernel, groups=3), sw.grad(loss, (0, 1))(x, kernel)


CASES: list[tuple[str, Callable[..., Any], tuple[Any, ...], Any]] = [
    ("eigh", lambda x: tuple(sw.linalg.eigh(x)), (S,), 0),
    ("svd", lambda x: tuple(sw.linalg.svd(x)), (A,), 0),
    ("qr", lambda x: tuple(sw.linalg.qr(x)), (A,), 0),
    ("det", sw.linalg.det, (A,), 0),
    ("cholesky", sw.linalg.cholesky, (S,), 0),
    ("solve", sw.linalg.solve, (S, B), BOTH),
    ("solve with one matrix", sw.linalg.solve, (S[0], B), SECOND),
    ("solve for one side", sw.linalg.solve, (S, B[0]), FIRST),
    ("fftn", lambda x: sw.fft.fftn(x), (A,), 0),
    ("irfft", lambda x: sw.fft.irfft(x), (A + 0j,), 0),
    ("running sums", lambda x: (sw.cumulative_sum(x, axis=0), sw.cumulative_prod(x, axis=1)), (A,), 0),
    ("ordering", lambda x: (sw.argmax(x, axis=0), sw.top_k(x, 2)[1], sw.argsort(x, axis=0)), (A,), 0),
    ("searching", lambda x, y: (sw.searchsorted(sw.sort(x), y), sw.isin(x, y)), (V, A[:, 1]), BOTH),
    ("moving", lambda x: (sw.roll(x, 1, axis=0), sw.tril(x), sw.repeat(x, 2, axis=0), sw.pad(x, 1)), (A,), 0),
    ("einsum", lambda x, y: sw.einsum("ij,jk->ki", x, y), (A, B), BOTH),
    ("einsum with one side", lambda x, y: sw.einsum("ij,jk->ki", x, y), (A[0], B), SECOND),
    ("diagonal", lambda x: sw.einsum("ii->i", x), (A,), 0),
    ("segments", lambda x, places: sw.segment_sum(x, places, 4), (V, PLACES), BOTH),
    ("segments of one vector", lambda x, places: sw.segment_max(x, places, 4), (V[0], PLACES), SECOND),
    ("one hot", lambda places: sw.one_hot(places, 4), (PLACES,), 0),
    ("rows of one table", lambda table, places: sw.gather(table, places), (A[0], PLACES), SECOND),
    ("the same rows of all tables", lambda table, places: sw.gather(table, places), (A, PLACES[0]), FIRST),
    ("updates of one table", lambda table, rows: sw.scatter_add(table, PLACES[0], rows), (A[0], A), SECOND),
    ("normal", lambda seed: sw.random.stateless_random_normal((3,), seed=seed), (SEEDS,), 0),
    ("shuffle", lambda seed: sw.random.stateless_shuffle(sw.arange(6), seed=seed), (SEEDS,), 0),
    ("dropout", lambda x, seed: sw.nn.dropout(x, 0.5, seed=seed), (A, SEEDS), BOTH),
    ("norms", lambda x: (sw.nn.layer_norm(x), sw.nn.group_norm(x, 3)), (IMAGES,), 0),
    ("resize", lambda x: sw.nn.resize(x, (2, 4, 4, 3)), (IMAGES,), 0),
    ("convolutions", convolved, (IMAGES, KERNELS), BOTH),
    ("convolutions with one kernel", convolved, (IMAGES, KERNELS[0]), FIRST),
    ("convolutions of one image", convolved, (IMAGES[0], KERNELS), SECOND),
    ("the gradient of a sort", sw.grad(lambda x: sw.sum(sw.sort(x) ** 3 * sw.arange(4.0, dtype="float64"))), (V,), 0),
]


def flat(made: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays in nested tuples."""
    return [leaf for part in made for leaf in flat(part)] if isinstance(made, list | tuple) else [np.asarray(made)]


@pytest.mark.every(2)
@pytest.mark.parametrize(("name", "function", "arrays", "axes"), CASES, ids=[name for name, *_ in CASES])
def test_functions_of_sharded_rows(name: str, function: Any, arrays: tuple[Any, ...], axes: Any) -> None:
    mapped = axes if isinstance(axes, tuple) else (axes,)
    pairs = list(zip(arrays, mapped, strict=True))
    traced = sw.function(function)
    rows = [flat(traced(*[x if axis is None else x[place] for x, axis in pairs])) for place in range(ROWS)]
    split = [x if axis is None else sw.relayout(x, sw.Layout([("x", "y")], MESH)) for x, axis in pairs]
    found = flat(sw.vmap(function, axes)(*split))
    for one, *others in zip(found, *rows, strict=True):
        np.testing.assert_allclose(one, np.stack(others), rtol=1e-7, atol=1e-9)


@pytest.mark.slow
def test_draws_that_end_at_different_times() -> None:
    test_functions_of_sharded_rows(
        "poisson", lambda seed: sw.random.stateless_random_poisson((3,), seed=seed, lam=2.0), (SEEDS,), 0
    )


@pytest.mark.parametrize("lay", [sw.constraint, sw.relayout])
@pytest.mark.parametrize("wrap", [lambda f: f, sw.checkpoint, sw.function])
def test_rows_of_rows_lay_out_what_the_inner_rows_share(lay: Any, wrap: Any) -> None:
    laid = wrap(lambda row: lay(row, sw.Layout(["y"], MESH)))
    pairs = sw.vmap(lambda a: sw.vmap(lambda b: b * laid(a))(A[1]))
    for given in (A[0], sw.relayout(A[0], sw.Layout(["x"], MESH))):
        np.testing.assert_allclose(pairs(given), A[0][:, None] * A[1][None])


def test_truth_values_that_all_rows_share() -> None:
    flags, rows = sw.vmap(lambda row: (True, row))(sw.relayout(V, sw.Layout(["x"], MESH)))
    assert np.asarray(flags).tolist() == [True] * ROWS
    assert np.array_equal(rows, V)
    assert bool(sw.vmap(lambda row: (True, row), out_axes=(None, 0))(V)[0])
