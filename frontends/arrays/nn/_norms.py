"""Norms: elements less their mean, over their deviation, along some dims."""

from __future__ import annotations

from collections.abc import Callable

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.settings import Dims, dim_of, dims_of
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import value_error
from shardwright.dialects import stablehlo
from shardwright.frontends.arrays.elementwise.functions import maximum, rsqrt
from shardwright.frontends.arrays.nn._batch_parts import batch_parts
from shardwright.frontends.arrays.nn._parts import misfit, operand
from shardwright.frontends.arrays.reducing.reductions import averaged, reduced, variance, widened
from shardwright.frontends.functions.dispatch import array_function

__all__ = ["batch_norm", "group_norm", "l2_normalize", "layer_norm", "moments", "rms_norm"]


@array_function
def layer_norm(
    x: ArrayLike,
    /,
    scale: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    *,
    axis: Dims = -1,
    eps: float = 1e-5,
) -> Array:
    """
    The elements less their mean, over their standard deviation, along the dims in `axis`; then scaled and moved.

    `scale` and `offset` broadcast against `x`.

    >>> import shardwright, numpy
    >>> shardwright.nn.layer_norm(numpy.array([1.0, 3.0]), eps=0.0)
    array([-1.,  1.])
    """
    value = operand(x, "layer_norm")
    return _scaled(_normal(value, dims_of(axis, value.ndim, "layer_norm"), eps), scale, offset)


def _normal(value: Tracer, dims: tuple[int, ...], eps: float) -> Tracer:
    """In 32 bits at least: squares of 16-bit floats would overflow."""
    wide = widened(value)
    centred = wide - averaged(wide, dims, 0, keepdims=True)
    return emit.convert(centred * rsqrt(variance(wide, dims, 0, keepdims=True) + float(eps)), value.dtype)


def _scaled(value: Tracer, scale: ArrayLike | None, offset: ArrayLike | None) -> Tracer:
    """The value times `scale` plus `offset`, where they are given."""
    for other, operation in ((scale, stablehlo.MultiplyOp), (offset, stablehlo.AddOp)):
        if other is not None:
            value = emit.binary(operation, *emit.operands("a norm", value, other))
    return value


@array_function
def rms_norm(x: ArrayLike, /, scale: ArrayLike | None = None, *, axis: Dims = -1, eps: float = 1e-6) -> Array:
    """The elements over the root of their mean square along the dims in `axis`; then scaled."""
    value = operand(x, "rms_norm")
    wide = widened(value)
    squares = averaged(wide * wide, dims_of(axis, value.ndim, "rms_norm"), 0, keepdims=True)
    return _scaled(emit.convert(wide * rsqrt(squares + float(eps)), value.dtype), scale, None)


@array_function
def group_norm(
    x: ArrayLike,
    /,
    groups: int,
    scale: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    *,
    axis: int = -1,
    eps: float = 1e-5,
) -> Array:
    """
    For each element of the batch (the first dim): features in groups, each group and all of space with its own norm.

    `axis` is the dim of the features; `scale` and `offset` have one number for each. Raises `ValueError` (SW0541) where
    the groups do not fit.

    >>> import shardwright, numpy
    >>> shardwright.nn.group_norm(numpy.array([[1.0, 3.0, 5.0, 9.0]]), 2, eps=0.0)
    array([[-1.,  1., -1.,  1.]])
    """
    value = operand(x, "group_norm")
    dim = dim_of(axis, value.ndim, "group_norm")
    features = value.shape[dim]
    if groups < 1 or features % groups or dim == 0:
        raise misfit("group_norm", f"{groups} groups do not fit {features} features in dim {dim}")
    split = emit.reshape(value, (*value.shape[:dim], groups, features // groups, *value.shape[dim + 1 :]))
    dims = tuple(at for at in range(1, split.ndim) if at != dim)
    whole = emit.reshape(_normal(split, dims, eps), value.shape)
    return _scaled(whole, *(_by_feature(given, dim, value.ndim) for given in (scale, offset)))


def _by_feature(given: ArrayLike | None, dim: int, rank: int) -> Tracer | None:
    """One number for each feature, so that it broadcasts against dim `dim`; other shapes as they are."""
    if given is None:
        return None
    value = emit.as_tracer(given, "a norm")
    return emit.reshape(value, (*value.shape, *(1,) * (rank - 1 - dim))) if value.ndim == 1 else value


@array_function
def moments(x: ArrayLike, /, axes: Dims = None, *, keepdims: bool = False) -> tuple[Array, Array]:
    """Mean and variance over the dims in `axes`: a pair (RFC: `tf.nn.moments`)."""
    value = operand(x, "moments")
    dims = dims_of(axes, value.ndim, "moments")
    return averaged(value, dims, 0, keepdims), variance(value, dims, 0, keepdims)


@array_function
def batch_norm(
    x: ArrayLike,
    /,
    mean: ArrayLike | None = None,
    variance: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    *,
    axis: int = -1,
    eps: float = 1e-3,
    sync: bool = True,
) -> Array:
    """
    Each feature (dim `axis`) less its mean, over its deviation; then scaled and moved.

    With `mean` and `variance` these are taken. Without them they are those of the batch, which is dim 0: of the whole
    batch (`sync=True`), or of each device's part of it alone (`sync=False`), which sends nothing. For the latter the
    layout must say how the batch is split: raises `ValueError` (SW0542) where it does not.

    >>> import shardwright, numpy
    >>> x = numpy.array([[1.0], [3.0], [10.0], [30.0]])
    >>> split = shardwright.relayout(x, shardwright.Layout(["x"], shardwright.Mesh(x=2)))
    >>> shardwright.nn.batch_norm(split, eps=0.0, sync=False).numpy()[:, 0]
    array([-1.,  1., -1.,  1.])
    """
    value = operand(x, "batch_norm")
    dim = dim_of(axis, value.ndim, "batch_norm")
    if (mean is None) != (variance is None):
        raise misfit("batch_norm", "mean and variance are given together, or neither is")
    if mean is not None:
        known = [_by_feature(given, dim, value.ndim) for given in (mean, variance)]
        wide = widened(value)
        centre, spread = (emit.convert(given, wide.dtype) for given in known if given is not None)
        done = emit.convert((wide - centre) * rsqrt(spread + float(eps)), value.dtype)
    elif sync:
        done = _normal(value, tuple(at for at in range(value.ndim) if at != dim), eps)
    else:
        done = _by_replica(value, dim, eps)
    return _scaled(done, *(_by_feature(given, dim, value.ndim) for given in (scale, offset)))


def _by_replica(value: Tracer, dim: int, eps: float) -> Tracer:
    """The batch as its parts and what is in a part, each part with its own norm."""
    parts = batch_parts(value, 0)
    if parts is None:
        raise value_error(
            "SW0542",
            "batch_norm(sync=False) has to know how the batch is split, and no layout says so",
            help="give the argument a layout, or put shardwright.relayout(x, layout) in front",
        )
    if dim == 0 or value.shape[0] % parts:
        raise misfit("batch_norm", f"a batch of {value.shape[0]} in dim 0 does not split into {parts} parts")
    split = emit.reshape(value, (parts, value.shape[0] // parts, *value.shape[1:]))
    dims = tuple(at for at in range(1, split.ndim) if at != dim + 1)
    return emit.reshape(_normal(split, dims, eps), value.shape)


def batch_norm_layer(*, axis: int = -1, eps: float = 1e-3, sync: bool = True) -> Callable[[ArrayLike], Array]:
    """
    A function that normalises its argument by its own statistics (RFC: `tf.batch_norm(sync=False)(t)`).

    >>> import shardwright, numpy
    >>> shardwright.batch_norm(eps=0.0)(numpy.array([[1.0], [3.0]]))
    array([[-1.],
           [ 1.]])
    """
    return lambda x: batch_norm(x, axis=axis, eps=eps, sync=sync)


@array_function
def l2_normalize(x: ArrayLike, /, *, axis: Dims = -1, eps: float = 1e-12) -> Array:
    """
    The elements over the root of the sum of their squares along the dims in `axis`, which counts as `eps` at least.

    >>> import shardwright, numpy
    >>> shardwright.nn.l2_normalize(numpy.array([3.0, 4.0]))
    array([0.6, 0.8])
    """
    value = operand(x, "l2_normalize")
    dims = dims_of(axis, value.ndim, "l2_normalize")
    wide = widened(value)
    squares = reduced(wide * wide, stablehlo.AddOp, dims, keepdims=True)
    return emit.convert(wide * rsqrt(maximum(squares, float(eps))), value.dtype)
