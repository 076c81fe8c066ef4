"""Pooling: the largest or the mean element of each window, in one to three spatial dims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.emit import Value
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import stablehlo
from shardwright.frontends.arrays.nn._parts import Padding, misfit, numbers_for, operand, over, spatial_dims, swept
from shardwright.frontends.arrays.reducing.reductions import averaged, reduced
from shardwright.frontends.functions.dispatch import array_function
from shardwright.layout.planning.sweep import Sweep
from shardwright.rules.reductions import MONOIDS

Numbers = int | Sequence[int]


@array_function
def max_pool1d(
    x: Value,
    /,
    window: Numbers,
    strides: Numbers | None = None,
    padding: Padding = "VALID",
    *,
    data_format: str | None = None,
) -> Any:
    """The largest element of each window of `x` (batch, width, features); strides are its size if not given."""
    return _pooled(stablehlo.MaximumOp, 1, x, window, strides, padding, data_format, "max_pool1d")[0]


@array_function
def max_pool2d(
    x: Value,
    /,
    window: Numbers,
    strides: Numbers | None = None,
    padding: Padding = "VALID",
    *,
    data_format: str | None = None,
) -> Any:
    """
    The largest element of each window of `x` (batch, height, width, features).

    >>> import shardwright, numpy
    >>> shardwright.nn.max_pool2d(numpy.arange(16.0).reshape(1, 4, 4, 1), 2)[0, :, :, 0]
    array([[ 5.,  7.],
           [13., 15.]])
    """
    return _pooled(stablehlo.MaximumOp, 2, x, window, strides, padding, data_format, "max_pool2d")[0]


@array_function
def max_pool3d(
    x: Value,
    /,
    window: Numbers,
    strides: Numbers | None = None,
    padding: Padding = "VALID",
    *,
    data_format: str | None = None,
) -> Any:
    """The largest element of each window of `x` (batch, depth, height, width, features)."""
    return _pooled(stablehlo.MaximumOp, 3, x, window, strides, padding, data_format, "max_pool3d")[0]


@array_function
def avg_pool1d(
    x: Value,
    /,
    window: Numbers,
    strides: Numbers | None = None,
    padding: Padding = "VALID",
    *,
    data_format: str | None = None,
) -> Any:
    """The mean of each window of `x` (batch, width, features), of the elements that are not padding."""
    return _mean(1, x, window, strides, padding, data_format, "avg_pool1d")


@array_function
def avg_pool2d(
    x: Value,
    /,
    window: Numbers,
    strides: Numbers | None = None,
    padding: Padding = "VALID",
    *,
    data_format: str | None = None,
) -> Any:
    """The mean of each window of `x` (batch, height, width, features), of the elements that are not padding."""
    return _mean(2, x, window, strides, padding, data_format, "avg_pool2d")


@array_function
def avg_pool3d(
    x: Value,
    /,
    window: Numbers,
    strides: Numbers | None = None,
    padding: Padding = "VALID",
    *,
    data_format: str | None = None,
) -> Any:
    """The mean of each window of `x` (batch, depth, height, width, features), of the elements that are not padding."""
    return _mean(3, x, window, strides, padding, data_format, "avg_pool3d")


def _pooled(
    operation: Any,
    rank: int,
    x: Value,
    window: Numbers,
    strides: Numbers | None,
    padding: Padding,
    data_format: str | None,
    what: str,
) -> tuple[Tracer, list[Sweep]]:
    """The windows combined, and how they move along each dim."""
    value = operand(x, what)
    _, space = spatial_dims(rank, value.ndim, data_format, what)
    windows = numbers_for(window, rank, what, "window")
    steps = windows if strides is None else numbers_for(strides, rank, what, "strides")
    found = iter(swept([value.shape[dim] for dim in space], windows, steps, padding, (1,) * rank, what))
    sweeps = [next(found) if dim in space else Sweep(1) for dim in range(value.ndim)]
    start = emit.constant(MONOIDS[operation].identity(value.dtype), value.dtype)
    op = stablehlo.ReduceWindowOp([value.value], [start.value], sweeps, operation)
    return emit.trace_now().emit(op), sweeps


def _mean(
    rank: int,
    x: Value,
    window: Numbers,
    strides: Numbers | None,
    padding: Padding,
    data_format: str | None,
    what: str,
) -> Tracer:
    total, sweeps = _pooled(stablehlo.AddOp, rank, x, window, strides, padding, data_format, what)
    shape = emit.shape_of(x)
    for dim, sweep in enumerate(sweeps):
        if sweep.size > 1:
            counts = _counts(sweep, shape[dim])
            row = emit.constant(counts.astype(total.dtype), total.dtype)
            total = over(total, emit.broadcast_in_dim(row, total.shape, [dim]))
    return total


def _counts(sweep: Sweep, size: int) -> Any:
    """How many elements that are not padding each window along one dim has."""
    starts = np.arange(sweep.result(size)) * sweep.stride - sweep.low
    return np.minimum(starts + sweep.size, size) - np.maximum(starts, 0)


@array_function
def global_max_pool(x: Value, /, *, data_format: str = "channels_last", keepdims: bool = False) -> Any:
    """The largest element over all spatial dims, for each feature."""
    value = operand(x, "global_max_pool")
    return reduced(value, stablehlo.MaximumOp, _all_space(value, data_format, "global_max_pool"), keepdims)


@array_function
def global_avg_pool(x: Value, /, *, data_format: str = "channels_last", keepdims: bool = False) -> Any:
    """The mean over all spatial dims, for each feature."""
    value = operand(x, "global_avg_pool")
    return averaged(value, _all_space(value, data_format, "global_avg_pool"), 0, keepdims)


@array_function
def adaptive_max_pool(x: Value, /, output_size: Numbers, *, data_format: str = "channels_last") -> Any:
    """The largest elements of as many windows along each spatial dim as `output_size` says, as equal as can be."""
    return _adaptive(
        x,
        output_size,
        data_format,
        lambda part, dim: reduced(part, stablehlo.MaximumOp, (dim,), True),
        "adaptive_max_pool",
    )


@array_function
def adaptive_avg_pool(x: Value, /, output_size: Numbers, *, data_format: str = "channels_last") -> Any:
    """
    The means of as many windows along each spatial dim as `output_size` says, as equal as can be.

    >>> import shardwright, numpy
    >>> shardwright.nn.adaptive_avg_pool(numpy.arange(5.0).reshape(1, 5, 1), 2)[0, :, 0]
    array([1., 3.])
    """
    return _adaptive(
        x, output_size, data_format, lambda part, dim: averaged(part, (dim,), 0, True), "adaptive_avg_pool"
    )


def _adaptive(
    x: Value, output_size: Numbers, data_format: str, combine: Callable[[Tracer, int], Tracer], what: str
) -> Tracer:
    """Dim by dim: result i of n is made of what lies from i/n to (i+1)/n of the dim."""
    value = operand(x, what)
    space = _all_space(value, data_format, what)
    for dim, count in zip(space, numbers_for(output_size, len(space), what, "output_size"), strict=True):
        size = value.shape[dim]
        if size % count == 0:
            split = emit.reshape(value, (*value.shape[:dim], count, size // count, *value.shape[dim + 1 :]))
            done = combine(split, dim + 1)
            value = emit.reshape(done, (*value.shape[:dim], count, *value.shape[dim + 1 :]))
        else:
            bounds = [(at * size // count, -(-(at + 1) * size // count)) for at in range(count)]
            value = emit.concatenate([combine(_slice(value, dim, *bound), dim) for bound in bounds], dim)
    return value


def _slice(value: Tracer, dim: int, start: int, end: int) -> Tracer:
    starts = [start if at == dim else 0 for at in range(value.ndim)]
    limits = [end if at == dim else size for at, size in enumerate(value.shape)]
    return emit.slice_(value, starts, limits, [1] * value.ndim)


def _all_space(value: Tracer, data_format: str, what: str) -> tuple[int, ...]:
    if data_format not in ("channels_last", "channels_first"):
        raise misfit(what, f"there is no data_format {data_format!r}", "it is 'channels_last' or 'channels_first'")
    if value.ndim < 3:
        raise misfit(what, f"the input has {value.ndim} dims, and none of space")
    return tuple(range(1, value.ndim - 1) if data_format == "channels_last" else range(2, value.ndim))
