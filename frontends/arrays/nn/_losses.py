"""Softmax and its kin, and the losses that are made of them; a dim of classes may be split."""

from __future__ import annotations

from typing import Any

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.dims import Dims, dim_of, dims_of
from shardwright.compiler.tracing.dtypes import kind_of
from shardwright.compiler.tracing.emit import Value
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor.gradients import StopGradientOp
from shardwright.frontends.arrays.nn._parts import minus, misfit, operand, over, plus, scalar, times
from shardwright.frontends.arrays.reducing.reductions import reduced, summed
from shardwright.frontends.functions.dispatch import array_function


@array_function
def softmax(x: Value, /, *, axis: Dims = -1) -> Any:
    """
    The exponentials, divided by their sum over the dims in `axis`.

    >>> import shardwright, numpy
    >>> shardwright.nn.softmax(numpy.zeros(4))
    array([0.25, 0.25, 0.25, 0.25])
    """
    value = operand(x, "softmax")
    dims = dims_of(axis, value.ndim, "softmax")
    powers = emit.unary(stablehlo.ExponentialOp, minus(value, _largest(value, dims)))
    return over(powers, summed(powers, stablehlo.AddOp, dims, keepdims=True))


@array_function
def log_softmax(x: Value, /, *, axis: Dims = -1) -> Any:
    """The logarithm of `softmax`, without its rounding near zero."""
    value = operand(x, "log_softmax")
    dims = dims_of(axis, value.ndim, "log_softmax")
    return _log_softmax(value, dims)


def _log_softmax(value: Tracer, dims: tuple[int, ...]) -> Tracer:
    shifted = minus(value, _largest(value, dims))
    total = summed(emit.unary(stablehlo.ExponentialOp, shifted), stablehlo.AddOp, dims, keepdims=True)
    return minus(shifted, emit.unary(stablehlo.LogOp, total))


def _largest(value: Tracer, dims: tuple[int, ...]) -> Tracer:
    """The maximum over `dims`, so that exponentials do not overflow; a constant for gradients, since it cancels out."""
    return emit.unary(StopGradientOp, reduced(value, stablehlo.MaximumOp, dims, keepdims=True))


@array_function
def logsumexp(x: Value, /, *, axis: Dims = None, keepdims: bool = False) -> Any:
    """
    The logarithm of the sum of exponentials over the dims in `axis`, without overflow.

    >>> import shardwright, numpy
    >>> shardwright.nn.logsumexp(numpy.array([1000.0, 1000.0])).round(4)
    np.float64(1000.6931)
    """
    value = operand(x, "logsumexp")
    dims = dims_of(axis, value.ndim, "logsumexp")
    top = _largest(value, dims)
    finite = emit.unary(stablehlo.IsFiniteOp, top)
    top = emit.select(finite, top, scalar(0, top))
    total = summed(emit.unary(stablehlo.ExponentialOp, minus(value, top)), stablehlo.AddOp, dims, keepdims=True)
    result = plus(emit.unary(stablehlo.LogOp, total), top)
    return result if keepdims else emit.reshape(result, _without(value.shape, dims))


def _without(shape: tuple[int, ...], dims: tuple[int, ...]) -> list[int]:
    return [size for dim, size in enumerate(shape) if dim not in dims]


@array_function
def softmax_cross_entropy(logits: Value, labels: Value, /, *, axis: int = -1) -> Any:
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
    parts = times(emit.convert(wanted, value.dtype), _log_softmax(value, (dim,)))
    return emit.unary(stablehlo.NegateOp, summed(parts, stablehlo.AddOp, (dim,), keepdims=False))


def _sparse(value: Tracer, labels: Tracer, dim: int) -> Tracer:
    """The logit of each label is found by comparing, so that split classes give one sum more."""
    others = [at for at in range(value.ndim) if at != dim]
    wide = emit.broadcast_in_dim(labels, value.shape, others)
    hit = emit.compare("EQ", wide, emit.iota(labels.dtype, value.shape, dim))
    shifted = minus(value, _largest(value, (dim,)))
    total = summed(emit.unary(stablehlo.ExponentialOp, shifted), stablehlo.AddOp, (dim,), keepdims=False)
    chosen = emit.select(hit, shifted, scalar(0, shifted))
    return minus(emit.unary(stablehlo.LogOp, total), summed(chosen, stablehlo.AddOp, (dim,), keepdims=False))


@array_function
def softmax_cross_entropy_with_logits(labels: Value, logits: Value, axis: int = -1) -> Any:
    """`softmax_cross_entropy` with TensorFlow's order of arguments: probabilities, then logits."""
    return softmax_cross_entropy(logits, labels, axis=axis)


@array_function
def sparse_softmax_cross_entropy_with_logits(labels: Value, logits: Value) -> Any:
    """`softmax_cross_entropy` with TensorFlow's order of arguments: whole numbers, then logits."""
    return softmax_cross_entropy(logits, labels)


@array_function
def sigmoid_cross_entropy(logits: Value, labels: Value, /) -> Any:
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
    size = emit.unary(stablehlo.NegateOp, emit.unary(stablehlo.AbsOp, value))
    rest = emit.unary(stablehlo.LogPlusOneOp, emit.unary(stablehlo.ExponentialOp, size))
    above = emit.binary(stablehlo.MaximumOp, value, scalar(0, value))
    return plus(minus(above, times(value, wanted)), rest)


@array_function
def sigmoid_cross_entropy_with_logits(labels: Value, logits: Value) -> Any:
    """`sigmoid_cross_entropy` with TensorFlow's order of arguments."""
    return sigmoid_cross_entropy(logits, labels)
