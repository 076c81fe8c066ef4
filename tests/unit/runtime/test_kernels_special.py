"""Zeta, polygamma, Bessel's I1, steps of floats and high products, by closed forms and recurrences."""

import math

import ml_dtypes
import numpy as np
import pytest

from shardwright.runtime.kernels import special as kernels_special, table as pointwise

pytestmark = pytest.mark.filterwarnings("ignore")  # the engines run kernels with NumPy's warnings off


def zeta(s, q):
    return kernels_special.zeta(np, *np.broadcast_arrays(np.float64(s), np.float64(q)))


def polygamma(n, x):
    return kernels_special.polygamma(np, *np.broadcast_arrays(np.float64(n), np.float64(x)))


def test_zeta_of_even_numbers_and_halves():
    np.testing.assert_allclose(zeta([2, 4, 6], 1), [math.pi**2 / 6, math.pi**4 / 90, math.pi**6 / 945], rtol=1e-14)
    np.testing.assert_allclose(zeta([2, 4], 0.5), [math.pi**2 / 2, math.pi**4 / 6], rtol=1e-14)


@pytest.mark.parametrize("s", [1.25, 2, 3, 17.5, 200])
def test_zeta_loses_its_first_term(s):
    starts = np.array([0.3, 1.0, 2.5, 7.25])
    np.testing.assert_allclose(zeta(s, starts), starts**-s + zeta(s, starts + 1), rtol=1e-13)


def test_zeta_far_out_is_an_integral():
    """The sum from q = 1e8 on is the integral of t ** -s and half of its first term."""
    np.testing.assert_allclose(zeta([2, 3.5], 1e8), [1e-8 + 0.5e-16, 1e-20 / 2.5 + 0.5e-28], rtol=1e-14)
    assert zeta(2, np.inf) == 0


@pytest.mark.parametrize("s", [2, 3])
@pytest.mark.parametrize("start", [-0.5, -2.25, -20.5, -1000.75])
def test_zeta_behind_its_poles(s, start):
    behind = math.fsum((start + step) ** -s for step in range(math.ceil(-start)))
    np.testing.assert_allclose(zeta(s, start), behind + zeta(s, start + math.ceil(-start)), rtol=1e-12, atol=1e-13)


def test_zeta_where_it_is_infinite_or_nothing():
    assert np.isposinf(zeta([1, 2, 4], [3, 0, -5])).all()
    assert np.isnan(zeta([0.5, 3, 2.5, np.nan, 2], [3, -5, -0.5, 1, np.nan])).all()
    np.testing.assert_array_equal(zeta([999, 1001, 1e9, np.inf, np.inf], [1, 1, 1, 1, 2]), [1, 1, 1, 1, 0])


def test_polygamma():
    np.testing.assert_allclose(polygamma(1, [1, 0.5, 2]), [math.pi**2 / 6, math.pi**2 / 2, math.pi**2 / 6 - 1])
    apery = 1.2020569031595942854
    np.testing.assert_allclose(polygamma([2, 2, 3], [1, 0.5, 1]), [-2 * apery, -14 * apery, math.pi**4 / 15])
    np.testing.assert_allclose(polygamma(0, [0.3, 4.5]), kernels_special.digamma(np, np.array([0.3, 4.5])))
    assert np.isnan(polygamma([0.5, -1, 2], [1, 1, -1])).all()


def test_polygamma_is_reflected():
    x = np.array([0.3, 1.3, 5.75])
    np.testing.assert_allclose(polygamma(1, x) + polygamma(1, 1 - x), (math.pi / np.sin(math.pi * x)) ** 2, rtol=1e-11)


@pytest.mark.parametrize("x", [1e-8, 0.3, 5.0, 29.9, 30.1, 250.0])
def test_bessel_is_its_integral(x):
    """The mean of exp(x cos t - x) cos t over a period: the trapezoid rule is exact to the last bits."""
    angles = np.arange(4096) * (2 * math.pi / 4096)
    expected = math.fsum(np.exp(x * (np.cos(angles) - 1)) * np.cos(angles)) / 4096
    found = kernels_special.bessel_i1e(np, np.array([x, -x]))
    np.testing.assert_allclose(found, [expected, -expected], rtol=1e-13, atol=1e-16)


def test_bessel_at_the_ends():
    found = kernels_special.bessel_i1e(np, np.float32([0.0, -0.0, np.inf, -np.inf, np.nan]))
    np.testing.assert_array_equal(found, np.float32([0, 0, 0, 0, np.nan]))
    assert np.signbit(found).tolist()[:4] == [False, True, False, True]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_next_after_is_a_step_of_the_type_itself(dtype):
    one, eps = np.array(1, dtype), float(ml_dtypes.finfo(dtype).eps)
    up, down = (pointwise.evaluate("next_after", [one, np.array(to, dtype)], one.dtype, ()) for to in (2, 0))
    assert (float(up), float(down)) == (1 + eps, 1 - eps / 2)


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "int4", "uint4"])
def test_high_products(name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    limits = ml_dtypes.iinfo(dtype)
    edges = [int(limits.min), int(limits.max), 0, 1, int(limits.max) // 3, -1 if int(limits.min) else 5]
    bits = 4 if name.endswith("int4") else dtype.itemsize * 8
    for a in edges:
        for b in edges:
            found = pointwise.evaluate("mulhi", [np.array(a).astype(dtype), np.array(b).astype(dtype)], dtype, ())
            assert int(found) == a * b >> bits, (a, b)
