"""Pooling: the largest or the mean element of each window, in one to three spatial dims."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import stablehlo
from shardwright.frontends.arrays.indexing.picking import cut
from shardwright.frontends.arrays.nn._parts import (
    SPACE,
    Format,
    Numbers,
    Padding,
    misfit,
    numbers_for,
    operand,
    spatial_dims,
    swept,
)
from shardwright.frontends.arrays.reducing.reductions import averaged, reduced, widened
from shardwright.frontends.functions.dispatch import array_function, named
from shardwright.layout.planning.sweep import Sweep
from shardwright.rules.reductions import MONOIDS

__all__ = [
    "adaptive_avg_pool",
    "adaptive_max_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "global_avg_pool",
    "global_max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
]

Kind = Literal["max", "avg"]

_POOL = """
    {found} of each window of `x` (batch, {space}, features){known}.

    `window` and `strides` are one number, or one for each spatial dim; without `strides` windows stand side by side.
    `padding` is `"VALID"`, `"SAME"` or a pair of numbers for each spatial dim. Raises `ValueError` (SW0541) for a shape
    or a `data_format` that does not fit.

    >>> import shardwright, numpy
    >>> shardwright.nn.{name}(numpy.arange(4.0).reshape({shape}), 2, padding="SAME").ravel()
    array([{example}])
    """


def _pool(kind: Kind, rank: int):
    """The public function for windows in `rank` spatial dims."""
    name = f"{kind}_pool{rank}d"
    doc = _POOL.format(
        name=name,
        found="The largest element" if kind == "max" else "The mean",
        known="" if kind == "max" else ", of the elements that are not padding",
        space=SPACE[rank],
        shape=", ".join("1" * rank + "41"),
        example="1., 3." if kind == "max" else "0.5, 2.5",
    )

    @named(name, doc)
    def pool(
        x: ArrayLike,
        /,
        window: Numbers,
        strides: Numbers | None = None,
        padding: Padding = "VALID",
        *,
        data_format: Format = None,
    ) -> Array:
        value = operand(x, name)
        _, space = spatial_dims(rank, value.ndim, data_format, name)
        windows = numbers_for(window, rank, name, "window")
        steps = windows if strides is None else numbers_for(strides, rank, name, "strides")
        found = iter(swept([value.shape[dim] for dim in space], windows, steps, padding, (1,) * rank, name))
        sweeps = [next(found) if dim in space else Sweep(1) for dim in range(value.ndim)]
        operation = stablehlo.MaximumOp if kind == "max" else stablehlo.AddOp
        wide = value if kind == "max" else widened(value)
        start = emit.constant(MONOIDS[operation].identity(wide.dtype), wide.dtype)
        op = stablehlo.ReduceWindowOp([wide.value], [start.value], sweeps, operation)
        total = emit.trace_now().emit(op)
        return total if kind == "max" else emit.convert(_mean(total, sweeps, value.shape), value.dtype)

    return pool


max_pool1d, max_pool2d, max_pool3d = (_pool("max", rank) for rank in SPACE)
avg_pool1d, avg_pool2d, avg_pool3d = (_pool("avg", rank) for rank in SPACE)


def _mean(total: Tracer, sweeps: list[Sweep], shape: tuple[int, ...]) -> Tracer:
    for dim, sweep in enumerate(sweeps):
        if sweep.size > 1 or sweep.low or sweep.high:
            counts = _counts(sweep, shape[dim])
            row = emit.constant(counts.astype(total.dtype), total.dtype)
            total = total / emit.broadcast_in_dim(row, total.shape, [dim])
    return total


def _counts(sweep: Sweep, size: int) -> Any:
    """How many elements that are not padding each window along one dim has."""
    starts = np.arange(sweep.result(size)) * sweep.stride - sweep.low
    return np.maximum(np.minimum(starts + sweep.size, size) - np.maximum(starts, 0), 0)


@array_function
def global_max_pool(x: ArrayLike, /, *, data_format: str = "channels_last", keepdims: bool = False) -> Array:
    """
    The largest element over all spatial dims, for each feature: (batch, features) of any number of spatial dims.

    `keepdims` keeps these with size 1. Raises `ValueError` (SW0541) for an unknown `data_format` and where there is no
    dim of space.

    >>> import shardwright, numpy
    >>> shardwright.nn.global_max_pool(numpy.arange(4.0).reshape(1, 2, 2, 1))
    array([[3.]])
    """
    value = operand(x, "global_max_pool")
    return _combined("max", value, _all_space(value, data_format, "global_max_pool"), keepdims)


@array_function
def global_avg_pool(x: ArrayLike, /, *, data_format: str = "channels_last", keepdims: bool = False) -> Array:
    """The mean over all spatial dims, for each feature, as `global_max_pool`."""
    value = operand(x, "global_avg_pool")
    return _combined("avg", value, _all_space(value, data_format, "global_avg_pool"), keepdims)


@array_function
def adaptive_max_pool(x: ArrayLike, /, output_size: Numbers, *, data_format: str = "channels_last") -> Array:
    """The largest elements of as many windows along each spatial dim as `output_size` says, as `adaptive_avg_pool`."""
    return _adaptive("max", x, output_size, data_format)


@array_function
def adaptive_avg_pool(x: ArrayLike, /, output_size: Numbers, *, data_format: str = "channels_last") -> Array:
    """
    The means of as many windows along each spatial dim as `output_size` says, as equal as can be.

    >>> import shardwright, numpy
    >>> shardwright.nn.adaptive_avg_pool(numpy.arange(5.0).reshape(1, 5, 1), 2)[0, :, 0]
    array([1., 3.])
    """
    return _adaptive("avg", x, output_size, data_format)


def _adaptive(kind: Kind, x: ArrayLike, output_size: Numbers, data_format: str) -> Tracer:
    """Dim by dim: result i of n is made of what lies from i/n to (i+1)/n of the dim."""
    name = f"adaptive_{kind}_pool"
    value = operand(x, name)
    space = _all_space(value, data_format, name)
    for dim, count in zip(space, numbers_for(output_size, len(space), name, "output_size"), strict=True):
        size = value.shape[dim]
        if size % count == 0:
            split = emit.reshape(value, (*value.shape[:dim], count, size // count, *value.shape[dim + 1 :]))
            done = _combined(kind, split, (dim + 1,), True)
            value = emit.reshape(done, (*value.shape[:dim], count, *value.shape[dim + 1 :]))
        else:
            bounds = [(at * size // count, -(-(at + 1) * size // count)) for at in range(count)]
            value = emit.concatenate([_combined(kind, cut(value, dim, *bound), (dim,), True) for bound in bounds], dim)
    return value


def _combined(kind: Kind, value: Tracer, dims: tuple[int, ...], keepdims: bool) -> Tracer:
    if kind == "max":
        return reduced(value, stablehlo.MaximumOp, dims, keepdims)
    return averaged(value, dims, 0, keepdims)


def _all_space(value: Tracer, data_format: str, what: str) -> tuple[int, ...]:
    if data_format not in ("channels_last", "channels_first"):
        raise misfit(what, f"there is no data_format {data_format!r}", "it is 'channels_last' or 'channels_first'")
    if value.ndim < 3:
        raise misfit(what, f"the input has {value.ndim} dims, and none of space")
    return tuple(range(1, value.ndim - 1) if data_format == "channels_last" else range(2, value.ndim))
