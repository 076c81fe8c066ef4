"""
The element-wise functions of the array API standard.

Each takes traced values, distributed tensors, NumPy arrays and Python scalars; shapes broadcast and types promote as
the standard says. The examples run at once, on one device, and so return `Tensor`s.
"""

from __future__ import annotations

import math

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import (
    BOOLEAN,
    DEFAULT_FLOAT,
    DTypeLike,
    as_dtype,
    check_kind,
    kind_of,
    promote_scalar,
)
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import type_error
from shardwright.dialects import stablehlo
from shardwright.frontends.arrays.types.inspection import check_device
from shardwright.frontends.functions.dispatch import array_function

__all__ = [
    "abs",
    "add",
    "astype",
    "atan2",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "cos",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "not_equal",
    "positive",
    "pow",
    "reciprocal",
    "remainder",
    "round",
    "rsqrt",
    "sign",
    "sin",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
    "where",
]

NUMERIC = ("integer", "float", "complex")
REAL = ("integer", "float")
ORDERED = ("boolean", *REAL)
INEXACT = ("float", "complex")
BITS = ("boolean", "integer")


def _unary(operation: type[stablehlo.UnaryOp], x: ArrayLike, kinds: tuple[str, ...], what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    check_kind(value.dtype, kinds, what)
    return emit.unary(operation, value)


def _binary(
    operation: type[stablehlo.BinaryOp], x1: ArrayLike, x2: ArrayLike, kinds: tuple[str, ...], what: str
) -> Tracer:
    left, right = emit.operands(what, x1, x2)
    check_kind(left.dtype, kinds, what)
    if emit.weak_kind(x1) and emit.weak_kind(x2):
        left.scalar_kind = right.scalar_kind = kind_of(left.dtype)
    return emit.binary(operation, left, right)


def _compare(direction: str, x1: ArrayLike, x2: ArrayLike, what: str) -> Tracer:
    left, right = emit.operands(what, x1, x2)
    if direction not in ("EQ", "NE"):  # complex numbers have no order
        check_kind(left.dtype, ORDERED, what)
    return emit.compare(direction, left, right)


def _float_operand(x: ArrayLike, what: str, kinds: tuple[str, ...] = INEXACT) -> Tracer:
    """The operand of a function that needs floats or complex numbers; a Python integer counts as a float."""
    value = emit.as_tracer(x, what)
    if value.scalar_kind == "integer":
        value = emit.convert(value, DEFAULT_FLOAT)
    check_kind(value.dtype, kinds, what)
    return value


@array_function
def add(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """
    The sum, element by element.

    >>> import shardwright, numpy
    >>> shardwright.add(numpy.arange(3), 1)
    array([1, 2, 3])
    """
    return _binary(stablehlo.AddOp, x1, x2, NUMERIC, "add")


@array_function
def subtract(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The difference, element by element."""
    return _binary(stablehlo.SubtractOp, x1, x2, NUMERIC, "subtract")


@array_function
def multiply(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The product, element by element."""
    return _binary(stablehlo.MultiplyOp, x1, x2, NUMERIC, "multiply")


@array_function
def divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The quotient of floats or complex numbers, element by element; for integers there is `floor_divide`."""
    if emit.weak_kind(x1) == emit.weak_kind(x2) == "integer":
        x1 = emit.fit(x1, DEFAULT_FLOAT, ())
    return _binary(stablehlo.DivideOp, x1, x2, INEXACT, "divide")


@array_function
def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """
    The quotient rounded down, element by element, as Python's `//`: what `remainder` leaves is a multiple of `x2`.

    >>> import shardwright, numpy
    >>> shardwright.floor_divide(numpy.array([7.0, -7.0, 1.0]), numpy.array([2.0, 2.0, 0.1]))
    array([ 3., -4.,  9.])
    """
    left, right = emit.operands("floor_divide", x1, x2)
    check_kind(left.dtype, REAL, "floor_divide")
    quotient = emit.binary(stablehlo.DivideOp, left, right)
    rest = emit.binary(stablehlo.RemainderOp, left, right)
    if kind_of(left.dtype) == "float":
        return _floats_divided(left, right, rest, quotient)
    one = emit.constant(1, left.dtype, left.shape)
    return emit.select(_differs(rest, right), emit.binary(stablehlo.SubtractOp, quotient, one), quotient)


def _floats_divided(left: Tracer, right: Tracer, rest: Tracer, quotient: Tracer) -> Tracer:
    """
    What is left without the rest is a multiple of the divisor but for rounding, whose quotient is nearly whole.

    The quotient itself may have been rounded up to a whole number. It serves where there is no rest (by zero, and of
    infinity), by infinity, as the standard has it, and has the sign of a result that is zero.
    """
    one, half, zero = (emit.constant(number, left.dtype, left.shape) for number in (1, 0.5, 0))
    whole = emit.binary(stablehlo.DivideOp, emit.binary(stablehlo.SubtractOp, left, rest), right)
    whole = emit.select(_differs(rest, right), emit.binary(stablehlo.SubtractOp, whole, one), whole)
    down = emit.unary(stablehlo.FloorOp, whole)
    lacking = emit.compare("GT", emit.binary(stablehlo.SubtractOp, whole, down), half)
    near = emit.select(lacking, emit.binary(stablehlo.AddOp, down, one), down)
    signed = emit.binary(stablehlo.MultiplyOp, quotient, zero)
    found = emit.select(emit.compare("EQ", near, zero), signed, near)
    # No number where the rest is none, or where the divisor is infinite.
    test = emit.binary(stablehlo.SubtractOp, rest, emit.binary(stablehlo.MultiplyOp, right, zero))
    return emit.select(emit.compare("NE", test, test), emit.unary(stablehlo.FloorOp, quotient), found)


@array_function
def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The remainder of `floor_divide`, with the divisor's sign, as Python's `%`."""
    left, right = emit.operands("remainder", x1, x2)
    check_kind(left.dtype, REAL, "remainder")
    rest = emit.binary(stablehlo.RemainderOp, left, right)
    moved = emit.select(_differs(rest, right), emit.binary(stablehlo.AddOp, rest, right), rest)
    if kind_of(left.dtype) != "float":
        return moved
    zero, minus_zero = (emit.constant(number, left.dtype, left.shape) for number in (0.0, -0.0))
    signed = emit.select(emit.compare("LT", right, zero), minus_zero, zero)
    return emit.select(emit.compare("EQ", rest, zero), signed, moved)


def _differs(rest: Tracer, divisor: Tracer) -> Tracer:
    """Where a truncated division has to be taken down by one: a remainder that has not the divisor's sign."""
    zero = emit.constant(0, rest.dtype, rest.shape)
    signs = emit.compare("NE", emit.compare("LT", rest, zero), emit.compare("LT", divisor, zero))
    return emit.binary(stablehlo.AndOp, signs, emit.compare("NE", rest, zero))


@array_function
def pow(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The power, element by element; small whole exponents become multiplications."""
    if type(x2) is int and 1 <= x2 <= 4:
        return _whole_power(emit.as_tracer(x1, "pow"), x2)
    return _binary(stablehlo.PowerOp, x1, x2, NUMERIC, "pow")


def _whole_power(value: Tracer, exponent: int) -> Tracer:
    check_kind(value.dtype, NUMERIC, "pow")
    square = value if exponent == 1 else emit.binary(stablehlo.MultiplyOp, value, value)
    if exponent <= 2:
        return square
    return emit.binary(stablehlo.MultiplyOp, square, value if exponent == 3 else square)


@array_function
def maximum(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The larger one, element by element; NaN where either is NaN."""
    return _binary(stablehlo.MaximumOp, x1, x2, REAL, "maximum")


@array_function
def minimum(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The smaller one, element by element; NaN where either is NaN."""
    return _binary(stablehlo.MinimumOp, x1, x2, REAL, "minimum")


@array_function
def clip(x: ArrayLike, /, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array:
    """
    The elements limited to `min` and `max`, which broadcast and keep the type of `x`.

    >>> import shardwright, numpy
    >>> shardwright.clip(numpy.arange(5), 1, 3)
    array([1, 1, 2, 3, 3])
    """
    value = emit.as_tracer(x, "clip")
    for bound, operation in ((min, stablehlo.MaximumOp), (max, stablehlo.MinimumOp)):
        if bound is not None:
            value = _binary(operation, value, bound, REAL, "clip")
    return value


@array_function
def atan2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The angle of the point `(x2, x1)`, from -pi to pi."""
    return _binary(stablehlo.Atan2Op, x1, x2, ("float",), "atan2")


@array_function
def logaddexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """`log(exp(x1) + exp(x2))` without overflow."""
    left, right = emit.operands("logaddexp", x1, x2)
    check_kind(left.dtype, ("float",), "logaddexp")
    top = emit.binary(stablehlo.MaximumOp, left, right)
    distance = emit.unary(stablehlo.AbsOp, emit.binary(stablehlo.SubtractOp, left, right))
    rest = emit.unary(stablehlo.LogPlusOneOp, emit.unary(stablehlo.ExponentialOp, _negative(distance)))
    # Equal infinities have no distance: their sum is themselves.
    same = emit.compare("EQ", left, right)
    log_two = emit.constant(math.log(2), left.dtype, left.shape)
    return emit.binary(stablehlo.AddOp, top, emit.select(same, log_two, rest))


def _negative(value: Tracer) -> Tracer:
    return emit.unary(stablehlo.NegateOp, value)


@array_function
def negative(x: ArrayLike, /) -> Array:
    """The elements with the other sign."""
    return _unary(stablehlo.NegateOp, x, NUMERIC, "negative")


@array_function
def positive(x: ArrayLike, /) -> Array:
    """The elements as they are."""
    return emit.as_tracer(x, "positive")


@array_function
def abs(x: ArrayLike, /) -> Array:
    """The absolute value."""
    value = emit.as_tracer(x, "abs")
    if value.dtype.kind == "u":
        return value
    return _unary(stablehlo.AbsOp, value, NUMERIC, "abs")


@array_function
def sign(x: ArrayLike, /) -> Array:
    """-1, 0 or 1, as the elements are below, at or above zero."""
    value = emit.as_tracer(x, "sign")
    if value.dtype.kind == "u":
        return emit.convert(emit.convert(value, BOOLEAN), value.dtype)
    signs = _unary(stablehlo.SignOp, value, NUMERIC, "sign")
    if kind_of(value.dtype) == "integer":
        return signs
    return emit.binary(stablehlo.AddOp, signs, emit.constant(0, value.dtype, value.shape))  # no zero is negative


@array_function
def square(x: ArrayLike, /) -> Array:
    """The elements times themselves."""
    return _whole_power(emit.as_tracer(x, "square"), 2)


@array_function
def reciprocal(x: ArrayLike, /) -> Array:
    """One divided by the elements."""
    value = _float_operand(x, "reciprocal")
    return emit.binary(stablehlo.DivideOp, emit.constant(1, value.dtype, value.shape), value)


@array_function
def exp(x: ArrayLike, /) -> Array:
    """
    e to the power of the elements.

    >>> import shardwright, numpy
    >>> shardwright.exp(numpy.zeros(2, "float32"))
    array([1., 1.], dtype=float32)
    """
    return emit.unary(stablehlo.ExponentialOp, _float_operand(x, "exp"))


@array_function
def expm1(x: ArrayLike, /) -> Array:
    """`exp(x) - 1`, exact near zero."""
    value = _float_operand(x, "expm1")
    exact = emit.unary(stablehlo.ExponentialMinusOneOp, value)
    if kind_of(value.dtype) != "complex":
        return exact
    # Of complex numbers the exact form is for finite ones.
    parts = (emit.unary(operation, value) for operation in (stablehlo.RealOp, stablehlo.ImagOp))
    finite = emit.binary(stablehlo.AndOp, *(emit.unary(stablehlo.IsFiniteOp, part) for part in parts))
    power = emit.unary(stablehlo.ExponentialOp, value)
    plain = emit.binary(stablehlo.SubtractOp, power, emit.constant(1, value.dtype, value.shape))
    return emit.select(finite, exact, plain)


@array_function
def log(x: ArrayLike, /) -> Array:
    """The natural logarithm."""
    return emit.unary(stablehlo.LogOp, _float_operand(x, "log"))


@array_function
def log1p(x: ArrayLike, /) -> Array:
    """`log(1 + x)`, exact near zero."""
    return emit.unary(stablehlo.LogPlusOneOp, _float_operand(x, "log1p"))


@array_function
def log2(x: ArrayLike, /) -> Array:
    """The logarithm to base 2."""
    return _scaled_log(x, math.log(2), "log2")


@array_function
def log10(x: ArrayLike, /) -> Array:
    """The logarithm to base 10."""
    return _scaled_log(x, math.log(10), "log10")


def _scaled_log(x: ArrayLike, base: float, what: str) -> Tracer:
    value = emit.unary(stablehlo.LogOp, _float_operand(x, what))
    return emit.binary(stablehlo.DivideOp, value, emit.constant(base, value.dtype, value.shape))


@array_function
def sqrt(x: ArrayLike, /) -> Array:
    """The square root."""
    return emit.unary(stablehlo.SqrtOp, _float_operand(x, "sqrt"))


@array_function
def rsqrt(x: ArrayLike, /) -> Array:
    """One divided by the square root (not in the standard)."""
    return emit.unary(stablehlo.RsqrtOp, _float_operand(x, "rsqrt"))


@array_function
def sin(x: ArrayLike, /) -> Array:
    """The sine."""
    return emit.unary(stablehlo.SineOp, _float_operand(x, "sin"))


@array_function
def cos(x: ArrayLike, /) -> Array:
    """The cosine."""
    return emit.unary(stablehlo.CosineOp, _float_operand(x, "cos"))


@array_function
def tan(x: ArrayLike, /) -> Array:
    """The tangent."""
    return emit.unary(stablehlo.TanOp, _float_operand(x, "tan"))


@array_function
def tanh(x: ArrayLike, /) -> Array:
    """The hyperbolic tangent."""
    return emit.unary(stablehlo.TanhOp, _float_operand(x, "tanh"))


@array_function
def floor(x: ArrayLike, /) -> Array:
    """The greatest whole number that is not above; integers stay as they are."""
    return _rounded(stablehlo.FloorOp, x, "floor")


@array_function
def ceil(x: ArrayLike, /) -> Array:
    """The least whole number that is not below; integers stay as they are."""
    return _rounded(stablehlo.CeilOp, x, "ceil")


@array_function
def round(x: ArrayLike, /) -> Array:
    """The nearest whole number, the even one of two, of complex ones of both parts; integers stay as they are."""
    value = emit.as_tracer(x, "round")
    if kind_of(value.dtype) == "complex":
        parts = [emit.as_tracer(round(emit.unary(part, value))) for part in (stablehlo.RealOp, stablehlo.ImagOp)]
        return emit.trace_now().emit(stablehlo.ComplexOp(*[part.value for part in parts]))
    return _rounded(stablehlo.RoundNearestEvenOp, x, "round")


@array_function
def trunc(x: ArrayLike, /) -> Array:
    """The whole number next to it towards zero; integers stay as they are."""
    value = emit.as_tracer(x, "trunc")
    if kind_of(value.dtype) == "integer":
        return value
    below = emit.compare("LT", value, emit.constant(0, value.dtype, value.shape))
    return emit.select(below, _rounded(stablehlo.CeilOp, value, "trunc"), _rounded(stablehlo.FloorOp, value, "trunc"))


def _rounded(operation: type[stablehlo.UnaryOp], x: ArrayLike, what: str) -> Tracer:
    value = emit.as_tracer(x, what)
    return value if kind_of(value.dtype) == "integer" else _unary(operation, value, ("float",), what)


@array_function
def equal(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether elements are equal."""
    return _compare("EQ", x1, x2, "equal")


@array_function
def not_equal(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether elements differ."""
    return _compare("NE", x1, x2, "not_equal")


@array_function
def less(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether elements of `x1` are below those of `x2`."""
    return _compare("LT", x1, x2, "less")


@array_function
def less_equal(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether elements of `x1` are not above those of `x2`."""
    return _compare("LE", x1, x2, "less_equal")


@array_function
def greater(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether elements of `x1` are above those of `x2`."""
    return _compare("GT", x1, x2, "greater")


@array_function
def greater_equal(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether elements of `x1` are not below those of `x2`."""
    return _compare("GE", x1, x2, "greater_equal")


@array_function
def isnan(x: ArrayLike, /) -> Array:
    """Whether elements are NaN."""
    value = emit.as_tracer(x, "isnan")
    return emit.compare("NE", value, value)


@array_function
def isinf(x: ArrayLike, /) -> Array:
    """Whether elements are infinite; of complex ones whether a part is."""
    value = emit.as_tracer(x, "isinf")
    if kind_of(value.dtype) == "complex":
        return isinf(emit.unary(stablehlo.RealOp, value)) | isinf(emit.unary(stablehlo.ImagOp, value))
    if kind_of(value.dtype) != "float":
        check_kind(value.dtype, REAL, "isinf")
        return emit.constant(False, BOOLEAN, value.shape)
    return emit.compare("EQ", emit.unary(stablehlo.AbsOp, value), emit.constant(math.inf, value.dtype, value.shape))


@array_function
def isfinite(x: ArrayLike, /) -> Array:
    """Whether elements are neither NaN nor infinite, nor a part of them is."""
    value = emit.as_tracer(x, "isfinite")
    if kind_of(value.dtype) == "complex":
        return isfinite(emit.unary(stablehlo.RealOp, value)) & isfinite(emit.unary(stablehlo.ImagOp, value))
    if kind_of(value.dtype) != "float":
        check_kind(value.dtype, REAL, "isfinite")
        return emit.constant(True, BOOLEAN, value.shape)
    return emit.unary(stablehlo.IsFiniteOp, value)


@array_function
def logical_and(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether both elements hold."""
    return _binary(stablehlo.AndOp, x1, x2, ("boolean",), "logical_and")


@array_function
def logical_or(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether either element holds."""
    return _binary(stablehlo.OrOp, x1, x2, ("boolean",), "logical_or")


@array_function
def logical_xor(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether just one of both elements holds."""
    return _binary(stablehlo.XorOp, x1, x2, ("boolean",), "logical_xor")


@array_function
def logical_not(x: ArrayLike, /) -> Array:
    """Whether elements do not hold."""
    return _unary(stablehlo.NotOp, x, ("boolean",), "logical_not")


@array_function
def bitwise_and(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The bits that both have."""
    return _binary(stablehlo.AndOp, x1, x2, BITS, "bitwise_and")


@array_function
def bitwise_or(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The bits that either has."""
    return _binary(stablehlo.OrOp, x1, x2, BITS, "bitwise_or")


@array_function
def bitwise_xor(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The bits that just one of both has."""
    return _binary(stablehlo.XorOp, x1, x2, BITS, "bitwise_xor")


@array_function
def bitwise_invert(x: ArrayLike, /) -> Array:
    """The other bits."""
    return _unary(stablehlo.NotOp, x, BITS, "bitwise_invert")


@array_function
def bitwise_left_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The bits of `x1` moved up by `x2` places."""
    return _binary(stablehlo.ShiftLeftOp, x1, x2, ("integer",), "bitwise_left_shift")


@array_function
def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The bits of `x1` moved down by `x2` places; signed integers keep their sign."""
    left, right = emit.operands("bitwise_right_shift", x1, x2)
    check_kind(left.dtype, ("integer",), "bitwise_right_shift")
    unsigned = left.dtype.kind == "u"
    return emit.binary(stablehlo.ShiftRightLogicalOp if unsigned else stablehlo.ShiftRightArithmeticOp, left, right)


@array_function
def where(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """
    Elements of `x1` where `condition` holds, else of `x2`; what `if` is for traced values.

    >>> import shardwright, numpy
    >>> shardwright.where(numpy.array([True, False]), numpy.array([1, 2]), 0)
    array([1, 0])
    """
    chooser = emit.as_tracer(condition, "where")
    check_kind(chooser.dtype, ("boolean",), "where (its condition)")
    dtype = emit.result_dtype("where", x1, x2)
    shape = emit.broadcast_shape("where", chooser.shape, emit.shape_of(x1), emit.shape_of(x2))
    return emit.select(emit.broadcast(chooser, shape), emit.fit(x1, dtype, shape), emit.fit(x2, dtype, shape))


@array_function
def astype(x: ArrayLike, dtype: DTypeLike, /, *, copy: bool = True, device: str | None = None) -> Array:
    """
    The elements in another type; `copy` is accepted for the standard's sake, tensors being immutable.

    A Python number has all the digits of a type that can have it; one that does not fit is refused (SW0506).

    >>> import shardwright, numpy
    >>> shardwright.astype(numpy.array([1.7, -1.7]), shardwright.int32)
    array([ 1, -1], dtype=int32)
    """
    check_device(device)
    target, kind = as_dtype(dtype), emit.weak_kind(x)
    taken = kind is not None and promote_scalar(target, kind) == target
    value = emit.typed(x, target, "astype") if taken else emit.as_tracer(x, "astype")
    if kind_of(value.dtype) == "complex" and kind_of(target) not in ("complex", "boolean"):
        raise type_error("SW0506", f"astype cannot make {target} of complex numbers", help="take a real part first")
    return emit.convert(Tracer(value.trace, value.value), target)
