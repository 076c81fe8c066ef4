"""Activations: functions of single elements between the layers of a network."""

from __future__ import annotations

import math
from typing import Any

from shardwright.compiler.control.gradients import custom_gradient
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.dtypes import check_kind
from shardwright.compiler.tracing.emit import Value
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import chlo, stablehlo
from shardwright.frontends.arrays.nn._parts import operand, over, plus, scalar, times
from shardwright.frontends.functions.dispatch import array_function


@array_function
def relu(x: Value, /) -> Any:
    """
    The elements above zero, zero for the others; at zero the gradient is zero.

    >>> import shardwright, numpy
    >>> shardwright.nn.relu(numpy.array([-1.0, 2.0]))
    array([0., 2.])
    """
    value = emit.as_tracer(x, "relu")
    check_kind(value.dtype, ("integer", "float"), "relu")
    zero = scalar(0, value)
    above = emit.binary(stablehlo.MaximumOp, value, zero)
    if value.dtype.kind in "iu":
        return above

    def with_gradient(value: Tracer) -> tuple[Tracer, Any]:
        return above, lambda dy: emit.select(emit.compare("GT", value, zero), dy, zero)  # pyright: ignore

    return custom_gradient(with_gradient)(value)


@array_function
def relu6(x: Value, /) -> Any:
    """The elements, from zero to six; at both ends the gradient is zero."""
    return _relu6(operand(x, "relu6"))


def _relu6(value: Tracer) -> Tracer:
    return _limited(_limited(value, "LE", 0), "GE", 6)


def _limited(value: Tracer, direction: str, bound: float) -> Tracer:
    """The bound where the value relates to it so: there it is constant, also for gradients."""
    limit = scalar(bound, value)
    return emit.select(emit.compare(direction, value, limit), limit, value)


def _above(value: Tracer, on_true: Tracer, on_false: Tracer) -> Tracer:
    """One value where `value` is above zero, the other elsewhere."""
    return emit.select(emit.compare("GT", value, scalar(0, value)), on_true, on_false)


@array_function
def leaky_relu(x: Value, /, alpha: float = 0.2) -> Any:
    """The elements above zero, `alpha` times the others."""
    value = operand(x, "leaky_relu")
    return _above(value, value, times(value, scalar(alpha, value)))


@array_function
def elu(x: Value, /, alpha: float = 1.0) -> Any:
    """The elements above zero, `alpha (exp(x) - 1)` for the others."""
    value = operand(x, "elu")
    return _above(value, value, times(_below(value), scalar(alpha, value)))


def _below(value: Tracer) -> Tracer:
    """`exp(x) - 1` of what is not above zero, so that nothing overflows where it is not taken."""
    zero = scalar(0, value)
    return emit.unary(stablehlo.ExponentialMinusOneOp, _above(value, zero, value))


@array_function
def celu(x: Value, /, alpha: float = 1.0) -> Any:
    """The elements above zero, `alpha (exp(x / alpha) - 1)` for the others."""
    value = operand(x, "celu")
    return _above(value, value, times(_below(over(value, scalar(alpha, value))), scalar(alpha, value)))


@array_function
def selu(x: Value, /) -> Any:
    """`elu` with the two constants that keep mean and variance."""
    value = operand(x, "selu")
    alpha, scale = 1.6732632423543772, 1.0507009873554805
    return times(_above(value, value, times(_below(value), scalar(alpha, value))), scalar(scale, value))


@array_function
def sigmoid(x: Value, /) -> Any:
    """`1 / (1 + exp(-x))`."""
    return emit.unary(stablehlo.LogisticOp, operand(x, "sigmoid"))


@array_function
def log_sigmoid(x: Value, /) -> Any:
    """The logarithm of `sigmoid`, without its rounding."""
    value = operand(x, "log_sigmoid")
    return _negative(_softplus(_negative(value)))


@array_function
def silu(x: Value, /) -> Any:
    """The elements times their sigmoid."""
    value = operand(x, "silu")
    return times(value, emit.unary(stablehlo.LogisticOp, value))


swish = silu


@array_function
def gelu(x: Value, /, *, approximate: bool = True) -> Any:
    """The elements times the normal distribution's share below them; `approximate` uses the tanh form."""
    value = operand(x, "gelu")
    half = times(scalar(0.5, value), value)
    if not approximate:
        inner = emit.unary(chlo.ErfOp, times(value, scalar(math.sqrt(0.5), value)))
    else:
        cube = times(times(value, value), value)
        bent = plus(value, times(scalar(0.044715, value), cube))
        inner = emit.unary(stablehlo.TanhOp, times(scalar(math.sqrt(2 / math.pi), value), bent))
    return times(half, plus(scalar(1, value), inner))


@array_function
def softplus(x: Value, /) -> Any:
    """`log(1 + exp(x))`, which does not overflow."""
    return _softplus(operand(x, "softplus"))


def _negative(value: Tracer) -> Tracer:
    return emit.unary(stablehlo.NegateOp, value)


def _softplus(value: Tracer) -> Tracer:
    rest = emit.unary(stablehlo.LogPlusOneOp, emit.unary(stablehlo.ExponentialOp, _minus_size(value)))
    return plus(emit.binary(stablehlo.MaximumOp, value, scalar(0, value)), rest)


def _minus_size(value: Tracer) -> Tracer:
    return _negative(emit.unary(stablehlo.AbsOp, value))


@array_function
def softsign(x: Value, /) -> Any:
    """`x / (1 + |x|)`."""
    value = operand(x, "softsign")
    return over(value, plus(scalar(1, value), emit.unary(stablehlo.AbsOp, value)))


@array_function
def mish(x: Value, /) -> Any:
    """The elements times the hyperbolic tangent of their `softplus`."""
    value = operand(x, "mish")
    return times(value, emit.unary(stablehlo.TanhOp, _softplus(value)))


@array_function
def hard_sigmoid(x: Value, /) -> Any:
    """`relu6(x + 3) / 6`."""
    return _hard_sigmoid(operand(x, "hard_sigmoid"))


def _hard_sigmoid(value: Tracer) -> Tracer:
    return over(_relu6(plus(value, scalar(3, value))), scalar(6, value))


@array_function
def hard_silu(x: Value, /) -> Any:
    """The elements times their `hard_sigmoid`."""
    value = operand(x, "hard_silu")
    return times(value, _hard_sigmoid(value))


hard_swish = hard_silu


@array_function
def hard_tanh(x: Value, /) -> Any:
    """The elements, from -1 to 1."""
    return _limited(_limited(operand(x, "hard_tanh"), "LT", -1), "GT", 1)
