"""
Random numbers that a seed defines: `shardwright.random`, with the names of `tf.random`.

Each element's bits depend on the seed and on its position in the whole array only (`counters`), so that every layout
and mesh gives the same numbers, every engine to rounding, and each device makes its own part of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import (
    DEFAULT_FLOAT,
    DTypeLike,
    as_dtype,
    check_integer,
    check_kind,
    kind_of,
    scalar_kind,
)
from shardwright.compiler.tracing.emit import Value
from shardwright.compiler.tracing.settings import settled, shape_argument
from shardwright.compiler.tracing.trace import Tracer, current_trace
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects import stablehlo
from shardwright.frontends.arrays.indexing.picking import picked
from shardwright.frontends.arrays.random import _counters as counters, _distributions as distributions
from shardwright.frontends.arrays.random._counters import Seed
from shardwright.frontends.arrays.random._parameters import check_bounds, check_parameter
from shardwright.frontends.arrays.reducing.reductions import argmax
from shardwright.frontends.functions.dispatch import array_function
from shardwright.layout import Layout

__all__ = [
    "normal",
    "set_seed",
    "stateless_categorical",
    "stateless_random_binomial",
    "stateless_random_categorical",
    "stateless_random_gamma",
    "stateless_random_normal",
    "stateless_random_poisson",
    "stateless_random_shuffle",
    "stateless_random_truncated_normal",
    "stateless_random_uniform",
    "stateless_random_uniform_full_int",
    "stateless_shuffle",
    "truncated_normal",
    "uniform",
]

Shape = int | Sequence[int]
WHOLE, FLOAT, REAL = ("integer",), ("float",), ("integer", "float")


def _drawn(
    draw: Callable[..., Array],
    kinds: tuple[str, ...],
    seed: ArrayLike,
    shape: Shape,
    dtype: DTypeLike,
    layout: Layout | None,
    **parameters: Value,
) -> Array:
    """Numbers of a distribution, of a type of these kinds. The seed is an argument: another one is no other program."""
    return _numbers(draw, kinds, seed, shape_argument(shape, draw.__name__), dtype, layout, **parameters)


@array_function
def _numbers(
    draw: Callable[..., Array],
    kinds: tuple[str, ...],
    seed: ArrayLike,
    sizes: tuple[int, ...],
    dtype: DTypeLike,
    layout: Layout | None,
    **parameters: Value,
) -> Array:
    target = as_dtype(dtype)
    check_kind(target, kinds, draw.__name__)
    return _laid_out(
        emit.convert(emit.as_tracer(draw(counters.key_of(seed), sizes, target, **parameters)), target), layout
    )


def _laid_out(value: Tracer, layout: Layout | None) -> Tracer:
    return value if layout is None else emit.constrain(value, layout)


@settled
def stateless_random_uniform(
    shape: Shape,
    seed: Seed,
    minval: ArrayLike | None = 0,
    maxval: ArrayLike | None = None,
    dtype: DTypeLike = "float32",
    name: str | None = None,
    layout: Layout | None = None,
) -> Array:
    """
    Numbers evenly distributed from `minval` up to, not including, `maxval` (RFC: `tf.random.stateless_random_uniform`).

    `seed` is two whole numbers, or an array of them. For floats `maxval` is 1 if not given; integers need it, unless
    `minval` is None as well, which means all that the type has. Raises `ValueError` (SW0561) for bounds without numbers
    between them, or that the type does not have, `ValueError` or `TypeError` (SW0560) for what is no seed.

    >>> import shardwright
    >>> mesh = shardwright.Mesh(x=2)
    >>> shardwright.random.stateless_random_uniform((4,), (1, 2), layout=shardwright.Layout(["x"], mesh)).layout
    Layout(['x'], Mesh(x=2))
    >>> shardwright.random.stateless_random_uniform((3,), (1, 2), 0, 10, "int32").tolist()
    [6, 8, 6]
    """
    key = counters.seed_argument(seed, "stateless_random_uniform")
    if minval is None and maxval is None:
        return _drawn(distributions.uniform_full_int, WHOLE, key, shape, dtype, layout)
    low, target = 0 if minval is None else minval, as_dtype(dtype)
    if maxval is None and kind_of(target) == "integer":
        raise value_error("SW0561", f"uniform: numbers of type {target.name} need maxval", help="give maxval=")
    high = 1 if maxval is None else maxval
    wide = check_bounds("uniform", target, low, high)
    return _drawn(distributions.uniform, REAL, key, shape, target, layout, minval=low, maxval=high, wide=wide)


@settled
def stateless_random_uniform_full_int(
    shape: Shape, seed: Seed, dtype: DTypeLike = "uint64", name: str | None = None, layout: Layout | None = None
) -> Array:
    """
    Whole numbers, each of the type with the same probability.

    >>> import shardwright
    >>> shardwright.random.stateless_random_uniform_full_int((2,), (1, 2), "uint32").tolist()
    [2932776407, 1811914268]
    """
    key = counters.seed_argument(seed, "stateless_random_uniform_full_int")
    return _drawn(distributions.uniform_full_int, WHOLE, key, shape, dtype, layout)


@settled
def stateless_random_normal(
    shape: Shape,
    seed: Seed,
    mean: ArrayLike = 0.0,
    stddev: ArrayLike = 1.0,
    dtype: DTypeLike = "float32",
    name: str | None = None,
    layout: Layout | None = None,
) -> Array:
    """
    Numbers with a normal distribution (RFC: `tf.random.stateless_random_normal`, whose arguments these are).

    >>> import shardwright
    >>> float(shardwright.random.stateless_random_normal((10000,), (1, 2)).std().round(2))
    1.0
    """
    key = counters.seed_argument(seed, "stateless_random_normal")
    _check_normal(mean, stddev)
    return _drawn(distributions.normal, FLOAT, key, shape, dtype, layout, mean=mean, stddev=stddev)


@settled
def stateless_random_truncated_normal(
    shape: Shape,
    seed: Seed,
    mean: ArrayLike = 0.0,
    stddev: ArrayLike = 1.0,
    dtype: DTypeLike | None = "float32",
    name: str | None = None,
    layout: Layout | None = None,
) -> Array:
    """
    Numbers with a normal distribution of which only what is within two standard deviations of the mean is kept.

    >>> import shardwright
    >>> float(abs(shardwright.random.stateless_random_truncated_normal((10000,), (1, 2))).max()) < 2
    True
    """
    key = counters.seed_argument(seed, "stateless_random_truncated_normal")
    target = "float32" if dtype is None else dtype
    _check_normal(mean, stddev)
    return _drawn(distributions.normal, FLOAT, key, shape, target, layout, mean=mean, stddev=stddev, truncated=True)


def _check_normal(mean: ArrayLike, stddev: ArrayLike) -> None:
    check_parameter("normal", "mean", mean)
    check_parameter("normal", "stddev", stddev)


@settled
def stateless_random_gamma(
    shape: Shape,
    seed: Seed,
    alpha: ArrayLike,
    beta: ArrayLike | None = None,
    dtype: DTypeLike = "float32",
    name: str | None = None,
    layout: Layout | None = None,
) -> Array:
    """
    Numbers with a gamma distribution of shape `alpha` and rate `beta` (1 if not given), which broadcast to `shape`.

    Raises `ValueError` (SW0561) for parameters below 0 and NaN; where arrays of devices have them, the numbers are NaN.

    >>> import shardwright
    >>> float(shardwright.random.stateless_random_gamma((10000,), (1, 2), 3.0, 2.0).mean().round(1))
    1.5
    """
    key = counters.seed_argument(seed, "stateless_random_gamma")
    rate = 1 if beta is None else beta
    for name, value in (("alpha", alpha), ("beta", rate)):
        check_parameter("gamma", name, value, 0)
    return _drawn(distributions.gamma, FLOAT, key, shape, dtype, layout, alpha=alpha, beta=rate)


@settled
def stateless_random_poisson(
    shape: Shape,
    seed: Seed,
    lam: ArrayLike,
    dtype: DTypeLike = "int32",
    name: str | None = None,
    layout: Layout | None = None,
) -> Array:
    """
    Counts with a Poisson distribution of mean `lam`, which broadcasts to `shape`.

    Raises `ValueError` (SW0561) for a mean below 0 and NaN; where an array of devices has it, a float is NaN.

    >>> import shardwright
    >>> float(shardwright.random.stateless_random_poisson((10000,), (1, 2), 4.0).mean().round(1))
    4.0
    """
    key = counters.seed_argument(seed, "stateless_random_poisson")
    check_parameter("poisson", "lam", lam, 0)
    return _drawn(distributions.poisson, REAL, key, shape, dtype, layout, lam=lam)


@settled
def stateless_random_binomial(
    shape: Shape,
    seed: Seed,
    counts: ArrayLike,
    probs: ArrayLike,
    output_dtype: DTypeLike = "int32",
    name: str | None = None,
    layout: Layout | None = None,
) -> Array:
    """
    How many of `counts` trials succeed, each with probability `probs`; both broadcast to `shape`.

    Raises `ValueError` (SW0561) for counts that are no whole numbers from 0 on, and for what is no probability; where
    arrays of devices have them, a float is NaN.

    >>> import shardwright
    >>> float(shardwright.random.stateless_random_binomial((10000,), (1, 2), 10, 0.25).mean().round(1))
    2.5
    """
    key = counters.seed_argument(seed, "stateless_random_binomial")
    check_parameter("binomial", "counts", counts, 0, whole=True)
    check_parameter("binomial", "probs", probs, 0, 1)
    return _drawn(distributions.binomial, REAL, key, shape, output_dtype, layout, counts=counts, probs=probs)


@settled
def stateless_categorical(
    logits: ArrayLike,
    num_samples: int,
    seed: Seed,
    dtype: DTypeLike = "int64",
    name: str | None = None,
    layout: Layout | None = None,
) -> Array:
    """
    For each row of `logits`, `num_samples` classes drawn with the probabilities `softmax(logits)`.

    >>> import shardwright, numpy
    >>> rows = numpy.array([[0.0, -numpy.inf], [-numpy.inf, 0.0]], "float32")
    >>> shardwright.random.stateless_categorical(rows, 3, (1, 2)).tolist()
    [[0, 0, 0], [1, 1, 1]]
    """
    return _categorical(counters.seed_argument(seed, "stateless_categorical"), logits, num_samples, dtype, layout)


@array_function
def _categorical(seed: ArrayLike, logits: ArrayLike, samples: int, dtype: DTypeLike, layout: Layout | None) -> Array:
    value, target = emit.as_tracer(logits, "categorical"), as_dtype(dtype)
    check_kind(value.dtype, ("float",), "categorical")
    check_kind(target, ("integer",), "categorical")
    if value.ndim != 2 or not value.shape[1]:
        raise value_error("SW0510", f"categorical takes rows of logits, not shape {list(value.shape)}")
    sizes = (value.shape[0], *shape_argument(samples, "categorical"), value.shape[1])
    check_integer(value.shape[1] - 1, target)
    # In floats of 16 bits several classes would often be the largest, and the first of them be taken.
    wide = value if value.dtype.itemsize >= 4 else emit.convert(value, DEFAULT_FLOAT)
    noise = distributions.gumbel(counters.key_of(seed), sizes, wide.dtype)
    total = emit.binary(stablehlo.AddOp, noise, emit.broadcast_in_dim(wide, sizes, (0, 2)))
    return _laid_out(emit.convert(emit.as_tracer(argmax(total, axis=2)), target), layout)


stateless_random_categorical = stateless_categorical


@settled
def stateless_shuffle(value: ArrayLike, seed: Seed, name: str | None = None, layout: Layout | None = None) -> Array:
    """
    The rows of `value` (its elements, if it has one dim) in another order.

    >>> import shardwright, numpy
    >>> shardwright.random.stateless_shuffle(numpy.arange(5), (1, 2)).tolist()
    [1, 0, 4, 3, 2]
    """
    return _shuffle(counters.seed_argument(seed, "stateless_shuffle"), value, layout)


@array_function
def _shuffle(seed: ArrayLike, value: ArrayLike, layout: Layout | None) -> Array:
    rows = emit.as_tracer(value, "shuffle")
    if not rows.ndim:
        raise value_error("SW0510", "shuffle: a scalar has no rows", help="rows are along the first dim")
    return _laid_out(picked(rows, distributions.order(counters.key_of(seed), rows.shape[0]), 0), layout)


stateless_random_shuffle = stateless_shuffle


@array_function
def _dropout(seed: ArrayLike, x: ArrayLike, rate: ArrayLike, noise_shape: Sequence[int] | None) -> Array:
    value = emit.as_tracer(x, "dropout")
    check_kind(value.dtype, ("float",), "dropout")
    sizes = value.shape if noise_shape is None else shape_argument(noise_shape, "dropout")
    if emit.broadcast_shape("dropout", value.shape, sizes) != value.shape:
        raise value_error(
            "SW0504",
            f"dropout: a noise_shape of {list(sizes)} does not broadcast to {list(value.shape)}",
            help="aligned at the last dim, sizes must be equal or 1",
        )
    draws = distributions.between(counters.key_of(seed), sizes, as_dtype("float32"), 0, 1)
    kept = emit.compare("GE", draws, emit.fit(rate, draws.dtype, sizes))
    if isinstance(rate, int | float):
        left = emit.constant(1 - rate, value.dtype, value.shape)
    else:
        share = emit.fit(rate, value.dtype, ())
        left = emit.broadcast(emit.constant(1, value.dtype) - share, value.shape)
    grown = emit.binary(stablehlo.DivideOp, value, left)
    return emit.select(emit.broadcast(kept, value.shape), grown, emit.constant(0, value.dtype, value.shape))


@settled
def dropout(x: ArrayLike, rate: ArrayLike, seed: Seed, *, noise_shape: Sequence[int] | None = None) -> Array:
    """
    The elements with a share `rate` of them set to zero, the others over `1 - rate`, so that their mean stays.

    Which ones, `seed` says, as for `random.stateless_random_uniform`: the same for every layout; take another seed for
    each step and each layer. `noise_shape`, which broadcasts to the shape of `x`, drops whole rows or columns. Raises
    `ValueError` (SW0561) for a rate that is not in [0, 1).

    >>> import shardwright, numpy
    >>> shardwright.nn.dropout(numpy.ones(6, "float32"), 0.5, seed=(1, 2)).tolist()
    [2.0, 0.0, 0.0, 0.0, 0.0, 2.0]
    """
    share = rate.item() if isinstance(rate, np.ndarray | np.generic) and rate.shape == () else rate
    if isinstance(share, int | float) and not 0 <= share < 1:
        raise value_error("SW0561", f"dropout: a rate of {share!r} is none", help="give a share from 0 up to 1")
    return _dropout(counters.seed_argument(seed, "dropout"), x, rate, noise_shape)


class Seeds:
    """
    The seeds of calls that are given none: the same ones, in order, in every process and run.

    `seed` is what `set_seed` set, `drawn` how many calls there were since; both can be set to go on from there.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self.restart(0)

    def restart(self, seed: int) -> None:
        with self._lock:
            self.seed, self.drawn = seed, 0

    def following(self, what: str, seed: Any) -> Any:
        """Two numbers for a call: of its own seed, or the next ones."""
        if seed is None:
            if current_trace() is not None:
                raise type_error(
                    "SW0560",
                    f"{what} without a seed in a traced function would give the same numbers at each call",
                    help="pass a seed as an argument, and use the stateless functions",
                )
            with self._lock:
                self.drawn += 1
                return (self.seed, self.drawn << 32)
        return (self.seed, seed) if scalar_kind(seed) == "integer" else seed


seeds = Seeds()
"""Those of this process; a checkpoint of `shardwright.random` holds them."""


def set_seed(seed: int) -> None:
    """
    Starts the numbers of `uniform`, `normal` and `truncated_normal` from a seed (0 if this is never called).

    >>> import shardwright
    >>> shardwright.random.set_seed(7)
    >>> first = shardwright.random.uniform((2,))
    >>> shardwright.random.set_seed(7)
    >>> bool((shardwright.random.uniform((2,)) == first).all())
    True
    """
    if scalar_kind(seed) != "integer":
        raise type_error("SW0560", f"set_seed: {seed!r} is no whole number", help="give one, such as 42")
    seeds.restart(seed)


@settled
def uniform(
    shape: Shape,
    minval: ArrayLike | None = 0,
    maxval: ArrayLike | None = None,
    dtype: DTypeLike = "float32",
    seed: Seed | None = None,
    name: str | None = None,
    layout: Layout | None = None,
) -> Array:
    """
    Like `stateless_random_uniform`, with other numbers at each call without a seed; an initial value of a `Variable`.

    Raises `TypeError` (SW0560) without a seed in a traced function.

    >>> import shardwright
    >>> shardwright.Variable(shardwright.random.uniform, shape=(30, 30), dtype=shardwright.float32).shape
    (30, 30)
    """
    return stateless_random_uniform(shape, seeds.following("uniform", seed), minval, maxval, dtype, name, layout)


def _unseeded(what: str, stateless: Callable[..., Any]):
    """The function that draws with mean and deviation, by its stateless form."""

    def draw(
        shape: Shape,
        mean: ArrayLike = 0.0,
        stddev: ArrayLike = 1.0,
        dtype: DTypeLike = "float32",
        seed: Seed | None = None,
        name: str | None = None,
        layout: Layout | None = None,
    ) -> Array:
        return stateless(shape, seeds.following(what, seed), mean, stddev, dtype, name, layout)

    draw.__name__ = draw.__qualname__ = what
    draw.__doc__ = f"Like `{stateless.__name__}`, with other numbers at each call without a seed."
    return draw


normal = _unseeded("normal", stateless_random_normal)
truncated_normal = _unseeded("truncated_normal", stateless_random_truncated_normal)
