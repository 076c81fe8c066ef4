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
from shardwright.compiler.tracing.dtypes import DEFAULT_INTEGER, DType
from shardwright.compiler.tracing.emit import Value
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.dialects import chlo, stablehlo
from shardwright.frontends.arrays.control import while_loop
from shardwright.frontends.arrays.random._counters import LONG, WORD, Key, bits
from shardwright.frontends.arrays.reducing.reductions import reduced

DOUBLE = np.dtype("float64")
ROUNDS = 1000
"""The most draws for one element: that so many are refused has a probability below 2^-1000."""

_SMALL = 10.0
"""The mean up to which counts are found by adding up probabilities."""


def between(key: Key, shape: Sequence[int], low: Value, high: Value, dtype: DType) -> Tracer:
    """Floats evenly distributed in [low, high)."""
    unit = fraction(key, shape, dtype)
    if isinstance(low, int | float) and isinstance(high, int | float) and (low, high) == (0, 1):
        return unit
    bottom, top = (_fit(bound, dtype, shape, "uniform") for bound in (low, high))
    found = _add(_mul(unit, _sub(top, bottom)), bottom)
    # Rounding may reach the upper end, which does not belong to the interval.
    below = emit.trace_now().emit(chlo.NextAfterOp(top.value, bottom.value))
    return emit.binary(stablehlo.MinimumOp, found, below)


def fraction(key: Key, shape: Sequence[int], dtype: DType, stream: int | Tracer = 0) -> Tracer:
    """Floats in [0, 1): as many random bits as the type holds, exactly."""
    digits = np.finfo(dtype).nmant + 1 if dtype.kind == "f" else 8
    return _mul_scalar(emit.convert(_top(key, shape, digits, stream), dtype), 2.0**-digits)


def open_fraction(key: Key, shape: Sequence[int], dtype: DType, stream: int | Tracer = 0) -> Tracer:
    """Floats in (0, 1), evenly spaced around the middle."""
    digits = np.finfo(dtype).nmant if dtype.kind == "f" else 7
    number = _top(key, shape, digits, stream)
    odd = _add(_add(number, number), _like(1, number))
    return _mul_scalar(emit.convert(odd, dtype), 2.0 ** -(digits + 1))


def _top(key: Key, shape: Sequence[int], digits: int, stream: int | Tracer) -> Tracer:
    """Random whole numbers of so many binary digits."""
    word = WORD if digits < 32 else LONG
    found = bits(key, shape, word, stream)
    return emit.binary(stablehlo.ShiftRightLogicalOp, found, _like(word.itemsize * 8 - digits, found))


def whole_numbers(key: Key, shape: Sequence[int], low: Value, high: Value, dtype: DType) -> Tracer:
    """Whole numbers evenly distributed in [low, high); the remainder of 64 bits, so that none is preferred."""
    bottom, top = (emit.convert(_fit(bound, dtype, shape, "uniform"), dtype) for bound in (low, high))
    count = _sub(_unsigned(top), _unsigned(bottom))
    # A range that is empty only at run time gives its lower bound.
    safe = emit.select(emit.compare("GT", top, bottom), count, _like(1, count))
    found = emit.binary(stablehlo.RemainderOp, bits(key, shape, LONG), safe)
    return _add(bottom, emit.convert(found, dtype))


def _unsigned(value: Tracer) -> Tracer:
    signed = emit.convert(value, np.dtype("int64")) if value.dtype.kind == "i" else value
    return emit.convert(signed, LONG)


def standard_normal(
    key: Key, shape: Sequence[int], dtype: DType, stream: int | Tracer = 0, *, truncated: bool = False
) -> Tracer:
    """Floats of mean 0 and deviation 1 before the ends beyond two deviations are cut off, if they are."""
    work = dtype if dtype.itemsize >= 4 else np.dtype("float32")
    unit = open_fraction(key, shape, work, stream)
    centred = _sub(_add(unit, unit), _like(1, unit))
    if truncated:
        centred = _mul_scalar(centred, math.erf(math.sqrt(2.0)))
    found = _mul_scalar(emit.unary(chlo.ErfInvOp, centred), math.sqrt(2.0))
    return emit.convert(found, dtype)


def scaled(value: Tracer, mean: Value, deviation: Value) -> Tracer:
    """The value with another mean and deviation."""
    factor = 1 if deviation is None else deviation
    if not (isinstance(factor, int | float) and factor == 1):
        value = _mul(value, _fit(factor, value.dtype, value.shape, "normal"))
    if not (isinstance(mean, int | float) and mean == 0):
        value = _add(value, _fit(mean, value.dtype, value.shape, "normal"))
    return value


def gumbel(key: Key, shape: Sequence[int], dtype: DType) -> Tracer:
    """Floats whose largest, added to logits, is at a place with the probability of its logit."""
    work = dtype if dtype.itemsize >= 4 else np.dtype("float32")
    waited = _negative(emit.unary(stablehlo.LogOp, open_fraction(key, shape, work)))
    return emit.convert(_negative(emit.unary(stablehlo.LogOp, waited)), dtype)


def order(key: Key, count: int) -> Tracer:
    """The numbers below `count` in random order."""
    keys = bits(key, (count,), LONG)
    places = emit.iota(DEFAULT_INTEGER, (count,), 0)
    op = stablehlo.SortOp([keys.value, places.value], 0)
    trace = emit.trace_now()
    trace.emit(op)
    return Tracer(trace, op.results[1])


def gamma(key: Key, shape: Sequence[int], alpha: Value, beta: Value, dtype: DType) -> Tracer:
    """Floats of shape `alpha` and rate `beta`: Marsaglia and Tsang's method, from two draws each round."""
    given, rate = (_fit(value, DOUBLE, shape, "gamma") for value in (alpha, beta))
    small = emit.compare("LT", given, _like(1, given))
    grown = emit.select(small, _add(given, _like(1, given)), given)
    d = _sub(grown, _like(1 / 3, grown))
    c = emit.unary(stablehlo.RsqrtOp, _mul_scalar(d, 9.0))

    def draw(stream: Tracer) -> tuple[Tracer, Tracer]:
        x = standard_normal(key, shape, DOUBLE, stream)
        root = _add(_like(1, x), _mul(c, x))
        v = _mul(_mul(root, root), root)
        positive = emit.compare("GT", v, _like(0, v))
        safe = emit.select(positive, v, _like(1, v))
        bound = _add(_mul_scalar(_mul(x, x), 0.5), _mul(d, _add(_sub(_like(1, v), safe), _log(safe))))
        drawn = _log(open_fraction(key, shape, DOUBLE, _next(stream)))
        return _mul(d, safe), _and(positive, emit.compare("LT", drawn, bound))

    accepted = _until_accepted(_like(0, d), emit.compare("NE", d, d), draw)
    # A number of shape a + 1 times u^(1/a) has shape a.
    power = emit.binary(stablehlo.DivideOp, _log(open_fraction(key, shape, DOUBLE)), given)
    shrunk = _mul(accepted, emit.unary(stablehlo.ExponentialOp, power))
    return emit.convert(_div(emit.select(small, shrunk, accepted), rate), dtype)


def poisson(key: Key, shape: Sequence[int], mean: Value) -> Tracer:
    """Counts of mean `mean`: Hoermann's transformed rejection, or added probabilities where the mean is small."""
    rate = _fit(mean, DOUBLE, shape, "poisson")
    small = emit.compare("LT", rate, _like(_SMALL, rate))
    few = emit.select(small, rate, _like(0, rate))
    start = emit.unary(stablehlo.ExponentialOp, _negative(few))
    counted = _added_up(key, start, lambda number: _div(few, number))
    many = emit.select(small, _like(_SMALL, rate), rate)
    b = _add(_like(0.931, many), _mul_scalar(emit.unary(stablehlo.SqrtOp, many), 2.53))
    a = _add(_like(-0.059, b), _mul_scalar(b, 0.02483))
    hat = _add(_like(1.1239, b), _div(_like(1.1328, b), _sub(b, _like(3.4, b))))
    squeeze = _sub(_like(0.9277, b), _div(_like(3.6224, b), _sub(b, _like(2, b))))
    log_many = _log(many)

    def density(number: Tracer) -> Tracer:
        return _sub(_sub(_mul(number, log_many), many), _lgamma(_add(number, _like(1, number))))

    centre = _add(many, _like(0.43, many))
    drawn = _transformed(key, (a, b, centre, hat, squeeze), density, done=small, top=None)
    return emit.select(small, counted, drawn)


def binomial(key: Key, shape: Sequence[int], trials: Value, chance: Value) -> Tracer:
    """Successes of `trials` with probability `chance`: Hoermann's rejection, or added probabilities where few."""
    n, p = (_fit(value, DOUBLE, shape, "binomial") for value in (trials, chance))
    likely = emit.compare("GT", p, _like(0.5, p))
    q = emit.select(likely, _sub(_like(1, p), p), p)
    small = emit.compare("LT", _mul(n, q), _like(_SMALL, q))
    few = emit.select(small, q, _like(0, q))
    odds = _div(few, _sub(_like(1, few), few))
    start = emit.unary(stablehlo.ExponentialOp, _mul(n, emit.unary(stablehlo.LogPlusOneOp, _negative(few))))
    counted = _added_up(key, start, lambda k: _mul(odds, _div(_add(_sub(n, k), _like(1, k)), k)))
    many = emit.select(small, _like(2 * _SMALL, n), n)
    half = emit.select(small, _like(0.5, q), q)
    drawn = _binomial_draws(key, many, half, small)
    found = emit.select(small, counted, drawn)
    return emit.select(likely, _sub(n, found), found)


def _binomial_draws(key: Key, n: Tracer, q: Tracer, done: Tracer) -> Tracer:
    other = _sub(_like(1, q), q)
    deviation = emit.unary(stablehlo.SqrtOp, _mul(_mul(n, q), other))
    b = _add(_like(1.15, q), _mul_scalar(deviation, 2.53))
    a = _add(_add(_like(-0.0873, q), _mul_scalar(b, 0.0248)), _mul_scalar(q, 0.01))
    hat = _mul(_add(_like(2.83, q), _div(_like(5.1, q), b)), deviation)
    squeeze = _sub(_like(0.92, q), _div(_like(4.2, q), b))
    one = _like(1, q)
    mode = emit.unary(stablehlo.FloorOp, _mul(_add(n, one), q))
    log_odds = _log(_div(q, other))
    peak = _add(_lgamma(_add(mode, one)), _lgamma(_add(_sub(n, mode), one)))

    def density(number: Tracer) -> Tracer:
        mine = _add(_lgamma(_add(number, one)), _lgamma(_add(_sub(n, number), one)))
        return _add(_sub(peak, mine), _mul(_sub(number, mode), log_odds))

    centre = _add(_mul(n, q), _like(0.5, q))
    return _transformed(key, (a, b, centre, hat, squeeze), density, done=done, top=n)


def _added_up(key: Key, start: Tracer, ratio: Callable[[Tracer], Tracer]) -> Tracer:
    """The first count at which the probabilities, from `start` on and each `ratio` of the last, exceed a draw."""
    draw = fraction(key, start.shape, DOUBLE)

    def short(state: tuple[Tracer, Tracer, Tracer]) -> Tracer:
        _, mass, total = state
        return _and(emit.compare("LE", total, draw), emit.compare("GT", mass, _like(1e-30, mass)))

    def step(state: tuple[Tracer, Tracer, Tracer]) -> tuple[Tracer, Tracer, Tracer]:
        number, mass, total = state
        going = short(state)
        following = _add(number, _like(1, number))
        smaller = _mul(mass, ratio(following))
        return (
            emit.select(going, following, number),
            emit.select(going, smaller, mass),
            emit.select(going, _add(total, smaller), total),
        )

    found: tuple[Tracer, Tracer, Tracer] = while_loop(
        lambda state: _any(short(state)), step, (_like(0, start), start, start)
    )
    return found[0]


def _transformed(
    key: Key,
    parameters: tuple[Tracer, Tracer, Tracer, Tracer, Tracer],
    density: Callable[[Tracer], Tracer],
    *,
    done: Tracer,
    top: Tracer | None,
) -> Tracer:
    """Counts by transformed rejection (Hoermann, 1993), for a density that is given by its logarithm."""
    a, b, centre, hat, squeeze = parameters

    def draw(stream: Tracer) -> tuple[Tracer, Tracer]:
        u = _sub(open_fraction(key, a.shape, DOUBLE, stream), _like(0.5, a))
        v = open_fraction(key, a.shape, DOUBLE, _next(stream))
        rest = _sub(_like(0.5, u), emit.unary(stablehlo.AbsOp, u))
        moved = _add(_mul(_add(_div(_add(a, a), rest), b), u), centre)
        number = emit.unary(stablehlo.FloorOp, moved)
        inside = emit.compare("GE", number, _like(0, number))
        if top is not None:
            inside = _and(inside, emit.compare("LE", number, top))
        safe = emit.select(inside, number, _like(0, number))
        height = _log(_div(_mul(v, hat), _add(_div(a, _mul(rest, rest)), b)))
        sure = _and(emit.compare("GE", rest, _like(0.07, rest)), emit.compare("LE", v, squeeze))
        likely = _and(inside, emit.compare("LE", height, density(safe)))
        return safe, emit.binary(stablehlo.OrOp, _and(sure, inside), likely)

    return _until_accepted(_like(0, a), done, draw)


def _until_accepted(start: Tracer, done: Tracer, draw: Callable[[Tracer], tuple[Tracer, Tracer]]) -> Tracer:
    """For each element that is not done, the first draw that is accepted; a draw takes two streams."""

    def step(state: tuple[Tracer, Tracer, Tracer]) -> tuple[Tracer, Tracer, Tracer]:
        stream, finished, value = state
        drawn, accepted = draw(stream)
        fresh = _and(accepted, emit.unary(stablehlo.NotOp, finished))
        both = emit.binary(stablehlo.OrOp, finished, accepted)
        return _next(_next(stream)), both, emit.select(fresh, drawn, value)

    def going(state: tuple[Tracer, Tracer, Tracer]) -> Tracer:
        stream, finished, _ = state
        more = emit.compare("LT", stream, _like(2 * ROUNDS, stream))
        return _and(more, _any(emit.unary(stablehlo.NotOp, finished)))

    found: tuple[Tracer, Tracer, Tracer] = while_loop(going, step, (emit.constant(1, WORD), done, start))
    return found[2]


def _fit(value: Value, dtype: DType, shape: Sequence[int], what: str) -> Tracer:
    """A parameter of a distribution, broadcast to the shape of the numbers; ValueError (SW0561) when it is larger."""
    given = emit.shape_of(value)
    if emit.broadcast_shape(what, given, tuple(shape)) != tuple(shape):
        raise value_error(
            "SW0561",
            f"{what}: a parameter of shape {list(given)} does not broadcast to {list(shape)}",
            help="the shape of the numbers includes that of the parameters",
        )
    return emit.fit(value, dtype, shape)


def _next(stream: Tracer) -> Tracer:
    return _add(stream, _like(1, stream))


def _any(value: Tracer) -> Tracer:
    return reduced(value, stablehlo.OrOp, tuple(range(value.ndim)), keepdims=False)


def _like(number: float, other: Tracer) -> Tracer:
    return emit.constant(number, other.dtype, other.shape)


def _mul_scalar(value: Tracer, factor: float) -> Tracer:
    return _mul(value, _like(factor, value))


def _add(left: Tracer, right: Tracer) -> Tracer:
    return emit.binary(stablehlo.AddOp, left, right)


def _sub(left: Tracer, right: Tracer) -> Tracer:
    return emit.binary(stablehlo.SubtractOp, left, right)


def _mul(left: Tracer, right: Tracer) -> Tracer:
    return emit.binary(stablehlo.MultiplyOp, left, right)


def _div(left: Tracer, right: Tracer) -> Tracer:
    return emit.binary(stablehlo.DivideOp, left, right)


def _and(left: Tracer, right: Tracer) -> Tracer:
    return emit.binary(stablehlo.AndOp, left, right)


def _negative(value: Tracer) -> Tracer:
    return emit.unary(stablehlo.NegateOp, value)


def _log(value: Tracer) -> Tracer:
    return emit.unary(stablehlo.LogOp, value)


def _lgamma(value: Tracer) -> Tracer:
    return emit.unary(chlo.LgammaOp, value)
