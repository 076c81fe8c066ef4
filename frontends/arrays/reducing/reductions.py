"""The functions of the array API standard that combine elements: sums, extremes, statistics."""

from __future__ import annotations

import math
from typing import Any

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import (
    BOOLEAN,
    DEFAULT_INTEGER,
    DType,
    DTypeLike,
    as_dtype,
    check_kind,
    default_dtype,
    kind_of,
)
from shardwright.compiler.tracing.settings import Dims, dim_of, dims_of
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.dialects import stablehlo
from shardwright.frontends.functions.dispatch import array_function

__all__ = ["all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"]

NUMERIC = ("integer", "float", "complex")
COUNTED = ("boolean", *NUMERIC)
"""What may be added up: of truth values, those that are true are counted, as NumPy and JAX do."""
NARROW = ("float16", "bfloat16")
"""The types that are combined in 32 bits."""


def reduced(value: Tracer, operation: Any, dims: tuple[int, ...], keepdims: bool) -> Tracer:
    """The value with `dims` combined by `operation`, kept with size 1 if asked."""
    result = emit.reduce(operation, value, dims)
    if not keepdims:
        return result
    return emit.reshape(result, [1 if dim in dims else size for dim, size in enumerate(value.shape)])


def summed(value: Tracer, operation: Any, dims: tuple[int, ...], keepdims: bool) -> Tracer:
    """The same for sums and products: types of 16 bits are combined in 32, since errors add up."""
    return emit.convert(reduced(widened(value), operation, dims, keepdims), value.dtype)


def widened(value: Tracer) -> Tracer:
    """The value as it is combined."""
    return emit.convert(value, default_dtype("float")) if value.dtype.name in NARROW else value


def accumulator(dtype: DType, asked: DTypeLike | None) -> DType:
    """The type of a sum or product: the one that is asked for, or at least the default integers."""
    if asked is not None:
        return as_dtype(asked)
    if dtype == BOOLEAN:
        return DEFAULT_INTEGER
    if kind_of(dtype) == "integer" and dtype.itemsize < DEFAULT_INTEGER.itemsize:
        return as_dtype("uint32") if dtype.kind == "u" else DEFAULT_INTEGER
    return dtype


@array_function
def sum(x: ArrayLike, /, *, axis: Dims = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    """
    The sum over the dims in `axis`, or over all; of truth values the number of those that are true.

    >>> import shardwright, numpy
    >>> shardwright.sum(numpy.ones((2, 3)), axis=1)
    array([3., 3.])
    >>> int(shardwright.sum(numpy.array([True, False, True])))
    2
    """
    return _accumulated(stablehlo.AddOp, x, axis, dtype, keepdims, "sum", COUNTED)


@array_function
def prod(x: ArrayLike, /, *, axis: Dims = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    """The product over the dims in `axis`, or over all."""
    return _accumulated(stablehlo.MultiplyOp, x, axis, dtype, keepdims, "prod")


def _accumulated(
    operation: Any,
    x: ArrayLike,
    axis: Dims,
    dtype: DTypeLike | None,
    keepdims: bool,
    what: str,
    kinds: tuple[str, ...] = NUMERIC,
) -> Tracer:
    value = emit.as_tracer(x, what)
    check_kind(value.dtype, kinds, what)
    wide = emit.convert(value, accumulator(value.dtype, dtype))
    return summed(wide, operation, dims_of(axis, value.ndim, what), keepdims)


@array_function
def max(x: ArrayLike, /, *, axis: Dims = None, keepdims: bool = False) -> Array:
    """The largest element over the dims in `axis`, or over all; NaN if there is one."""
    return _extreme(stablehlo.MaximumOp, x, axis, keepdims, "max")


@array_function
def min(x: ArrayLike, /, *, axis: Dims = None, keepdims: bool = False) -> Array:
    """The smallest element over the dims in `axis`, or over all; NaN if there is one."""
    return _extreme(stablehlo.MinimumOp, x, axis, keepdims, "min")


def _extreme(operation: Any, x: ArrayLike, axis: Dims, keepdims: bool, what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    check_kind(value.dtype, ("integer", "float"), what)
    dims = dims_of(axis, value.ndim, what)
    if 0 in [value.shape[dim] for dim in dims]:
        raise value_error("SW0510", f"{what}: no elements to choose from", f"the shape is {list(value.shape)}")
    return reduced(value, operation, dims, keepdims)


@array_function
def all(x: ArrayLike, /, *, axis: Dims = None, keepdims: bool = False) -> Array:
    """Whether all elements over the dims in `axis` hold (are not zero)."""
    value = emit.convert(emit.as_tracer(x, "all"), BOOLEAN)
    return reduced(value, stablehlo.AndOp, dims_of(axis, value.ndim, "all"), keepdims)


@array_function
def any(x: ArrayLike, /, *, axis: Dims = None, keepdims: bool = False) -> Array:
    """Whether an element over the dims in `axis` holds (is not zero)."""
    value = emit.convert(emit.as_tracer(x, "any"), BOOLEAN)
    return reduced(value, stablehlo.OrOp, dims_of(axis, value.ndim, "any"), keepdims)


@array_function
def mean(x: ArrayLike, /, *, axis: Dims = None, keepdims: bool = False) -> Array:
    """
    The mean over the dims in `axis`, or over all; of truth values the share of those that are true.

    >>> import shardwright, numpy
    >>> float(shardwright.mean(numpy.arange(4.0))), float(shardwright.mean(numpy.arange(4) < 3))
    (1.5, 0.75)
    """
    value = emit.as_tracer(x, "mean")
    check_kind(value.dtype, ("boolean", "float", "complex"), "mean")
    value = emit.convert(value, default_dtype("float")) if value.dtype == BOOLEAN else value
    return averaged(value, dims_of(axis, value.ndim, "mean"), 0, keepdims)


def averaged(value: Tracer, dims: tuple[int, ...], correction: float, keepdims: bool) -> Tracer:
    """The sum over `dims` divided by their size less `correction`; NaN where that leaves nothing."""
    total = reduced(widened(value), stablehlo.AddOp, dims, keepdims)
    count = math.prod(value.shape[dim] for dim in dims) - correction
    if count <= 0 and correction:
        count = math.nan
    return emit.convert(total / emit.constant(count, total.dtype, total.shape), value.dtype)


@array_function
def var(x: ArrayLike, /, *, axis: Dims = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """
    The variance over the dims in `axis`; `correction` is taken off the count, and NaN is what is left of none.

    >>> import shardwright, numpy
    >>> [float(shardwright.var(numpy.array([1.0, 3.0]), correction=less)) for less in (0, 1, 2)]
    [1.0, 2.0, nan]
    """
    value = emit.as_tracer(x, "var")
    check_kind(value.dtype, ("float",), "var")
    return variance(value, dims_of(axis, value.ndim, "var"), correction, keepdims)


def variance(value: Tracer, dims: tuple[int, ...], correction: float, keepdims: bool) -> Tracer:
    """The mean square distance from the mean, over `dims`."""
    wide = widened(value)
    distance = wide - averaged(wide, dims, 0, keepdims=True)
    return emit.convert(averaged(distance * distance, dims, correction, keepdims), value.dtype)


@array_function
def std(x: ArrayLike, /, *, axis: Dims = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The standard deviation over the dims in `axis`: the root of `var`."""
    value = emit.as_tracer(x, "std")
    check_kind(value.dtype, ("float",), "std")
    spread = variance(widened(value), dims_of(axis, value.ndim, "std"), correction, keepdims)
    return emit.convert(emit.unary(stablehlo.SqrtOp, spread), value.dtype)


@array_function
def argmax(x: ArrayLike, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """
    The index of the first largest element along dim `axis`, or of the flattened tensor; the first NaN if there is one.

    >>> import shardwright, numpy
    >>> shardwright.argmax(numpy.array([[1, 5, 5], [7, 2, 3]]), axis=1)
    array([1, 0], dtype=int32)
    """
    return _first(stablehlo.MaximumOp, x, axis, keepdims, "argmax")


@array_function
def argmin(x: ArrayLike, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The index of the first smallest element along dim `axis`, or of the flattened tensor."""
    return _first(stablehlo.MinimumOp, x, axis, keepdims, "argmin")


def _first(operation: Any, x: ArrayLike, axis: int | None, keepdims: bool, what: str) -> Tracer:
    """
    The least index at which the extreme stands.

    Made of two reductions that work on parts of a dim, so that it may stay split, unlike a reduction over pairs.
    """
    value = emit.as_tracer(x, what)
    check_kind(value.dtype, ("integer", "float"), what)
    whole = axis is None
    flat = emit.reshape(value, (value.size,)) if whole else value
    dim = 0 if axis is None else dim_of(axis, value.ndim, what)
    if flat.shape[dim] == 0:
        raise value_error("SW0510", f"{what}: no elements to choose from", f"the shape is {list(value.shape)}")
    best = emit.broadcast(reduced(flat, operation, (dim,), keepdims=True), flat.shape)
    hit = flat == best
    if kind_of(flat.dtype) == "float":
        hit |= emit.compare("NE", flat, flat)  # a NaN is first
    beyond = emit.constant(flat.shape[dim], DEFAULT_INTEGER, flat.shape)
    places = emit.select(hit, emit.iota(DEFAULT_INTEGER, flat.shape, dim), beyond)
    result = reduced(places, stablehlo.MinimumOp, (dim,), keepdims and not whole)
    return emit.reshape(result, (1,) * value.ndim) if whole and keepdims else result
