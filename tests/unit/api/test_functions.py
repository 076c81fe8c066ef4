"""Every array function against NumPy: on one device, and split over both axes of a 2x2 mesh."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import shardwright as sw

from .cases import CASES, Case

MESH = sw.Mesh(x=2, y=2)


def spread(array: np.ndarray[Any, Any]) -> sw.DTensor:
    """The array split over x and y, in the first two dims that divide."""
    axes = ["x", "y"]
    entries = [axes.pop(0) if axes and size % 2 == 0 and size else None for size in array.shape]
    return sw.relayout(array, sw.Layout(entries, MESH))


def check(result: Any, expected: Any) -> None:
    """Same shape, close values, and the type that float32 arguments lead to."""
    expected = np.asarray(expected)
    assert result.shape == expected.shape
    np.testing.assert_allclose(np.asarray(result), expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_on_one_device(case: Case) -> None:
    with np.errstate(all="ignore"):
        expected = case.expected(*case.arguments)
    result = sw.function(case.function)(*case.arguments)
    assert isinstance(result, np.ndarray)
    check(result, expected)


@pytest.mark.every(2)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_on_a_mesh(case: Case) -> None:
    with np.errstate(all="ignore"):
        expected = case.expected(*case.arguments)
    result = sw.function(case.function)(*map(spread, case.arguments))
    assert isinstance(result, sw.DTensor)
    check(result, expected)


@pytest.mark.every(2)
@pytest.mark.parametrize("case", [case for case in CASES if case.name in dir(sw)], ids=lambda case: case.name)
def test_predicted_bytes_are_sent(case: Case) -> None:
    arguments = list(map(spread, case.arguments))
    partitioned = sw.function(case.function).trace(*arguments).partition()
    compiled = partitioned.compile()
    compiled(*arguments)
    assert compiled.ledger.sent_bytes == partitioned.predicted_bytes


def test_types_of_results() -> None:
    half, single, whole = (np.ones((2, 2), name) for name in ("float16", "float32", "int32"))
    assert sw.add(half, single).dtype == sw.float32
    assert sw.add(half, 2.5).dtype == sw.float16
    assert sw.add(whole, True * 1).dtype == sw.int32
    assert sw.less(whole, 3).dtype == sw.bool
    assert sw.mean(half).dtype == sw.float16
    assert sw.sum(np.ones(3, "int8")).dtype == sw.int32
    assert sw.argmax(single).dtype == sw.int32
    assert sw.add(np.ones(2, "int8"), np.ones(2, "uint8")).dtype == sw.int16
    assert sw.multiply(np.ones(2, "complex64"), half).dtype == sw.complex64


def test_bfloat16_sums_are_not_rounded_on_the_way() -> None:
    ones = np.ones(1000, sw.bfloat16)
    assert float(sw.sum(ones)) == 1000.0


def test_creation() -> None:
    layout = sw.Layout(["x"], MESH)
    assert np.array_equal(sw.arange(8, layout=layout).numpy(), np.arange(8))
    assert np.array_equal(sw.arange(1.0, 2.0, 0.25), np.arange(1.0, 2.0, 0.25))
    assert np.array_equal(sw.arange(5, 0, -2), np.arange(5, 0, -2))
    assert np.allclose(sw.linspace(0, 1, 5), np.linspace(0, 1, 5))
    assert np.allclose(sw.linspace(0, 1, 4, endpoint=False), np.linspace(0, 1, 4, endpoint=False))
    assert np.array_equal(sw.eye(3, 4, k=1), np.eye(3, 4, k=1))
    assert np.array_equal(sw.full((2, 2), 3, dtype=sw.float64), np.full((2, 2), 3.0))
    assert np.array_equal(sw.asarray([[1, 2], [3, 4]]), [[1, 2], [3, 4]])
    assert sw.zeros((4, 4), layout=layout).layout == layout.for_rank(2)
    assert sw.empty(3).shape == (3,)


def test_like_keeps_type_and_layout() -> None:
    x = spread(np.ones((4, 6), "float16"))
    for made, value in ((sw.zeros_like(x), 0), (sw.ones_like(x), 1), (sw.full_like(x, math.pi), math.pi)):
        assert (made.dtype, made.layout) == (x.dtype, x.layout)
        assert np.allclose(made, np.full((4, 6), value, "float16"))
    assert sw.zeros_like(x, dtype=sw.int32).dtype == sw.int32


def test_broadcast_arrays() -> None:
    left, right = sw.broadcast_arrays(np.ones((4, 1)), np.arange(3.0))
    assert left.shape == right.shape == (4, 3)


def test_every_public_name_is_there_and_listed() -> None:
    assert len(set(sw.__all__)) == len(sw.__all__)
    assert [name for name in sw.__all__ if not hasattr(sw, name)] == []


def test_namespace_of_a_tensor_is_the_package() -> None:
    assert spread(np.ones((2, 2))).__array_namespace__() is sw


HALVES = sw.Layout(["x"], sw.Mesh(x=2))


def test_python_numbers_meet_arrays_of_doubles_unrounded() -> None:
    row = np.array([0.1, 0.3])
    x = sw.relayout(row, HALVES)
    assert int(sw.searchsorted(x, 0.1)) == 0
    np.testing.assert_array_equal(np.asarray(sw.isin(x, 0.1)), [True, False])
    np.testing.assert_array_equal(np.asarray(sw.einsum("i,->i", x, 0.1)), row * 0.1)
    np.testing.assert_array_equal(np.asarray(sw.tensordot(x, 0.1, axes=0)), row * 0.1)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_are_divided_and_rounded_down_as_numpy_does(dtype: str) -> None:
    random = np.random.default_rng(0)
    wholes, steps = random.integers(-20, 20, 500), random.integers(1, 20, 500)
    left = np.concatenate([random.standard_normal(500), wholes, wholes / 10, [0.0, -0.0, 0.0, np.nan]])
    right = np.concatenate([random.standard_normal(500), np.full(500, 0.1), steps / -10, [3, 3, -2, 1]])
    left, right = left.astype(dtype), right.astype(dtype)
    found = np.asarray(sw.floor_divide(sw.relayout(left, HALVES), right))
    expected = np.floor_divide(left, right)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found)[:-1], np.signbit(expected)[:-1])
    # By zero, and of infinity, the standard wants infinities, where NumPy has NaNs for some.
    left, right = np.array([1.0, -1.0, np.inf, 0.0, -1.0, 0.0]), np.array([0.0, 0.0, 2.0, 0.0, np.inf, -np.inf])
    edges = sw.floor_divide(sw.relayout(left, HALVES), right)
    np.testing.assert_array_equal(np.asarray(edges), [np.inf, -np.inf, np.inf, np.nan, 0, 0])
