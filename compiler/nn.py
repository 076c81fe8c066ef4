"""
Functions of neural networks: `shardwright.nn`.

All are composed of the same operations as the rest, so that each dim may be split: a softmax over a split dim exchanges
one maximum and one sum for each row.
"""

from __future__ import annotations

import math
from typing import Any

from shardwright.compiler import emit
from shardwright.compiler.array_reductions import averaged, reduced, summed, variance
from shardwright.compiler.dims import Dims, dims_of
from shardwright.compiler.dispatch import array_function
from shardwright.compiler.dtypes import check_kind
from shardwright.compiler.emit import Value
from shardwright.compiler.trace import Tracer
from shardwright.dialects import chlo, stablehlo

__all__ = ["gelu", "layer_norm", "log_softmax", "relu", "rms_norm", "sigmoid", "silu", "softmax"]


def _operand(x: Value, what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    check_kind(value.dtype, ("float",), what)
    return value


def _scalar(number: float, like: Tracer) -> Tracer:
    return emit.constant(number, like.dtype, like.shape)


def _times(left: Tracer, right: Tracer) -> Tracer:
    return emit.binary(stablehlo.MultiplyOp, left, right)


def _plus(left: Tracer, right: Tracer) -> Tracer:
    return emit.binary(stablehlo.AddOp, left, right)


def _minus(left: Tracer, right: Tracer) -> Tracer:
    return emit.binary(stablehlo.SubtractOp, left, emit.broadcast(right, left.shape))


@array_function
def relu(x: Value, /) -> Any:
    """
    The elements above zero, zero for the others.

    >>> import shardwright, numpy
    >>> shardwright.nn.relu(numpy.array([-1.0, 2.0]))
    array([0., 2.])
    """
    value = emit.as_tracer(x, "relu")
    check_kind(value.dtype, ("integer", "float"), "relu")
    return emit.binary(stablehlo.MaximumOp, value, _scalar(0, value))


@array_function
def sigmoid(x: Value, /) -> Any:
    """`1 / (1 + exp(-x))`."""
    return emit.unary(stablehlo.LogisticOp, _operand(x, "sigmoid"))


@array_function
def silu(x: Value, /) -> Any:
    """The elements times their sigmoid."""
    value = _operand(x, "silu")
    return _times(value, emit.unary(stablehlo.LogisticOp, value))


@array_function
def gelu(x: Value, /, *, approximate: bool = True) -> Any:
    """The elements times the normal distribution's share below them; `approximate` uses the tanh form."""
    value = _operand(x, "gelu")
    half = _times(_scalar(0.5, value), value)
    if not approximate:
        inner = emit.unary(chlo.ErfOp, _times(value, _scalar(math.sqrt(0.5), value)))
    else:
        cube = _times(_times(value, value), value)
        bent = _plus(value, _times(_scalar(0.044715, value), cube))
        inner = emit.unary(stablehlo.TanhOp, _times(_scalar(math.sqrt(2 / math.pi), value), bent))
    return _times(half, _plus(_scalar(1, value), inner))


@array_function
def softmax(x: Value, /, *, axis: Dims = -1) -> Any:
    """
    The exponentials, divided by their sum over the dims in `axis`.

    >>> import shardwright, numpy
    >>> shardwright.nn.softmax(numpy.zeros(4))
    array([0.25, 0.25, 0.25, 0.25])
    """
    value = _operand(x, "softmax")
    dims = dims_of(axis, value.ndim, "softmax")
    powers = emit.unary(stablehlo.ExponentialOp, _shifted(value, dims))
    total = summed(powers, stablehlo.AddOp, dims, keepdims=True)
    return emit.binary(stablehlo.DivideOp, powers, emit.broadcast(total, value.shape))


@array_function
def log_softmax(x: Value, /, *, axis: Dims = -1) -> Any:
    """The logarithm of `softmax`, without its rounding near zero."""
    value = _operand(x, "log_softmax")
    dims = dims_of(axis, value.ndim, "log_softmax")
    shifted = _shifted(value, dims)
    total = summed(emit.unary(stablehlo.ExponentialOp, shifted), stablehlo.AddOp, dims, keepdims=True)
    return _minus(shifted, emit.unary(stablehlo.LogOp, total))


def _shifted(value: Tracer, dims: tuple[int, ...]) -> Tracer:
    """The value less its maximum over `dims`, so that exponentials do not overflow."""
    return _minus(value, reduced(value, stablehlo.MaximumOp, dims, keepdims=True))


@array_function
def layer_norm(
    x: Value, /, scale: Value | None = None, offset: Value | None = None, *, axis: Dims = -1, eps: float = 1e-5
) -> Any:
    """
    The elements less their mean, over their standard deviation, along the dims in `axis`; then scaled and moved.

    `scale` and `offset` broadcast against `x`.

    >>> import shardwright, numpy
    >>> shardwright.nn.layer_norm(numpy.array([1.0, 3.0]), eps=0.0)
    array([-1.,  1.])
    """
    value = _operand(x, "layer_norm")
    dims = dims_of(axis, value.ndim, "layer_norm")
    centred = _minus(value, averaged(value, dims, 0, keepdims=True))
    spread = variance(value, dims, 0, keepdims=True)
    return _scaled(_normalized(centred, spread, eps), scale, offset)


@array_function
def rms_norm(x: Value, /, scale: Value | None = None, *, axis: Dims = -1, eps: float = 1e-6) -> Any:
    """The elements over the root of their mean square along the dims in `axis`; then scaled."""
    value = _operand(x, "rms_norm")
    squares = averaged(_times(value, value), dims_of(axis, value.ndim, "rms_norm"), 0, keepdims=True)
    return _scaled(_normalized(value, squares, eps), scale, None)


def _normalized(value: Tracer, squares: Tracer, eps: float) -> Tracer:
    factor = emit.unary(stablehlo.RsqrtOp, _plus(squares, _scalar(eps, squares)))
    return _times(value, emit.broadcast(factor, value.shape))


def _scaled(value: Tracer, scale: Value | None, offset: Value | None) -> Tracer:
    for other, operation in ((scale, stablehlo.MultiplyOp), (offset, stablehlo.AddOp)):
        if other is not None:
            value = emit.binary(operation, *emit.operands("a norm", value, other))
    return value
