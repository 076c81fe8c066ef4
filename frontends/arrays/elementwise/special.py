"""More element-wise functions of the array API standard: angles, parts of numbers and of their bits."""

from __future__ import annotations

import math

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import DEFAULT_FLOAT, check_kind, kind_of
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.types import dtype_element
from shardwright.frontends.functions.dispatch import array_function

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "conj",
    "copysign",
    "cosh",
    "erf",
    "hypot",
    "imag",
    "nextafter",
    "real",
    "signbit",
    "sinh",
]

NUMERIC = ("integer", "float", "complex")


def _function(operation: type[chlo.ChloUnaryOp], x: ArrayLike, what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    if value.scalar_kind == "integer":
        value = emit.convert(value, DEFAULT_FLOAT)
    check_kind(value.dtype, ("float", "complex"), what)
    return emit.unary(operation, value)


@array_function
def acos(x: ArrayLike, /) -> Array:
    """The inverse cosine."""
    return _function(chlo.AcosOp, x, "acos")


@array_function
def acosh(x: ArrayLike, /) -> Array:
    """The inverse hyperbolic cosine."""
    return _function(chlo.AcoshOp, x, "acosh")


@array_function
def asin(x: ArrayLike, /) -> Array:
    """
    The inverse sine.

    >>> import shardwright, numpy
    >>> shardwright.asin(numpy.array([0.0]))
    array([0.])
    """
    return _function(chlo.AsinOp, x, "asin")


@array_function
def asinh(x: ArrayLike, /) -> Array:
    """The inverse hyperbolic sine."""
    return _function(chlo.AsinhOp, x, "asinh")


@array_function
def atan(x: ArrayLike, /) -> Array:
    """The inverse tangent."""
    return _function(chlo.AtanOp, x, "atan")


@array_function
def atanh(x: ArrayLike, /) -> Array:
    """The inverse hyperbolic tangent."""
    return _function(chlo.AtanhOp, x, "atanh")


@array_function
def cosh(x: ArrayLike, /) -> Array:
    """The hyperbolic cosine."""
    return _function(chlo.CoshOp, x, "cosh")


@array_function
def sinh(x: ArrayLike, /) -> Array:
    """The hyperbolic sine."""
    return _function(chlo.SinhOp, x, "sinh")


@array_function
def erf(x: ArrayLike, /) -> Array:
    """The error function (not in the standard)."""
    value = emit.as_tracer(x, "erf")
    check_kind(value.dtype, ("float",), "erf")
    return emit.unary(chlo.ErfOp, value)


@array_function
def conj(x: ArrayLike, /) -> Array:
    """The complex conjugate; real numbers stay as they are."""
    value = emit.as_tracer(x, "conj")
    check_kind(value.dtype, NUMERIC, "conj")
    return emit.unary(chlo.ConjOp, value) if kind_of(value.dtype) == "complex" else value


@array_function
def real(x: ArrayLike, /) -> Array:
    """
    The real parts.

    >>> import shardwright, numpy
    >>> shardwright.real(numpy.array([1 + 2j]))
    array([1.])
    """
    value = emit.as_tracer(x, "real")
    check_kind(value.dtype, NUMERIC, "real")
    return emit.unary(stablehlo.RealOp, value) if kind_of(value.dtype) == "complex" else value


@array_function
def imag(x: ArrayLike, /) -> Array:
    """The imaginary parts; those of real numbers are zero."""
    value = emit.as_tracer(x, "imag")
    check_kind(value.dtype, NUMERIC, "imag")
    if kind_of(value.dtype) == "complex":
        return emit.unary(stablehlo.ImagOp, value)
    return emit.constant(0, value.dtype, value.shape)


@array_function
def signbit(x: ArrayLike, /) -> Array:
    """
    Whether the sign bit is set, also that of -0.0 and of NaNs.

    >>> import shardwright, numpy
    >>> shardwright.signbit(numpy.array([-0.0, 0.0]))
    array([ True, False])
    """
    value = emit.as_tracer(x, "signbit")
    check_kind(value.dtype, ("float",), "signbit")
    return _signbit(value)


def _signbit(value: Tracer) -> Tracer:
    whole = np.dtype(f"int{value.dtype.itemsize * 8}")
    bits = emit.trace_now().emit(stablehlo.BitcastConvertOp(value.value, dtype_element(whole)))
    return emit.compare("LT", bits, emit.constant(0, whole, value.shape))


@array_function
def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The absolute values of `x1` with the signs of `x2`."""
    left, right = _floats("copysign", x1, x2)
    size = emit.unary(stablehlo.AbsOp, left)
    return emit.select(_signbit(right), emit.unary(stablehlo.NegateOp, size), size)


@array_function
def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """
    The square root of the sum of squares, which does not overflow on the way.

    >>> import shardwright, numpy
    >>> shardwright.hypot(numpy.array([3e200]), numpy.array([4e200]))
    array([5.e+200])
    """
    left, right = (emit.unary(stablehlo.AbsOp, value) for value in _floats("hypot", x1, x2))
    large, small = emit.binary(stablehlo.MaximumOp, left, right), emit.binary(stablehlo.MinimumOp, left, right)
    zero, one, infinite = (emit.constant(number, large.dtype, large.shape) for number in (0, 1, math.inf))
    ratio = emit.binary(stablehlo.DivideOp, small, emit.select(emit.compare("EQ", large, zero), one, large))
    square = emit.binary(stablehlo.MultiplyOp, ratio, ratio)
    root = emit.unary(stablehlo.SqrtOp, emit.binary(stablehlo.AddOp, one, square))
    either = emit.binary(stablehlo.OrOp, *(emit.compare("EQ", value, infinite) for value in (left, right)))
    return emit.select(either, infinite, emit.binary(stablehlo.MultiplyOp, large, root))


@array_function
def nextafter(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The floats next to `x1` in the direction of `x2`."""
    left, right = _floats("nextafter", x1, x2)
    return emit.trace_now().emit(chlo.NextAfterOp(left.value, right.value))


def _floats(what: str, x1: ArrayLike, x2: ArrayLike) -> list[Tracer]:
    values = emit.operands(what, x1, x2)
    check_kind(values[0].dtype, ("float",), what)
    return values
