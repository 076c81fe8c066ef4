"""Softmax and its kin, and the losses that are made of them; a dim of classes may be split."""

from __future__ import annotations

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import kind_of
from shardwright.compiler.tracing.settings import Dims, dim_of, dims_of
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.gradients import StopGradientOp
from shardwright.frontends.arrays.elementwise.functions import exp, isfinite, log, log1p, maximum, where
from shardwright.frontends.arrays.indexing.picking import counting
from shardwright.frontends.arrays.nn._parts import misfit, operand
from shardwright.frontends.arrays.reducing.reductions import reduced, summed, widened
from shardwright.frontends.functions.dispatch import array_function

__all__ = [
    "log_softmax",
    "logsumexp",
    "sigmoid_cross_entropy",
    "sigmoid_cross_entropy_with_logits",
    "softmax",
    "softmax_cross_entropy",
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
]


@array_function
def softmax(x: ArrayLike, /, *, axis: Dims = -1) -> Array:
    """
    The exponentials, divided by their sum over the dims in `axis`.

    >>> import shardwright, numpy
    >>> shardwright.nn.softmax(numpy.zeros(4))
    array([0.25, 0.25, 0.25, 0.25])
    """
    value = operand(x, "softmax")
    dims = dims_of(axis, value.ndim, "softmax")
    powers = exp(value - _largest(value, dims))
    return powers / _total(emit.as_tracer(powers), dims)


@array_function
def log_softmax(x: ArrayLike, /, *, axis: Dims = -1) -> Array:
    """The logarithm of `softmax`, without its rounding near zero."""
    value = operand(x, "log_softmax")
    dims = dims_of(axis, value.ndim, "log_softmax")
    shifted = value - _largest(value, dims)
    return shifted - _log_total(shifted, dims)


def _total(value: Tracer, dims: tuple[int, ...], *, keepdims: bool = True) -> Tracer:
    return summed(value, stablehlo.AddOp, dims, keepdims)


def _log_total(value: Tracer, dims: tuple[int, ...], *, keepdims: bool = True) -> Tracer:
    """The logarithm of the sum of exponentials; in 16 bits the sum of many would overflow."""
    total = reduced(widened(emit.as_tracer(exp(value))), stablehlo.AddOp, dims, keepdims)
    return emit.convert(emit.as_tracer(log(total)), value.dtype)


def _largest(value: Tracer, dims: tuple[int, ...]) -> Tracer:
    """The maximum over `dims`, so that exponentials do not overflow; a constant for gradients, since it cancels out."""
    return emit.unary(StopGradientOp, reduced(value, stablehlo.MaximumOp, dims, keepdims=True))


@array_function
def logsumexp(x: ArrayLike, /, *, axis: Dims = None, keepdims: bool = False) -> Array:
    """
    The logarithm of the sum of exponentials over the dims in `axis`, without overflow.

    >>> import shardwright, numpy
    >>> shardwright.nn.logsumexp(numpy.array([1000.0, 1000.0])).round(4)
    np.float64(1000.6931)
    """
    value = operand(x, "logsumexp")
    dims = dims_of(axis, value.ndim, "logsumexp")
    largest = _largest(value, dims)
    top = where(isfinite(largest), largest, 0)
    result = _log_total(emit.as_tracer(value - top), dims) + top
    return result if keepdims else emit.reshape(emit.as_tracer(result), _without(value.shape, dims))


def _without(shape: tuple[int, ...], dims: tuple[int, ...]) -> list[int]:
    return [size for dim, size in enumerate(shape) if dim not in dims]


@array_function
def softmax_cross_entropy(logits: ArrayLike, labels: ArrayLike, /, *, axis: int = -1) -> Array:
    """
    Minus the logarithm of the probability that `softmax` of the logits along dim `axis` gives the labels.

    Labels are whole numbers, one for each row of logits, or floats of the logits' shape: the wanted probabilities. A
    label outside of the classes has loss `logsumexp(logits)`.

    >>> import shardwright, numpy
    >>> shardwright.nn.softmax_cross_entropy(numpy.zeros((1, 2)), numpy.array([1])).round(4)
    array([0.6931])
    """
    value = operand(logits, "softmax_cross_entropy")
    dim = dim_of(axis, value.ndim, "softmax_cross_entropy")
    wanted = emit.as_tracer(labels, "softmax_cross_entropy")
    sparse = kind_of(wanted.dtype) == "integer"
    due = tuple(_without(value.shape, (dim,))) if sparse else value.shape
    if wanted.shape != due or kind_of(wanted.dtype) not in ("integer", "float"):
        raise misfit(
            "softmax_cross_entropy",
            f"labels of {wanted.dtype} {list(wanted.shape)} do not fit logits of {list(value.shape)}",
            "they are whole numbers without the dim of classes, or floats with it",
        )
    if sparse:
        return _sparse(value, wanted, dim)
    parts = emit.convert(wanted, value.dtype) * log_softmax(value, axis=dim)
    return -_total(parts, (dim,), keepdims=False)


def _sparse(value: Tracer, labels: Tracer, dim: int) -> Tracer:
    """The logit of each label is found by comparing, so that split classes give one sum more."""
    others = [at for at in range(value.ndim) if at != dim]
    counted = emit.convert(labels, counting(labels.dtype, value.shape[dim] - 1))
    wide = emit.broadcast_in_dim(counted, value.shape, others)
    hit = wide == emit.iota(counted.dtype, value.shape, dim)
    largest = _largest(value, (dim,))
    shifted = value - largest
    total = _log_total(shifted, (dim,), keepdims=False)
    chosen = where(hit, shifted, 0)
    # Without a class the largest logit, which was taken off before, is what is missing.
    known = (counted >= 0) & (counted < value.shape[dim])
    total = where(known, total, total + emit.reshape(largest, total.shape))
    return emit.as_tracer(total) - _total(emit.as_tracer(chosen), (dim,), keepdims=False)


@array_function
def softmax_cross_entropy_with_logits(labels: ArrayLike, logits: ArrayLike, axis: int = -1) -> Array:
    """`softmax_cross_entropy` with TensorFlow's order of arguments: probabilities, then logits."""
    return softmax_cross_entropy(logits, labels, axis=axis)


@array_function
def sparse_softmax_cross_entropy_with_logits(labels: ArrayLike, logits: ArrayLike) -> Array:
    """`softmax_cross_entropy` with TensorFlow's order of arguments: whole numbers, then logits."""
    return softmax_cross_entropy(logits, labels)


@array_function
def sigmoid_cross_entropy(logits: ArrayLike, labels: ArrayLike, /) -> Array:
    """
    Minus the logarithm of the probability that `sigmoid` of each logit gives its label, from 0 to 1; no overflow.

    >>> import shardwright, numpy
    >>> shardwright.nn.sigmoid_cross_entropy(numpy.array([0.0]), numpy.array([1.0])).round(4)
    array([0.6931])
    """
    value = operand(logits, "sigmoid_cross_entropy")
    wanted = emit.convert(emit.as_tracer(labels, "sigmoid_cross_entropy"), value.dtype)
    if wanted.shape != value.shape:
        raise misfit("sigmoid_cross_entropy", f"labels {list(wanted.shape)} do not fit logits {list(value.shape)}")
    rest = log1p(exp(-abs(value)))
    return maximum(value, 0) - value * wanted + rest


@array_function
def sigmoid_cross_entropy_with_logits(labels: ArrayLike, logits: ArrayLike) -> Array:
    """`sigmoid_cross_entropy` with TensorFlow's order of arguments."""
    return sigmoid_cross_entropy(logits, labels)
