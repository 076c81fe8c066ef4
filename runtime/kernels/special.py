"""Special functions of `chlo` over arrays: rational and polynomial approximations, accurate to a few ulps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from shardwright.runtime.kernels.elementwise import blend_bits

Array = Any

# Rational minimax coefficients for erf and erfc in double precision, highest power first (Cephes' ndtr).
_ERF_NUMERATOR = (9.604973739870516, 90.02601972038427, 2232.005345946843, 7003.325141128051, 55592.30130103949)
_ERF_DENOMINATOR = (1.0, 33.56171416475031, 521.3579497801527, 4594.323829709801, 22629.000061389095, 49267.39426086359)
_ERFC_NEAR_NUMERATOR = (
    2.46196981473530512524e-10,
    5.64189564831068821977e-1,
    7.46321056442269912687e0,
    4.86371970985681366614e1,
    1.96520832956077098242e2,
    5.26445194995477358631e2,
    9.34528527171957607540e2,
    1.02755188689515710272e3,
    5.57535335369399327526e2,
)
_ERFC_NEAR_DENOMINATOR = (
    1.0,
    1.32281951154744992508e1,
    8.67072140885989742329e1,
    3.54937778887819891062e2,
    9.75708501743205489753e2,
    1.82390916687909736289e3,
    2.24633760818710981792e3,
    1.65666309194161350182e3,
    5.57535340817727675546e2,
)
_ERFC_FAR_NUMERATOR = (
    5.64189583547755073984e-1,
    1.27536670759978104416e0,
    5.01905042251180477414e0,
    6.16021097993053585195e0,
    7.40974269950448939160e0,
    2.97886665372100240670e0,
)
_ERFC_FAR_DENOMINATOR = (
    1.0,
    2.26052863220117276590e0,
    9.39603524938001434673e0,
    1.20489539808096656605e1,
    1.70814450747565897222e1,
    9.60896809063285878198e0,
    3.36907645100081516050e0,
)
# In single precision, by weighted least squares (Lawson): erf(x) / x in x * x up to 1 to within 1.3e-9, and
# x * exp(x * x) * erfc(x) in 1 / x from 1 to 10.5 to within 9e-8; highest power first.
_ERF_SINGLE = (
    7.853858672593871e-05,
    -0.0008010192813071899,
    0.005188327593252966,
    -0.026853811886599577,
    0.11283585147449436,
    -0.37612625824130363,
    1.1283791657266944,
)
_ERFC_SINGLE = (
    -0.02263231841925717,
    0.1931044718976048,
    -0.6801351264545523,
    1.3132742534851753,
    -1.499960098271844,
    0.935786863020361,
    -0.10632031835108527,
    -0.26884553422022384,
    -0.0009038364450216912,
    0.5642152582943764,
)
_SHORT = {4: 0xFFFFF000, 8: 0xFFFFFFFFF8000000}
"""For floats of so many bytes the bits that leave half of the digits, so that a square is exact."""
# M. Giles, "Approximating the erfinv function": the two single-precision polynomials, highest power first.
ERF_INV_CENTRAL = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
ERF_INV_TAIL = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)
# Lanczos' series for the gamma function with g = 7.
_LANCZOS_G = 7.0
_LANCZOS_BASE = 0.99999999999980993227684700473478
_LANCZOS = (
    676.520368121885098567009190444019,
    -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,
    -176.61502916214059906584551354,
    12.507343278686904814458936853,
    -0.13857109526572011689554707,
    9.984369578019570859563e-6,
    1.50563273514931155834e-7,
)


_BLOCK = 16384
"""Elements of single precision; what a function makes of so many on its way stays in the L2 cache."""


def _in_blocks(function: Callable[[Any, Array], Array]) -> Callable[[Any, Array], Array]:
    """The function block by block, where NumPy computes it: it goes over its elements some fifty times."""

    @wraps(function)
    def blocked(xp: Any, x: Array) -> Array:
        size = _BLOCK * 4 // max(x.dtype.itemsize, 4)
        if xp is not np or x.size <= size or not x.flags.c_contiguous:
            return function(xp, x)
        out = np.empty_like(x)
        read, written = x.reshape(-1), out.reshape(-1)
        for at in range(0, x.size, size):
            written[at : at + size] = function(np, read[at : at + size])
        return out

    return blocked


def _polynomial(xp: Any, x: Array, coefficients: Sequence[float]) -> Array:
    result = xp.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result *= x
        result += x.dtype.type(coefficient)
    return result


def _chosen(xp: Any, predicate: Array, on_true: Array, on_false: Array) -> Array:
    """`where`, by bits: NumPy's own branches at each element."""
    out = xp.empty_like(on_true)
    blend_bits(xp, xp.negative(predicate.astype(f"i{out.dtype.itemsize}")), on_true, on_false, out)
    return out


def _ratio(xp: Any, x: Array, numerator: Sequence[float], denominator: Sequence[float]) -> Array:
    return _polynomial(xp, x, numerator) / _polynomial(xp, x, denominator)


@_in_blocks
def erf(xp: Any, x: Array) -> Array:
    """
    The error function; in single precision, of narrow floats as well, to within three ulps.

    >>> round(float(erf(np, np.float64([0.5]))[0]), 12) == round(math.erf(0.5), 12)
    True
    """
    wide, central, tail = _erf_parts(xp, x)
    return _chosen(xp, xp.abs(wide) <= 1.0, central, xp.copysign(1.0 - tail, wide)).astype(x.dtype, copy=False)


@_in_blocks
def erfc(xp: Any, x: Array) -> Array:
    """One minus the error function, accurate in the tail too."""
    wide, central, tail = _erf_parts(xp, x)
    beyond = _chosen(xp, wide > 0, tail, 2.0 - tail)
    return _chosen(xp, xp.abs(wide) <= 1.0, 1.0 - central, beyond).astype(x.dtype, copy=False)


def _erf_parts(xp: Any, x: Array) -> tuple[Array, Array, Array]:
    """The argument as it is computed with, erf where its size is at most 1, and erfc of its size where that is more."""
    wide = x.astype(np.float64 if x.dtype.itemsize == 8 else np.float32, copy=False)
    inside, size = xp.clip(wide, -1.0, 1.0), xp.maximum(xp.abs(wide), 1.0)
    if wide.dtype.itemsize == 4:
        return wide, inside * _polynomial(xp, inside * inside, _ERF_SINGLE), _erfc_beyond_one(xp, size)
    central = inside * _ratio(xp, inside * inside, _ERF_NUMERATOR, _ERF_DENOMINATOR)
    near = _ratio(xp, xp.minimum(size, 8.0), _ERFC_NEAR_NUMERATOR, _ERFC_NEAR_DENOMINATOR)
    far = _ratio(xp, xp.clip(size, 8.0, 1e6), _ERFC_FAR_NUMERATOR, _ERFC_FAR_DENOMINATOR)
    return wide, central, _bell(xp, xp.minimum(size, 32.0)) * _chosen(xp, size < 8.0, near, far)


def _erfc_beyond_one(xp: Any, size: Array) -> Array:
    """`erfc` in single precision from 1 on; it is zero long before 16."""
    size = xp.minimum(size, np.float32(16))
    inverse = 1 / size
    return _bell(xp, size) * (inverse * _polynomial(xp, inverse, _ERFC_SINGLE))


def _bell(xp: Any, size: Array) -> Array:
    """`exp(-size * size)`, with the square as exact as its exponential needs: rounded it is off by a part of itself."""
    bits = np.dtype(f"u{size.dtype.itemsize}")
    short = (size.view(bits) & bits.type(_SHORT[bits.itemsize])).view(size.dtype)
    return xp.exp(-short * short) * xp.exp((short - size) * (short + size))


@_in_blocks
def erf_inv(xp: Any, x: Array) -> Array:
    """
    The inverse of the error function; doubles are refined with Newton steps.

    >>> abs(float(erf_inv(np, np.float32([0.5]))[0]) - 0.47693628) < 1e-6
    True
    """
    w = -xp.log1p(-x * x)
    result = _polynomial(xp, w - x.dtype.type(2.5), ERF_INV_CENTRAL)
    result *= x
    far = w >= 5
    if xp is not np:
        result = _chosen(xp, far, _erf_inv_far(xp, w, x), result)
    elif far.any():  # one in three hundred, of numbers that are spread evenly
        result[far] = _erf_inv_far(np, w[far], x[far])
    if x.dtype.itemsize == 8:
        for _ in range(3):
            slope = 2.0 / math.sqrt(math.pi) * xp.exp(-result * result)
            tail = xp.where(x < 0, -1.0, 1.0) * (erfc(xp, xp.abs(result)) - (1.0 - xp.abs(x)))
            error = xp.where(xp.abs(x) < 0.5, x - erf(xp, result), tail)
            result = result + xp.where(slope > 0, error / slope, 0.0)
    return result


def _erf_inv_far(xp: Any, w: Array, x: Array) -> Array:
    """The inverse of the error function near one and minus one, where it is infinite."""
    outer = _polynomial(xp, xp.sqrt(xp.maximum(w, x.dtype.type(5))) - x.dtype.type(3), ERF_INV_TAIL) * x
    return _chosen(xp, xp.abs(x) == 1, xp.copysign(x.dtype.type(np.inf), x), outer)


def _lanczos(xp: Any, wide: Array) -> tuple[Array, Array, Array, Array]:
    """Where to expand gamma(z + 1) so that z >= -0.5 (below 0.5 it is mirrored), the series there, and its slope."""
    z = xp.where(wide < 0.5, -wide, wide - 1.0)
    series, slope = xp.full_like(z, _LANCZOS_BASE), xp.zeros_like(z)
    for index, coefficient in enumerate(_LANCZOS):
        term = z + (index + 1)
        series = series + coefficient / term
        slope = slope - coefficient / (term * term)
    return z, z + (_LANCZOS_G + 0.5), series, slope


@_in_blocks
def lgamma(xp: Any, x: Array) -> Array:
    """
    The logarithm of the absolute gamma function.

    >>> round(float(lgamma(np, np.float64([5.0]))[0]), 9) == round(math.lgamma(5.0), 9)
    True
    """
    wide = x.astype(np.float64)
    z, t, series, _ = _lanczos(xp, wide)
    positive = 0.5 * math.log(2 * math.pi) + (z + 0.5) * xp.log(t) - t + xp.log(series)
    fraction = xp.abs(wide) - xp.floor(xp.abs(wide))
    sine = xp.log(xp.abs(xp.sin(math.pi * xp.where(fraction > 0.5, 1.0 - fraction, fraction))))
    result = xp.where(wide < 0.5, math.log(math.pi) - sine - positive, positive)
    return xp.where(xp.isinf(wide), np.inf, result).astype(x.dtype)


@_in_blocks
def digamma(xp: Any, x: Array) -> Array:
    """The derivative of `lgamma`; NaN at zero and the negative integers."""
    wide = x.astype(np.float64)
    _, t, series, slope = _lanczos(xp, wide)
    positive = xp.log(t) + slope / series - _LANCZOS_G / t
    reduced = wide + xp.abs(xp.floor(wide + 0.5))
    result = xp.where(wide < 0.5, positive - math.pi / xp.tan(math.pi * reduced), positive)
    return xp.where((wide <= 0) & (wide == xp.floor(wide)), np.nan, result).astype(x.dtype)


_BESSEL_SERIES = 60
"""Terms of the power series of I1, enough up to `_BESSEL_FAR`."""
_BESSEL_FAR = 30.0
"""Where the asymptotic series of I1 is exact to the last bit."""


@_in_blocks
def bessel_i1e(xp: Any, x: Array) -> Array:
    """
    The modified Bessel function I1 times exp(-|x|).

    Near zero by its power series, whose terms are all positive; far from it by Hankel's asymptotic series.

    >>> round(float(bessel_i1e(np, np.float64([1.0]))[0]), 12)
    0.20791041535
    """
    size = xp.abs(x.astype(np.float64))
    near = xp.minimum(size, _BESSEL_FAR)
    quarter, series = near * near / 4, xp.ones_like(near)
    for term in range(_BESSEL_SERIES, 0, -1):
        series = 1.0 + series * quarter / (term * (term + 1))
    central = xp.exp(-near) * near / 2 * series
    far = xp.maximum(size, _BESSEL_FAR)
    tail = xp.ones_like(far)
    for term in range(16, 0, -1):
        tail = 1.0 - tail * (4 - (2 * term - 1) ** 2) / (8 * term * far)
    outer = tail / xp.sqrt(2 * math.pi * far)
    return xp.copysign(xp.where(size < _BESSEL_FAR, central, outer), x).astype(x.dtype)


# The even Bernoulli numbers over factorials, B(2j) / (2j)!, as Euler and Maclaurin's formula takes them.
_BERNOULLI = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
)
_ZETA_TERMS = 10
_ZETA_STEEP = 1000.0
"""The exponent from which the first term is the sum, as far as floats can tell."""


def _zeta_positive(xp: Any, exponent: Array, start: Array) -> Array:
    """The sum of (start + k) ** -exponent for start > 0, exponent > 1, by Euler and Maclaurin's formula."""
    s = xp.minimum(exponent, _ZETA_STEEP)
    total = xp.zeros_like(start)
    for term in range(_ZETA_TERMS):
        total = total + (start + term) ** -s
    reach = start + _ZETA_TERMS
    last = reach**-s
    total = total + last * reach / (s - 1) + last / 2
    factor = last * s / reach
    for index, coefficient in enumerate(_BERNOULLI):
        total = total + coefficient * factor
        factor = factor * (s + (2 * index + 1)) * (s + (2 * index + 2)) / (reach * reach)
    return xp.where(exponent < _ZETA_STEEP, total, start**-exponent)


def zeta(xp: Any, exponent: Array, start: Array) -> Array:
    """
    Hurwitz' zeta function, the sum of (start + k) ** -exponent over k = 0, 1, 2, ...

    NaN for exponents below 1, and where a base is negative and the exponent no integer.

    >>> bool(abs(float(zeta(np, np.float64([2.0]), np.float64([1.0]))[0]) - math.pi**2 / 6) < 1e-15)
    True
    """
    s, q = exponent.astype(np.float64), start.astype(np.float64)
    skipped = xp.maximum(xp.ceil(-q), 0.0)
    whole = xp.floor(q) == q
    first = xp.where(q + skipped > 0, q + skipped, 1.0)
    mirrored = xp.where(whole, 1.0, 1.0 - first)
    result = _zeta_positive(xp, s, xp.minimum(first, 1e300))
    below = _zeta_positive(xp, s, mirrored) - _zeta_positive(xp, s, mirrored + skipped)
    even = xp.floor(s / 2) * 2 == s
    result = xp.where(q < 0, result + xp.where(even, below, -below), result)
    result = xp.where((q < 0) & (xp.floor(s) != s), np.nan, result)
    result = xp.where((q <= 0) & whole, xp.where(even, np.inf, np.nan), result)
    result = xp.where(s == 1, np.inf, xp.where(s < 1, np.nan, result))
    return xp.where(xp.isnan(s) | xp.isnan(q), np.nan, result).astype(start.dtype)


def polygamma(xp: Any, order: Array, x: Array) -> Array:
    """
    The derivative of that order of `digamma`; NaN where the order is no whole number.

    >>> bool(abs(float(polygamma(np, np.float64([1.0]), np.float64([1.0]))[0]) - math.pi**2 / 6) < 1e-12)
    True
    """
    n, wide = order.astype(np.float64), x.astype(np.float64)
    size = xp.exp(lgamma(xp, n + 1)) * zeta(xp, n + 1, wide)
    signed = xp.where(xp.floor(n / 2) * 2 == n, -size, size)
    result = xp.where(n == 0, digamma(xp, wide), signed)
    return xp.where((n < 0) | (xp.floor(n) != n), np.nan, result).astype(x.dtype)


def high_product(xp: Any, lhs: Array, rhs: Array) -> Array:
    """
    The upper half of the bits of a product of integers.

    >>> high_product(np, np.int32([2**30, -1]), np.int32([8, 1])).tolist()
    [2, -1]
    """
    bits = lhs.dtype.itemsize * 8
    if bits < 64:
        double = np.dtype(f"{lhs.dtype.kind}{lhs.dtype.itemsize * 2}")
        return ((lhs.astype(double) * rhs.astype(double)) >> bits).astype(lhs.dtype)
    a, b = lhs.view(np.uint64), rhs.view(np.uint64)
    half, low = np.uint64(32), np.uint64(2**32 - 1)
    crossed = (a >> half) * (b & low) + ((a & low) * (b & low) >> half)
    other = (a & low) * (b >> half) + (crossed & low)
    high = (a >> half) * (b >> half) + (crossed >> half) + (other >> half)
    if lhs.dtype.kind == "i":
        high = high - xp.where(lhs < 0, b, np.uint64(0)) - xp.where(rhs < 0, a, np.uint64(0))
    return high.view(lhs.dtype)
