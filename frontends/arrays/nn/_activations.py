"""Activations: functions of single elements between the layers of a network."""

from __future__ import annotations

import math
from typing import Any

from shardwright.compiler.control.gradients import ruled
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import check_kind
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import chlo, stablehlo
from shardwright.frontends.arrays.elementwise.functions import exp, expm1, log1p, maximum, tanh, where
from shardwright.frontends.arrays.nn._parts import operand
from shardwright.frontends.functions.dispatch import array_function

__all__ = [
    "celu",
    "elu",
    "gelu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "leaky_relu",
    "log_sigmoid",
    "mish",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "softplus",
    "softsign",
    "swish",
]


@array_function
def relu(x: ArrayLike, /) -> Array:
    """
    The elements above zero, zero for the others; at zero the gradient is zero.

    >>> import shardwright, numpy
    >>> shardwright.nn.relu(numpy.array([-1.0, 2.0]))
    array([0., 2.])
    """
    value = emit.as_tracer(x, "relu")
    check_kind(value.dtype, ("integer", "float"), "relu")
    zero = emit.constant(0, value.dtype, value.shape)
    above: Tracer = emit.as_tracer(maximum(value, zero))
    if value.dtype.kind in "iu":
        return above

    def with_gradient(value: Tracer) -> tuple[Tracer, Any]:
        return above, lambda dy: where(value > zero, dy, zero)  # pyright: ignore

    return ruled(with_gradient)(value)


@array_function
def relu6(x: ArrayLike, /) -> Array:
    """The elements, from zero to six; at both ends the gradient is zero."""
    return _limited(_limited(operand(x, "relu6"), "LE", 0), "GE", 6)


def _limited(value: Tracer, direction: str, bound: float) -> Tracer:
    """The bound where the value relates to it so: there it is constant, also for gradients."""
    limit = emit.constant(bound, value.dtype, value.shape)
    return emit.select(emit.compare(direction, value, limit), limit, value)


def _above(value: Tracer, on_true: Tracer, on_false: Tracer) -> Tracer:
    """One value where `value` is above zero, the other elsewhere."""
    return emit.as_tracer(where(value > 0, on_true, on_false))


@array_function
def leaky_relu(x: ArrayLike, /, alpha: float = 0.2) -> Array:
    """The elements above zero, `alpha` times the others."""
    value = operand(x, "leaky_relu")
    return _above(value, value, value * float(alpha))


@array_function
def elu(x: ArrayLike, /, alpha: float = 1.0) -> Array:
    """The elements above zero, `alpha (exp(x) - 1)` for the others."""
    value = operand(x, "elu")
    return _above(value, value, _below(value) * float(alpha))


def _below(value: Tracer) -> Tracer:
    """`exp(x) - 1` of what is not above zero, so that nothing overflows where it is not taken."""
    zero = emit.constant(0, value.dtype, value.shape)
    return emit.as_tracer(expm1(_above(value, zero, value)))


@array_function
def celu(x: ArrayLike, /, alpha: float = 1.0) -> Array:
    """The elements above zero, `alpha (exp(x / alpha) - 1)` for the others."""
    value = operand(x, "celu")
    return _above(value, value, _below(value / float(alpha)) * float(alpha))


@array_function
def selu(x: ArrayLike, /) -> Array:
    """`elu` with the two constants that keep mean and variance."""
    value = operand(x, "selu")
    alpha, scale = 1.6732632423543772, 1.0507009873554805
    return _above(value, value, _below(value) * alpha) * scale


@array_function
def sigmoid(x: ArrayLike, /) -> Array:
    """`1 / (1 + exp(-x))`."""
    return emit.unary(stablehlo.LogisticOp, operand(x, "sigmoid"))


@array_function
def log_sigmoid(x: ArrayLike, /) -> Array:
    """The logarithm of `sigmoid`, without its rounding."""
    return -softplus(-operand(x, "log_sigmoid"))


@array_function
def silu(x: ArrayLike, /) -> Array:
    """The elements times their sigmoid."""
    value = operand(x, "silu")
    return value * sigmoid(value)


swish = silu


@array_function
def gelu(x: ArrayLike, /, *, approximate: bool = True) -> Array:
    """The elements times the normal distribution's share below them; `approximate` uses the tanh form."""
    value = operand(x, "gelu")
    half = 0.5 * value
    if approximate:
        inner = tanh(math.sqrt(2 / math.pi) * (value + 0.044715 * (value * value * value)))
    else:
        inner = emit.unary(chlo.ErfOp, value * math.sqrt(0.5))
    return half * (1 + inner)


@array_function
def softplus(x: ArrayLike, /) -> Array:
    """`log(1 + exp(x))`, which does not overflow."""
    value = operand(x, "softplus")
    rest = log1p(exp(-abs(value)))
    return maximum(value, 0) + rest


@array_function
def softsign(x: ArrayLike, /) -> Array:
    """`x / (1 + |x|)`."""
    value = operand(x, "softsign")
    return value / (emit.constant(1, value.dtype, value.shape) + abs(value))


@array_function
def mish(x: ArrayLike, /) -> Array:
    """The elements times the hyperbolic tangent of their `softplus`."""
    value = operand(x, "mish")
    return value * tanh(softplus(value))


@array_function
def hard_sigmoid(x: ArrayLike, /) -> Array:
    """`relu6(x + 3) / 6`."""
    return relu6(operand(x, "hard_sigmoid") + 3) / 6


@array_function
def hard_silu(x: ArrayLike, /) -> Array:
    """The elements times their `hard_sigmoid`."""
    value = operand(x, "hard_silu")
    return value * hard_sigmoid(value)


hard_swish = hard_silu


@array_function
def hard_tanh(x: ArrayLike, /) -> Array:
    """The elements, from -1 to 1."""
    return _limited(_limited(operand(x, "hard_tanh"), "LT", -1), "GT", 1)
