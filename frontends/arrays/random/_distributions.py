"""
Numbers of given distributions, made of random bits by position (`counters`), on traced values.

Continuous ones are the inverse of their distribution function, in one go. Gamma, Poisson and binomial numbers are drawn
until they are accepted, in a loop that each element leaves for itself; the loop's condition is all that devices share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import DEFAULT_INTEGER, DType
from shardwright.compiler.tracing.emit import Value
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.dialects import chlo, stablehlo
from shardwright.frontends.arrays.control import while_loop
from shardwright.frontends.arrays.elementwise.functions import exp, floor, log, log1p, minimum, rsqrt, sqrt, where
from shardwright.frontends.arrays.random._counters import LONG, WORD, Key, bits
from shardwright.frontends.arrays.reducing.reductions import reduced

State = tuple[Array, Array, Array]
"""What a loop carries."""

DOUBLE = np.dtype("float64")
ROUNDS = 1000
"""The most draws for one element: that so many are refused has a probability below 2^-1000."""

_SMALL = 10.0
"""The mean up to which counts are found by adding up probabilities."""


def uniform(key: Key, shape: Sequence[int], dtype: DType, minval: Value, maxval: Value, wide: bool) -> Tracer:
    """Numbers evenly distributed in [minval, maxval), of which `wide` says that they are further apart than a float."""
    if dtype.kind in "iu":
        return _whole_numbers(key, shape, dtype, minval, maxval)
    return between(key, shape, dtype, minval, maxval, wide=wide)


def uniform_full_int(key: Key, shape: Sequence[int], dtype: DType) -> Tracer:
    """Whole numbers, each of the type with the same probability."""
    return bits(key, shape, dtype)


def between(
    key: Key, shape: Sequence[int], dtype: DType, low: ArrayLike, high: ArrayLike, *, wide: bool = False
) -> Tracer:
    """Floats evenly distributed in [low, high); `wide` is for bounds whose distance overflows."""
    unit = _fraction(key, shape, dtype)
    if isinstance(low, int | float) and isinstance(high, int | float) and (low, high) == (0, 1):
        return unit
    bottom, top = (_fit(bound, dtype, shape, "uniform") for bound in (low, high))
    found = (unit * (top * 0.5 - bottom * 0.5) + bottom * 0.5) * 2.0 if wide else unit * (top - bottom) + bottom
    # Rounding may reach the upper end, which does not belong to the interval.
    below = emit.trace_now().emit(chlo.NextAfterOp(top.value, bottom.value))
    return emit.as_tracer(minimum(found, below))


def _fraction(key: Key, shape: Sequence[int], dtype: DType, stream: int | Array = 0) -> Tracer:
    """Floats in [0, 1): as many random bits as the type holds, exactly."""
    digits = np.finfo(dtype).nmant + 1 if dtype.kind == "f" else 8
    return emit.convert(_top(key, shape, digits, stream), dtype) * 2.0**-digits


def open_fraction(key: Key, shape: Sequence[int], dtype: DType, stream: int | Array = 0) -> Tracer:
    """Floats in (0, 1), evenly spaced around the middle."""
    digits = np.finfo(dtype).nmant if dtype.kind == "f" else 7
    number = _top(key, shape, digits, stream)
    return emit.convert(number + number + 1, dtype) * 2.0 ** -(digits + 1)


def _top(key: Key, shape: Sequence[int], digits: int, stream: int | Array) -> Tracer:
    """Random whole numbers of so many binary digits."""
    word = WORD if digits < 32 else LONG
    counted = stream if isinstance(stream, int) else emit.as_tracer(stream)
    return bits(key, shape, word, counted) >> (word.itemsize * 8 - digits)


def _whole_numbers(key: Key, shape: Sequence[int], dtype: DType, low: ArrayLike, high: ArrayLike) -> Tracer:
    """Whole numbers evenly distributed in [low, high); the remainder of 64 bits, so that none is preferred."""
    bottom, top = (emit.convert(_fit(bound, dtype, shape, "uniform"), dtype) for bound in (low, high))
    count = _unsigned(top) - _unsigned(bottom)
    # A range that is empty only at run time gives its lower bound.
    safe: Tracer = emit.as_tracer(where(top > bottom, count, 1))
    found = emit.binary(stablehlo.RemainderOp, bits(key, shape, LONG), safe)
    return bottom + emit.convert(found, dtype)


def _unsigned(value: Tracer) -> Tracer:
    signed = emit.convert(value, np.dtype("int64")) if value.dtype.kind == "i" else value
    return emit.convert(signed, LONG)


def _standard_normal(
    key: Key, shape: Sequence[int], dtype: DType, stream: int | Array = 0, *, truncated: bool = False
) -> Tracer:
    """Floats of mean 0 and deviation 1 before the ends beyond two deviations are cut off, if they are."""
    work = dtype if dtype.itemsize >= 4 else np.dtype("float32")
    unit = open_fraction(key, shape, work, stream)
    centred = unit + unit - 1
    if truncated:
        centred *= math.erf(math.sqrt(2.0))
    return emit.convert(emit.unary(chlo.ErfInvOp, centred) * math.sqrt(2.0), dtype)


def normal(
    key: Key, shape: Sequence[int], dtype: DType, mean: ArrayLike, stddev: ArrayLike | None, truncated: bool = False
) -> Tracer:
    """Floats with this mean and deviation; if truncated, those within two deviations."""
    value = _standard_normal(key, shape, dtype, truncated=truncated)
    factor = 1 if stddev is None else stddev
    if not (isinstance(factor, int | float) and factor == 1):
        value *= _fit(factor, value.dtype, value.shape, "normal")
    if not (isinstance(mean, int | float) and mean == 0):
        value += _fit(mean, value.dtype, value.shape, "normal")
    return value


def gumbel(key: Key, shape: Sequence[int], dtype: DType) -> Tracer:
    """Floats whose largest, added to logits, is at a place with the probability of its logit."""
    waited = -log(open_fraction(key, shape, dtype))
    return emit.as_tracer(-log(waited))


def order(key: Key, count: int) -> Tracer:
    """The numbers below `count` in random order."""
    keys = bits(key, (count,), LONG)
    places = emit.iota(DEFAULT_INTEGER, (count,), 0)
    op = stablehlo.SortOp([keys.value, places.value], 0)
    trace = emit.trace_now()
    trace.emit(op)
    return Tracer(trace, op.results[1])


def gamma(key: Key, shape: Sequence[int], dtype: DType, alpha: ArrayLike, beta: ArrayLike) -> Array:
    """Floats of shape `alpha` and rate `beta`: Marsaglia and Tsang's method, from two draws each round."""
    given, rate = (_fit(value, DOUBLE, shape, "gamma") for value in (alpha, beta))
    known = (given >= 0) & (given < math.inf)
    small = given < 1
    d = where(small, given + 1, given) - 1 / 3
    c = rsqrt(d * 9.0)

    def draw(stream: Array) -> tuple[Array, Array]:
        x = _standard_normal(key, shape, DOUBLE, stream)
        root = _like(1, x) + c * x
        v = root * root * root
        positive = v > 0
        safe = where(positive, v, 1)
        bound = x * x * 0.5 + d * (1 - safe + log(safe))
        drawn = log(open_fraction(key, shape, DOUBLE, _next(stream)))
        return d * safe, positive & (drawn < bound)

    accepted = _until_accepted(_like(0, d), ~known, draw)
    # A number of shape a + 1 times u^(1/a) has shape a.
    shrunk = accepted * exp(log(open_fraction(key, shape, DOUBLE)) / given)
    found = where(known, where(small, shrunk, accepted), given) / rate
    return where((given >= 0) & (rate >= 0), found, math.nan)


def poisson(key: Key, shape: Sequence[int], dtype: DType, lam: ArrayLike) -> Array:
    """Counts of mean `lam`: Hoermann's transformed rejection, or added probabilities where the mean is small."""
    rate = _fit(lam, DOUBLE, shape, "poisson")
    small = (rate >= 0) & (rate < _SMALL)
    large = (rate >= _SMALL) & (rate < math.inf)
    few = where(small, rate, 0)
    counted = _added_up(key, exp(-few), lambda number: few / number)
    many = where(large, rate, _SMALL)
    b = _like(0.931, many) + sqrt(many) * 2.53
    a = _like(-0.059, b) + b * 0.02483
    hat = _like(1.1239, b) + _like(1.1328, b) / (b - 3.4)
    squeeze = _like(0.9277, b) - _like(3.6224, b) / (b - 2)
    log_many = log(many)

    def density(number: Array) -> Array:
        return number * log_many - many - _lgamma(number + 1)

    drawn = _transformed(key, (a, b, many + 0.43, hat, squeeze), density, done=~large, top=None)
    return where(small, counted, where(large, drawn, where(rate < 0, math.nan, rate)))


def binomial(key: Key, shape: Sequence[int], dtype: DType, counts: ArrayLike, probs: ArrayLike) -> Array:
    """Successes of `counts` trials with probability `probs`: Hoermann's rejection, or added probabilities where few."""
    given, p = (_fit(value, DOUBLE, shape, "binomial") for value in (counts, probs))
    known = (given >= 0) & (given < math.inf) & (p >= 0) & (p <= 1)
    n = where(known, floor(given), 0)
    likely = p > 0.5
    q = where(known, where(likely, 1 - p, p), 0)
    small = n * q < _SMALL
    few = where(small, q, 0)
    odds = few / (1 - few)
    start = exp(n * log1p(-few))
    counted = _added_up(key, start, lambda k: odds * ((n - k + 1) / k))
    many = where(small, 2 * _SMALL, n)
    half = where(small, 0.5, q)
    found = where(small, counted, _binomial_draws(key, many, half, small))
    return where(known, where(likely, n - found, found), math.nan)


def _binomial_draws(key: Key, n: Array, q: Array, done: Array) -> Array:
    other = 1 - q
    deviation = sqrt(n * q * other)
    b = _like(1.15, q) + deviation * 2.53
    a = _like(-0.0873, q) + b * 0.0248 + q * 0.01
    hat = (_like(2.83, q) + 5.1 / b) * deviation
    squeeze = _like(0.92, q) - 4.2 / b
    one = _like(1, q)
    mode = floor((n + one) * q)
    log_odds = log(q / other)
    peak = _lgamma(mode + one) + _lgamma(n - mode + one)

    def density(number: Array) -> Array:
        mine = _lgamma(number + one) + _lgamma(n - number + one)
        return peak - mine + (number - mode) * log_odds

    return _transformed(key, (a, b, n * q + 0.5, hat, squeeze), density, done=done, top=n)


def _added_up(key: Key, start: Array, ratio: Callable[[Array], Array]) -> Array:
    """The first count at which the probabilities, from `start` on and each `ratio` of the last, exceed a draw."""
    draw = _fraction(key, start.shape, DOUBLE)

    def short(state: State) -> Array:
        _, mass, total = state
        return (total <= draw) & (mass > 1e-30)

    def step(state: State) -> State:
        number, mass, total = state
        going = short(state)
        following = number + 1
        smaller = mass * ratio(following)
        return where(going, following, number), where(going, smaller, mass), where(going, total + smaller, total)

    found: State = while_loop(lambda state: _any(short(state)), step, (_like(0, start), start, start))
    return found[0]


def _transformed(
    key: Key,
    parameters: tuple[Array, Array, Array, Array, Array],
    density: Callable[[Array], Array],
    *,
    done: Array,
    top: Array | None,
) -> Array:
    """Counts by transformed rejection (Hoermann, 1993), for a density that is given by its logarithm."""
    a, b, centre, hat, squeeze = parameters

    def draw(stream: Array) -> tuple[Array, Array]:
        u = open_fraction(key, a.shape, DOUBLE, stream) - 0.5
        v = open_fraction(key, a.shape, DOUBLE, _next(stream))
        rest = _like(0.5, u) - abs(u)
        number = floor(((a + a) / rest + b) * u + centre)
        inside = number >= 0
        if top is not None:
            inside &= number <= top
        safe = where(inside, number, 0)
        height = log(v * hat / (a / (rest * rest) + b))
        sure = (rest >= 0.07) & (v <= squeeze)
        likely = inside & (height <= density(safe))
        return safe, sure & inside | likely

    return _until_accepted(_like(0, a), done, draw)


def _until_accepted(start: Array, done: Array, draw: Callable[[Array], tuple[Array, Array]]) -> Array:
    """For each element that is not done, the first draw that is accepted; a draw takes two streams."""

    def step(state: State) -> State:
        stream, finished, value = state
        drawn, accepted = draw(stream)
        fresh = accepted & ~finished
        both = finished | accepted
        return _next(_next(stream)), both, where(fresh, drawn, value)

    def going(state: State) -> Array:
        stream, finished, _ = state
        return (stream < 2 * ROUNDS) & _any(~finished)

    found: State = while_loop(going, step, (emit.constant(1, WORD), done, start))
    return found[2]


def _fit(value: ArrayLike, dtype: DType, shape: Sequence[int], what: str) -> Tracer:
    """A parameter of a distribution, broadcast to the shape of the numbers; ValueError (SW0561) when it is larger."""
    given = emit.shape_of(value)
    if emit.broadcast_shape(what, given, tuple(shape)) != tuple(shape):
        raise value_error(
            "SW0561",
            f"{what}: a parameter of shape {list(given)} does not broadcast to {list(shape)}",
            help="the shape of the numbers includes that of the parameters",
        )
    return emit.fit(value, dtype, shape)


def _next(stream: Array) -> Array:
    return stream + 1


def _any(value: Array) -> Array:
    return reduced(emit.as_tracer(value), stablehlo.OrOp, tuple(range(value.ndim)), keepdims=False)


def _like(number: float, other: Array) -> Array:
    return emit.constant(number, other.dtype, other.shape)


def _lgamma(value: Array) -> Array:
    return emit.unary(chlo.LgammaOp, emit.as_tracer(value))
