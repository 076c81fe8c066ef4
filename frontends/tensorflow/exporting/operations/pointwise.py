"""Pointwise operations with StableHLO's exact meaning, of TensorFlow's: see `runtime.kernels` for each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.ir import Operation

from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.stablehlo import CompareOp, ReducePrecisionOp
from shardwright.dialects.types import element_dtype
from shardwright.frontends.tensorflow.exporting.emitter import HANDLERS, Emitter, Handler, handler
from shardwright.frontends.tensorflow.exporting.nodes import BOOL, FLOAT32, DType, Refusal, Tensor
from shardwright.runtime.kernels.elementwise import NARROW_FLOATS, is_integer, is_unsigned, working_dtype
from shardwright.runtime.kernels.special import ERF_INV_CENTRAL, ERF_INV_TAIL

BOOLEAN = {
    "add": "LogicalOr",
    "and": "LogicalAnd",
    "divide": "LogicalAnd",
    "maximum": "LogicalOr",
    "minimum": "LogicalAnd",
    "multiply": "LogicalAnd",
    "not": "LogicalNot",
    "or": "LogicalOr",
    "subtract": "NotEqual",
    "xor": "NotEqual",
}
"""What operations of truth values are in TensorFlow; for other types they are those of the ops' own rows."""

PRECISE = {
    "lgamma": "Lgamma",
    "digamma": "Digamma",
    "zeta": "Zeta",
    "polygamma": "Polygamma",
    "bessel_i1e": "BesselI1e",
}
"""Functions that are computed in double precision and rounded, as our own kernels do."""

COMPARISONS = {
    "EQ": "Equal",
    "NE": "NotEqual",
    "GE": "GreaterEqual",
    "GT": "Greater",
    "LE": "LessEqual",
    "LT": "Less",
}


def _plain(name: str, kind: str) -> Handler:
    def write(emitter: Emitter, op: Operation, operands: list[Tensor]) -> list[Tensor]:
        boolean = BOOLEAN.get(name) if operands[0].dtype == BOOL else None
        return [emitter.call(boolean or kind, *operands)]

    return write


def _precise(kind: str) -> Handler:
    def write(emitter: Emitter, op: Operation, operands: list[Tensor]) -> list[Tensor]:
        wide = [emitter.cast(operand, np.dtype(np.float64)) for operand in operands]
        return [emitter.cast(emitter.call(kind, *wide), operands[0].dtype)]

    return write


for _op in (*stablehlo.ELEMENTWISE_OPS, *chlo.UNARY_OPS, *chlo.BINARY_OPS):
    if _op.FACTS is not None and _op.FACTS.graph:
        HANDLERS[_op.name] = _plain(_op.name.partition(".")[2], _op.FACTS.graph)
for _name, _kind in PRECISE.items():
    HANDLERS[f"chlo.{_name}"] = _precise(_kind)


Function = Callable[..., Tensor]


def _kernel(*names: str) -> Callable[[Function], Function]:
    """Registers a function of the emitter and the operands as what writes these operations."""

    def register(function: Function) -> Function:
        def write(emitter: Emitter, op: Operation, operands: list[Tensor]) -> list[Tensor]:
            return [function(emitter, *operands)]

        HANDLERS.update(dict.fromkeys(names, write))
        return function

    return register


def equal(e: Emitter, x: Tensor, value: Any) -> Tensor:
    """Where a tensor has this value."""
    return e.call("Equal", x, e.like(value, x), result=BOOL)


def less(e: Emitter, x: Tensor, value: Any) -> Tensor:
    """Where a tensor is below this value."""
    return e.call("Less", x, e.like(value, x), result=BOOL)


def at_least(e: Emitter, x: Tensor, value: Any) -> Tensor:
    """Where a tensor is not below this value."""
    return e.call("GreaterEqual", x, e.like(value, x), result=BOOL)


def both(e: Emitter, x: Tensor, y: Tensor) -> Tensor:
    """Where both hold."""
    return e.call("LogicalAnd", x, y)


def bitcast(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """The same bits as another type of the same width."""
    return x if x.dtype == dtype else e.node("Bitcast", (x,), x.stored, dtype, x.shape)


def signed(dtype: DType) -> DType:
    """The signed integers of a type's width."""
    return np.dtype(f"i{dtype.itemsize}")


def unsigned(dtype: DType) -> DType:
    """The unsigned integers of a type's width."""
    return np.dtype(f"u{dtype.itemsize}")


def _part(dtype: DType) -> DType:
    return np.dtype(np.float32 if dtype == np.complex64 else np.float64)


@handler("stablehlo.optimization_barrier")
def _unchanged(emitter: Emitter, op: Operation, operands: list[Tensor]) -> list[Tensor]:
    return operands


@_kernel("stablehlo.negate")
def negate(e: Emitter, x: Tensor) -> Tensor:
    """
    Minus x; truth values stay.

    TensorFlow has no Neg of unsigned integers, and its optimizer makes one of a difference from zero.
    """
    if x.dtype == BOOL:
        return x
    return e.call("AddV2", e.call("Invert", x), e.like(1, x)) if is_unsigned(x.dtype) else e.call("Neg", x)


@_kernel("stablehlo.abs")
def _abs(e: Emitter, x: Tensor) -> Tensor:
    if x.dtype.kind == "c":
        return e.call("ComplexAbs", x, result=_part(x.dtype))
    return x if is_unsigned(x.dtype) or x.dtype == BOOL else e.call("Abs", x)


@_kernel("stablehlo.sign")
def _sign(e: Emitter, x: Tensor) -> Tensor:
    if is_unsigned(x.dtype):
        return e.call("Minimum", x, e.like(1, x))
    made = e.call("Sign", x)
    return e.select(equal(e, x, 0), x, made) if x.dtype.kind == "f" or x.dtype in NARROW_FLOATS else made


@_kernel("stablehlo.cbrt")
def _cbrt(e: Emitter, x: Tensor) -> Tensor:
    """By a power, and one step of Newton's where that is finite and not zero."""
    if x.dtype.kind == "c":
        return e.call("Pow", x, e.like(1 / 3, x))
    w = e.cast(x, np.dtype(np.float64))
    root = e.call("Pow", e.call("Abs", w), e.like(1 / 3, w))
    root = e.select(less(e, w, 0), e.call("Neg", root), root)
    squared = e.call("Square", root)
    step = e.call("RealDiv", e.call("Sub", e.call("Mul", squared, root), w), e.call("Mul", e.like(3, w), squared))
    exact = both(e, e.call("IsFinite", w, result=BOOL), e.call("NotEqual", w, e.like(0, w), result=BOOL))
    return e.cast(e.select(exact, e.call("Sub", root, step), e.select(equal(e, w, 0), w, root)), x.dtype)


@_kernel("stablehlo.complex")
def _complex(e: Emitter, real: Tensor, imaginary: Tensor) -> Tensor:
    return e.call("Complex", real, imaginary, result=np.dtype(np.complex64 if real.dtype == FLOAT32 else np.complex128))


@_kernel("stablehlo.real")
def real(e: Emitter, x: Tensor) -> Tensor:
    """The real part."""
    return e.call("Real", x, result=_part(x.dtype)) if x.dtype.kind == "c" else x


@_kernel("stablehlo.imag")
def _imag(e: Emitter, x: Tensor) -> Tensor:
    return e.call("Imag", x, result=_part(x.dtype)) if x.dtype.kind == "c" else e.splat(0, x.dtype, x.shape)


@_kernel("chlo.conj")
def conj(e: Emitter, x: Tensor) -> Tensor:
    """The conjugate; real numbers as they are."""
    return e.call("Conj", x) if x.dtype.kind == "c" else x


@_kernel("stablehlo.is_finite")
def _is_finite(e: Emitter, x: Tensor) -> Tensor:
    if x.dtype.kind == "c":
        return both(e, _is_finite(e, real(e, x)), _is_finite(e, _imag(e, x)))
    return e.call("IsFinite", x, result=BOOL)


@_kernel("chlo.is_inf")
def _is_inf(e: Emitter, x: Tensor) -> Tensor:
    return e.call("IsInf", x, result=BOOL)


@_kernel("chlo.is_pos_inf")
def _is_pos_inf(e: Emitter, x: Tensor) -> Tensor:
    return equal(e, x, np.inf)


@_kernel("chlo.is_neg_inf")
def _is_neg_inf(e: Emitter, x: Tensor) -> Tensor:
    return equal(e, x, -np.inf)


@_kernel("chlo.erf")
def _erf(e: Emitter, x: Tensor) -> Tensor:
    """In double precision TensorFlow gives NaN for infinities: the function is 1 long before."""
    if x.dtype == np.float64:
        x = e.call("Minimum", e.call("Maximum", x, e.like(-8, x)), e.like(8, x))
    return e.call("Erf", x)


@_kernel("chlo.erf_inv")
def _erf_inv(e: Emitter, x: Tensor) -> Tensor:
    """By the polynomials of `runtime.kernels_special` in single precision: near one, rounding is most of the result."""
    if x.dtype == np.float64:
        return e.call("Erfinv", x)
    x, dtype = e.cast(x, FLOAT32), x.dtype
    w = e.call("Neg", e.call("Log1p", e.call("Neg", e.call("Square", x))))
    root = e.call("Sqrt", e.call("Maximum", w, e.like(5, w)))
    central = _polynomial(e, e.call("Sub", w, e.like(2.5, w)), ERF_INV_CENTRAL)
    outer = _polynomial(e, e.call("Sub", root, e.like(3, w)), ERF_INV_TAIL)
    made = e.call("Mul", e.select(less(e, w, 5), central, outer), x)
    ends = equal(e, e.call("Abs", x), 1)
    return e.cast(e.select(ends, e.call("Mul", x, e.like(np.inf, x)), made), dtype)


def _polynomial(e: Emitter, x: Tensor, coefficients: Sequence[float]) -> Tensor:
    result = e.like(coefficients[0], x)
    for coefficient in coefficients[1:]:
        result = e.call("AddV2", e.call("Mul", result, x), e.like(coefficient, x))
    return result


@_kernel("chlo.next_after")
def _next_after(e: Emitter, x: Tensor, y: Tensor) -> Tensor:
    if x.dtype in NARROW_FLOATS:
        raise Refusal(f"NextAfter has no kernel for {x.dtype.name}")
    return e.call("NextAfter", x, y)


@_kernel("stablehlo.divide")
def divide(e: Emitter, x: Tensor, y: Tensor) -> Tensor:
    """Integers toward zero: all ones where the divisor is zero, and the lowest integer by -1 is itself."""
    if x.dtype == BOOL:
        return both(e, x, y)
    if not is_integer(x.dtype):
        return e.call("RealDiv", x, y)
    zero = equal(e, y, 0)
    ones = e.like(-1 if not is_unsigned(x.dtype) else np.iinfo(x.dtype).max, x)
    if is_unsigned(x.dtype):
        return e.select(zero, ones, e.call("TruncateDiv", x, e.select(zero, e.like(1, y), y)))
    minus = equal(e, y, -1)
    quotient = e.call("TruncateDiv", x, e.select(e.call("LogicalOr", zero, minus), e.like(1, y), y))
    return e.select(zero, ones, e.select(minus, e.call("Neg", x), quotient))


@_kernel("stablehlo.remainder")
def _remainder(e: Emitter, x: Tensor, y: Tensor) -> Tensor:
    """With the dividend's sign; the dividend itself where the divisor is zero (integers)."""
    if not is_integer(x.dtype):
        return e.call("TruncateMod", x, y)
    whole = e.call("Mul", divide(e, x, y), y)
    return e.select(equal(e, y, 0), x, e.call("Sub", x, whole))


@_kernel("stablehlo.power")
def _power(e: Emitter, x: Tensor, y: Tensor) -> Tensor:
    """Integers wrap around, and a negative exponent gives the truncated quotient."""
    if not is_integer(x.dtype):
        return e.call("Pow", x, y)
    if is_unsigned(x.dtype):
        return _unsigned_power(e, x, y)
    positive = e.call("Pow", x, e.call("Maximum", y, e.like(0, y)))
    odd = equal(e, e.call("BitwiseAnd", y, e.like(1, y)), 1)
    inverse = e.select(equal(e, x, -1), e.select(odd, x, e.call("Neg", x)), e.like(0, x))
    inverse = e.select(equal(e, x, 1), e.like(1, x), inverse)
    return e.select(less(e, y, 0), inverse, positive)


def _unsigned_power(e: Emitter, x: Tensor, y: Tensor) -> Tensor:
    """By squaring: TensorFlow has powers of signed integers only, whose exponents would be negative here."""
    bits = x.dtype.itemsize * 8
    result, factor = e.splat(1, x.dtype, np.broadcast_shapes(x.shape, y.shape)), x
    for bit in range(bits):
        chosen = e.call("NotEqual", e.call("BitwiseAnd", y, e.like(1 << bit, y)), e.like(0, y), result=BOOL)
        result = e.select(chosen, e.call("Mul", result, factor), result)
        factor = e.call("Square", factor) if bit + 1 < bits else factor
    return result


def _inside(e: Emitter, amount: Tensor, width: int) -> Tensor:
    """Where a shift leaves any bits."""
    below = less(e, amount, width)
    return below if is_unsigned(amount.dtype) else both(e, at_least(e, amount, 0), below)


@_kernel("stablehlo.shift_left")
def shift_left(e: Emitter, x: Tensor, amount: Tensor) -> Tensor:
    """Zero for an amount of the width or more."""
    inside = _inside(e, amount, x.dtype.itemsize * 8)
    return e.select(inside, e.call("LeftShift", x, e.select(inside, amount, e.like(0, amount))), e.like(0, x))


@_kernel("stablehlo.shift_right_arithmetic")
def _shift_right_arithmetic(e: Emitter, x: Tensor, amount: Tensor) -> Tensor:
    last = x.dtype.itemsize * 8 - 1
    by = e.select(_inside(e, amount, last + 1), amount, e.like(last, amount))
    kind = signed(x.dtype)
    return bitcast(e, e.call("RightShift", bitcast(e, x, kind), bitcast(e, by, kind)), x.dtype)


@_kernel("stablehlo.shift_right_logical")
def shift_right_logical(e: Emitter, x: Tensor, amount: Tensor) -> Tensor:
    """Zeros fill in; zero for an amount of the width or more."""
    kind, inside = unsigned(x.dtype), _inside(e, amount, x.dtype.itemsize * 8)
    by = bitcast(e, e.select(inside, amount, e.like(0, amount)), kind)
    shifted = bitcast(e, e.call("RightShift", bitcast(e, x, kind), by), x.dtype)
    return e.select(inside, shifted, e.like(0, x))


@_kernel("stablehlo.popcnt")
def _popcnt(e: Emitter, x: Tensor) -> Tensor:
    return e.cast(e.call("PopulationCount", x, result=np.dtype(np.uint8)), x.dtype)


@_kernel("stablehlo.count_leading_zeros")
def _count_leading_zeros(e: Emitter, x: Tensor) -> Tensor:
    """Every bit below the highest one set, and then counted."""
    width, bits, shift = x.dtype.itemsize * 8, bitcast(e, x, unsigned(x.dtype)), 1
    while shift < width:
        bits = e.call("BitwiseOr", bits, e.call("RightShift", bits, e.like(shift, bits)))
        shift *= 2
    ones = e.cast(e.call("PopulationCount", bits, result=np.dtype(np.uint8)), x.dtype)
    return e.call("Sub", e.like(width, x), ones)


@_kernel("stablehlo.round_nearest_afz")
def _round_nearest_afz(e: Emitter, x: Tensor) -> Tensor:
    w = e.cast(x, working_dtype(x.dtype))
    negative = less(e, w, 0)
    whole = e.select(negative, e.call("Ceil", w), e.call("Floor", w))
    away = e.call("AddV2", whole, e.select(negative, e.like(-1, w), e.like(1, w)))
    half = at_least(e, e.call("Abs", e.call("Sub", w, whole)), 0.5)
    return e.cast(e.select(half, away, whole), x.dtype)


@_kernel("stablehlo.select")
def _select(e: Emitter, predicate: Tensor, on_true: Tensor, on_false: Tensor) -> Tensor:
    return e.select(predicate, on_true, on_false)


@_kernel("stablehlo.clamp")
def _clamp(e: Emitter, low: Tensor, x: Tensor, high: Tensor) -> Tensor:
    if x.dtype == BOOL:
        return both(e, e.call("LogicalOr", low, x), high)
    return e.call("Minimum", e.call("Maximum", low, x), high)


@handler("stablehlo.compare")
def _compare(emitter: Emitter, op: CompareOp, operands: list[Tensor]) -> list[Tensor]:
    x, y = operands
    direction = str(op.direction)
    if op.order == "TOTALORDER" and working_dtype(x.dtype).kind == "f":
        x, y = (total_order_key(emitter, operand) for operand in operands)
    if x.dtype == BOOL and direction not in ("EQ", "NE"):
        x, y = (emitter.cast(operand, np.dtype(np.int8)) for operand in (x, y))
    return [emitter.call(COMPARISONS[direction], x, y, result=BOOL)]


def total_order_key(e: Emitter, x: Tensor) -> Tensor:
    """Integers that compare as floats do in their total order."""
    wide = e.cast(x, working_dtype(x.dtype))
    bits = bitcast(e, wide, signed(wide.dtype))
    flipped = e.call("BitwiseXor", bits, e.like(np.iinfo(bits.dtype).max, bits))
    return e.select(less(e, bits, 0), flipped, bits)


@handler("stablehlo.convert", "chlo.convert")
def _convert(emitter: Emitter, op: Operation, operands: list[Tensor]) -> list[Tensor]:
    return [convert(emitter, operands[0], element_dtype(op.results[0].type))]


def convert(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """Floats become integers toward zero, saturating, NaN as 0; integers wrap."""
    if x.dtype == dtype:
        return x
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = real(e, x)
    if dtype == BOOL:
        return e.call("NotEqual", x, e.like(0, x), result=BOOL)
    if is_integer(dtype) and (x.dtype.kind == "f" or x.dtype in NARROW_FLOATS):
        return _float_to_integer(e, e.cast(x, working_dtype(x.dtype)), dtype)
    return e.cast(x, dtype)


def _float_to_integer(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    limits = ml_dtypes.iinfo(dtype)
    low, high = int(limits.min), int(limits.max)
    above, fits = at_least(e, x, float(high)), at_least(e, x, float(low))
    inside = both(e, fits, less(e, x, float(high)))
    whole = e.cast(e.select(inside, x, e.like(0, x)), dtype)
    below = less(e, x, float(low))
    return e.select(above, e.like(high, whole), e.select(below, e.like(low, whole), whole))


@handler("stablehlo.bitcast_convert")
def _bitcast(emitter: Emitter, op: Operation, operands: list[Tensor]) -> list[Tensor]:
    (x,), dtype = operands, element_dtype(op.results[0].type)
    if BOOL in (x.dtype, dtype):
        raise Refusal("truth values have no bits in TensorFlow")
    if x.dtype.itemsize == dtype.itemsize:
        return [bitcast(emitter, x, dtype)]
    ratio = x.dtype.itemsize // dtype.itemsize
    shape = (*x.shape, ratio) if ratio > 1 else x.shape[:-1]
    return [emitter.node("Bitcast", (emitter.whole(x),), shape, dtype)]


@handler("stablehlo.reduce_precision")
def _reduce_precision(emitter: Emitter, op: ReducePrecisionOp, operands: list[Tensor]) -> list[Tensor]:
    exponent, mantissa = (int(number.value.data) for number in (op.exponent_bits, op.mantissa_bits))
    wide = emitter.cast(operands[0], working_dtype(operands[0].dtype))
    rounded = _fewer_exponents(emitter, _fewer_mantissa_bits(emitter, wide, mantissa), exponent, mantissa)
    is_nan = emitter.call("NotEqual", wide, wide, result=BOOL)
    return [emitter.cast(emitter.select(is_nan, wide, rounded), operands[0].dtype)]


def _fewer_mantissa_bits(e: Emitter, x: Tensor, kept: int) -> Tensor:
    """Ties to even."""
    drop = (23 if x.dtype.itemsize == 4 else 52) - kept
    if drop <= 0:
        return x
    kind = signed(x.dtype)
    bits = bitcast(e, x, kind)
    last = e.call("BitwiseAnd", e.call("RightShift", bits, e.like(drop, bits)), e.like(1, bits))
    bits = e.call("AddV2", bits, e.call("AddV2", last, e.like((1 << (drop - 1)) - 1, bits)))
    return bitcast(e, e.call("BitwiseAnd", bits, e.like(-(1 << drop), bits)), x.dtype)


def _fewer_exponents(e: Emitter, x: Tensor, exponent: int, mantissa: int) -> Tensor:
    """What is too large becomes infinite, what is too small zero, with their signs."""
    if exponent >= (8 if x.dtype.itemsize == 4 else 11):
        return x
    bias = (1 << (exponent - 1)) - 1
    largest = (2.0 - 2.0**-mantissa) * 2.0**bias
    negative = less(e, x, 0)
    infinite = e.select(negative, e.like(-np.inf, x), e.like(np.inf, x))
    x = e.select(e.call("Greater", e.call("Abs", x), e.like(largest, x), result=BOOL), infinite, x)
    tiny = less(e, e.call("Abs", x), 2.0 ** (1 - bias))
    return e.select(tiny, e.call("Mul", x, e.like(0, x)), x)


@_kernel("chlo.mulhi")
def _high_product(e: Emitter, x: Tensor, y: Tensor) -> Tensor:
    """The upper half of the bits of a product."""
    bits = x.dtype.itemsize * 8
    if bits < 64:
        double = np.dtype(f"{'u' if is_unsigned(x.dtype) else 'i'}{x.dtype.itemsize * 2}")
        product = e.call("Mul", e.cast(x, double), e.cast(y, double))
        return e.cast(e.call("RightShift", product, e.like(bits, product)), x.dtype)
    kind = np.dtype(np.uint64)
    a, b = bitcast(e, x, kind), bitcast(e, y, kind)
    high = wide_product(e, a, b)
    if not is_unsigned(x.dtype):
        none = e.like(0, a)
        high = e.call("Sub", high, e.select(less(e, x, 0), b, none))
        high = e.call("Sub", high, e.select(less(e, y, 0), a, none))
    return bitcast(e, high, x.dtype)


def wide_product(e: Emitter, a: Tensor, b: Tensor) -> Tensor:
    """The upper 64 bits of products of unsigned 64-bit integers, by halves."""
    half, mask = e.like(32, a), e.like(2**32 - 1, a)

    def low(x: Tensor) -> Tensor:
        return e.call("BitwiseAnd", x, mask)

    def top(x: Tensor) -> Tensor:
        return e.call("RightShift", x, half)

    crossed = e.call("AddV2", e.call("Mul", top(a), low(b)), top(e.call("Mul", low(a), low(b))))
    other = e.call("AddV2", e.call("Mul", low(a), top(b)), low(crossed))
    return e.call("AddV2", e.call("AddV2", e.call("Mul", top(a), top(b)), top(crossed)), top(other))
