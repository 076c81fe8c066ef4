"""`shardwright.nn.resize`: closed forms in NumPy, on one device and in several layouts; what it sends; its slopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import shardwright as sw

from .cases import Case, floats, integers
from .placing import EVERYWHERE, MESH, check, check_everywhere, place

resize = sw.nn.resize
X, IMAGES = floats(8, 16), floats(4, 8, 8, 3)


def _linear(d: float) -> float:
    return max(1 - d, 0)


def _cubic(d: float) -> float:
    """Keys 1981, equation 15."""
    if d < 1:
        return 3 / 2 * d**3 - 5 / 2 * d**2 + 1
    return -1 / 2 * d**3 + 5 / 2 * d**2 - 4 * d + 2 if d < 2 else 0


def _lanczos(reach: int) -> Callable[[float], float]:
    return lambda d: float(np.sinc(d) * np.sinc(d / reach)) if d < reach else 0


KERNELS = {"linear": _linear, "cubic": _cubic, "lanczos3": _lanczos(3), "lanczos5": _lanczos(5)}


def _along(x: Any, dim: int, count: int, method: str, antialias: bool = True) -> Any:
    """One new element after the other: where its middle lies in the old grid, and what each old one counts for it."""
    size, rows = x.shape[dim], np.moveaxis(x.astype("float64"), dim, 0)
    if method == "nearest":
        return np.moveaxis(np.stack([rows[int((at + 0.5) * size / count)] for at in range(count)]), 0, dim)
    wider = max(1.0, size / count) if antialias else 1.0
    made = []
    for at in range(count):
        middle = (at + 0.5) * size / count - 0.5
        counts = [KERNELS[method](abs(middle - old) / wider) for old in range(size)]
        made.append(sum(count * row for count, row in zip(counts, rows, strict=True)) / sum(counts))
    return np.moveaxis(np.stack(made), 0, dim)


METHODS = ("nearest", *KERNELS)
SIZES = (1, 3, 4, 8, 24, 32)

CASES = [
    *[
        Case(
            f"{method} {count}",
            lambda x, count=count, method=method: resize(x, (count, 16), method),
            lambda x, count=count, method=method: _along(x, 0, count, method),
            (X,),
        )
        for method in METHODS
        for count in SIZES
    ],
    *[
        Case(
            f"{method} of two dims",
            lambda x, method=method: resize(x, (4, 4, 12, 3), method, antialias=False),
            lambda x, method=method: _along(_along(x, 1, 4, method, False), 2, 12, method, False),
            (IMAGES,),
        )
        for method in METHODS
    ],
    Case("of numbers", lambda x: resize(x, (), "cubic"), lambda x: x, (np.array(3.0, "float32"),)),
    Case("nothing to do", lambda x: resize(x, (8, 16), "linear"), lambda x: x, (X,)),
]


@pytest.mark.every(3)
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@EVERYWHERE
def test_as_defined(case: Case, styles: Sequence[str]) -> None:
    check_everywhere(case.function, case.expected(*case.arguments), case.arguments, styles)


def test_twice_as_many_lie_between() -> None:
    x = np.array([1, 2, 8], "float32")
    places = (np.arange(6) + 0.5) / 2 - 0.5
    check(resize(x, (6,)), np.interp(places, np.arange(3), x).astype("float32"))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [3, 5, 13])
def test_what_is_equal_everywhere_stays(method: str, count: int) -> None:
    check(resize(np.full((7, 2), 3, "float32"), (count, 2), method), np.full((count, 2), 3, "float32"), 1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_types_stay(dtype: str) -> None:
    x = np.arange(8).astype(getattr(sw, dtype))
    assert np.asarray(resize(x, (16,))).dtype == x.dtype
    np.testing.assert_allclose(np.asarray(resize(x, (4,), antialias=False), "float64"), [0.5, 2.5, 4.5, 6.5])


def test_whole_numbers_have_nearest_ones() -> None:
    x = integers(8, 16)
    found = sw.function(lambda x: resize(x, (16, 32), "nearest"))(place(x, "both"))
    assert np.array_equal(np.asarray(found), x.repeat(2, 0).repeat(2, 1))
    assert np.asarray(found).dtype == x.dtype


def test_dims_that_stay_send_nothing() -> None:
    images = sw.relayout(IMAGES, sw.Layout(["x", "y"], MESH))
    partitioned = sw.function(lambda x: resize(x, (4, 8, 24, 3))).trace(images).partition()
    assert partitioned.predicted_bytes == 0


@pytest.mark.parametrize("method", METHODS)
def test_gradients_are_slopes(method: str) -> None:
    """Exact, since resizing is linear."""
    x, by, weights = (np.random.default_rng(seed).standard_normal((8, 8)) for seed in range(3))

    def weighed(x: Any) -> Any:
        return sw.sum(resize(x, (12, 5), method)[:8, :] * weights[:, :5])

    slope = float(sw.function(weighed)(x + by)) - float(sw.function(weighed)(x))
    for argument in (x, place(x, "first"), place(x, "both")):
        assert np.sum(np.asarray(sw.grad(weighed)(argument)) * by) == pytest.approx(slope, rel=1e-9)


@pytest.mark.parametrize(
    ("code", "error", "call"),
    [
        ("SW0541", ValueError, lambda: resize(X, (8, 16), "bilineal")),
        ("SW0541", ValueError, lambda: resize(X, (8,))),
        ("SW0510", TypeError, lambda: resize(X, 8)),
        ("SW0510", TypeError, lambda: resize(X, (8.5, 16))),
        ("SW0541", ValueError, lambda: resize(X, (0, 16))),
        ("SW0541", ValueError, lambda: resize(X, (-8, 16), "nearest")),
        ("SW0541", ValueError, lambda: resize(X[:0], (8, 16))),
        ("SW0510", TypeError, lambda: resize(X, ((8, 16), (3,)))),
        ("SW0506", TypeError, lambda: resize(integers(8, 16), (16, 16))),
    ],
)
def test_mistakes_are_named(code: str, error: type[Exception], call: Any) -> None:
    with pytest.raises(error, match=code):
        call()
