"""
Element-wise kernels with StableHLO's exact meaning, over stacked arrays.

Each function takes the array namespace first, so that the same generated line runs on NumPy and on CuPy. What a
plain ufunc of the namespace already does is not repeated here: `POINTWISE` in `runtime.pointwise` names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

Array = Any
"""An array of the namespace in use."""

Arrays: TypeAlias = Sequence[Array]

Body: TypeAlias = Callable[..., tuple[Array, ...]]
"""A region of the program as a function of arrays, which are as many scalars at once: of all operands' left elements,
then of their right ones. A comparator takes the two elements of one operand after those of another."""

NARROW_FLOATS = frozenset(
    np.dtype(getattr(ml_dtypes, name)) for name in dir(ml_dtypes) if name.startswith(("bfloat", "float"))
) | {np.dtype(np.float16)}
"""Floats that are computed in float32 and rounded after each op, as XLA's CPU backend defines them."""

NARROW_INTEGERS = frozenset(np.dtype(getattr(ml_dtypes, name)) for name in ("int2", "int4", "uint2", "uint4"))
"""Integers that are computed in int32 and wrapped after each op."""


def is_unsigned(dtype: np.dtype[Any]) -> bool:
    """Whether the dtype is an unsigned integer (and no boolean)."""
    return dtype.kind == "u" or dtype.name.startswith("uint")


def is_integer(dtype: np.dtype[Any]) -> bool:
    """Whether the dtype is an integer of any width, the 2- and 4-bit ones included."""
    return dtype.kind in "iu" or dtype in NARROW_INTEGERS


def working_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """
    The dtype in which an op on `dtype` is computed.

    >>> working_dtype(np.dtype("float16")), working_dtype(np.dtype("float64"))
    (dtype('float32'), dtype('float64'))
    """
    if dtype in NARROW_FLOATS:
        return np.dtype(np.float32)
    return np.dtype(np.int32) if dtype in NARROW_INTEGERS else dtype


def widen(xp: Any, array: Array) -> Array:
    """The array in its working dtype; itself when that is its own."""
    return array.astype(working_dtype(array.dtype), copy=False)


def narrow(xp: Any, array: Array, dtype: np.dtype[Any]) -> Array:
    """The computed array rounded, or wrapped, to `dtype`."""
    if array.dtype == dtype:
        return array
    if dtype in NARROW_INTEGERS:
        array = _wrap(array, dtype)
    return array.astype(dtype)


def _wrap(array: Array, dtype: np.dtype[Any]) -> Array:
    """The low bits of an int32 array, sign-extended where `dtype` is signed."""
    bits = 2 if dtype.name.endswith("2") else 4
    low = array & ((1 << bits) - 1)
    return low if is_unsigned(dtype) else low - ((low >> (bits - 1)) << bits)


def apply(xp: Any, function: Any, dtype: np.dtype[Any], *arrays: Array) -> Array:
    """A function on narrow operands: computed wide, rounded to `dtype` once."""
    return narrow(xp, function(*(widen(xp, array) for array in arrays)), dtype)


def divide(xp: Any, lhs: Array, rhs: Array) -> Array:
    """
    Integer quotient rounded toward zero; division by zero gives all ones, the lowest integer by -1 itself.

    >>> divide(np, np.int32([-7, 7, 5]), np.int32([2, -2, 0])).tolist()
    [-3, -3, -1]
    """
    if not is_integer(lhs.dtype):
        return xp.divide(lhs, rhs)
    one = lhs.dtype.type(1)
    safe = xp.where(rhs == 0, one, rhs)
    if is_unsigned(lhs.dtype):
        return xp.where(rhs == 0, xp.invert(xp.zeros_like(rhs)), xp.floor_divide(lhs, safe))
    safe = xp.where(rhs == -1, one, safe)
    quotient = xp.floor_divide(lhs, safe)
    inexact = (quotient * safe != lhs) & ((lhs < 0) != (safe < 0))
    quotient = quotient + inexact.astype(lhs.dtype)
    return xp.where(rhs == 0, lhs.dtype.type(-1), xp.where(rhs == -1, xp.negative(lhs), quotient))


def remainder(xp: Any, lhs: Array, rhs: Array) -> Array:
    """
    The remainder with the dividend's sign; the dividend itself where the divisor is zero (integers).

    >>> remainder(np, np.int32([-7, 7, 5]), np.int32([2, -2, 0])).tolist()
    [-1, 1, 5]
    """
    if not is_integer(lhs.dtype):
        return xp.fmod(lhs, rhs)
    one = lhs.dtype.type(1)
    unsafe = rhs == 0 if is_unsigned(lhs.dtype) else (rhs == 0) | (rhs == -1)
    result = xp.fmod(lhs, xp.where(unsafe, one, rhs))
    return xp.where(rhs == 0, lhs, result)


def power(xp: Any, base: Array, exponent: Array) -> Array:
    """Powers; integers wrap around, and a negative exponent gives the truncated quotient."""
    if base.dtype.kind == "c":
        return _complex_power(xp, base, exponent)
    if not is_integer(base.dtype):
        return _float_power(xp, base, exponent)
    positive = xp.power(base, xp.maximum(exponent, base.dtype.type(0)))
    if is_unsigned(base.dtype):
        return positive
    odd = (exponent & base.dtype.type(1)) == 1
    one, zero = base.dtype.type(1), base.dtype.type(0)
    of_minus_one = xp.where(odd, base, xp.negative(base))
    inverse = xp.where(base == 1, one, xp.where(base == -1, of_minus_one, zero))
    return xp.where(exponent < 0, inverse, positive)


def _float_power(xp: Any, base: Array, exponent: Array) -> Array:
    """Where NumPy takes one exponent of a half for a square root, -inf and -0.0 have no power that it knows."""
    half = exponent == 0.5
    if xp is np and half.any():
        base = xp.where(half & ((base == -np.inf) | (base == 0)), xp.abs(base), base)
    return xp.power(base, exponent)


def _complex_power(xp: Any, base: Array, exponent: Array) -> Array:
    """NumPy multiplies for whole exponents, and has NaN where that overflows: there, from modulus and angle."""
    result = xp.power(base, exponent)
    lost = xp.isnan(result) & xp.isfinite(base) & xp.isfinite(exponent) & (base != 0)
    if xp is np and not lost.any():
        return result
    logarithm = xp.log(xp.where(lost, base, 1))
    return xp.where(lost, xp.exp(exponent * logarithm), result).astype(base.dtype)


def shift_left(xp: Any, value: Array, amount: Array) -> Array:
    """Bits shifted out to the left; zero when the amount, read as unsigned, is the width or more."""
    inside, by = _inside(xp, value, amount)
    return xp.where(inside, xp.left_shift(value, by.astype(value.dtype)), value.dtype.type(0))


def shift_right_arithmetic(xp: Any, value: Array, amount: Array) -> Array:
    """Bits shifted out to the right, the sign filling in (also for amounts of the width or more)."""
    signed = value.view(_signed(value.dtype))
    _, by = _inside(xp, value, amount, value.dtype.itemsize * 8 - 1)
    return xp.right_shift(signed, by.astype(signed.dtype)).view(value.dtype)


def shift_right_logical(xp: Any, value: Array, amount: Array) -> Array:
    """
    Bits shifted out to the right, zeros filling in.

    >>> shift_right_logical(np, np.int8([-1, -1]), np.int8([1, 8])).tolist()
    [127, 0]
    """
    unsigned = np.dtype(f"u{value.dtype.itemsize}")
    inside, by = _inside(xp, value, amount)
    shifted = xp.right_shift(value.view(unsigned), by.astype(unsigned))
    return xp.where(inside, shifted, unsigned.type(0)).view(value.dtype)


def _inside(xp: Any, value: Array, amount: Array, otherwise: int = 0) -> tuple[Array, Array]:
    """Where the amount, read as unsigned, is less than the value's width, and the amount there."""
    width = value.dtype.itemsize * 8
    inside = (amount < width) if is_unsigned(amount.dtype) else (amount >= 0) & (amount < width)
    return inside, xp.where(inside, amount, otherwise)


def _signed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(f"i{dtype.itemsize}")


def narrow_bits(xp: Any, name: str, bits: int, value: Array, amount: Array | None = None) -> Array:
    """
    The bit-wise op `name` on integers of so many bits, given and returned as int32.

    >>> narrow_bits(np, "shift_right_logical", 4, np.int32([-1, -8]), np.int32([1, 4])).tolist()
    [7, 0]
    """
    low = value & ((1 << bits) - 1)
    if amount is None:
        return popcnt(xp, low) if name == "popcnt" else count_leading_zeros(xp, low) - (32 - bits)
    inside = (amount >= 0) & (amount < bits)
    by = xp.where(inside, amount, 0)
    if name == "shift_right_arithmetic":
        signed = low - ((low >> (bits - 1)) << bits)
        return signed >> xp.where(inside, amount, bits - 1)
    return xp.where(inside, low << by if name == "shift_left" else low >> by, 0)


def sign(xp: Any, value: Array) -> Array:
    """-1, 0 or 1; a float zero keeps its sign and NaN stays NaN; a complex number is divided by its modulus."""
    if value.dtype.kind == "c":
        return _direction(xp, value)
    if value.dtype.kind == "f":
        return xp.where(value == 0, value, xp.sign(value))
    return xp.sign(value)


def _direction(xp: Any, value: Array) -> Array:
    """A complex number over its modulus, part by part; both scaled where the modulus is not a normal number."""
    modulus, numbers = xp.abs(value), np.finfo(value.dtype)
    factor = xp.where(modulus < numbers.tiny, 1 / numbers.eps**2, xp.where(xp.isinf(modulus), 0.5, 1))
    scale = factor.astype(modulus.dtype)
    real, imaginary = value.real * scale, value.imag * scale
    modulus = xp.hypot(real, imaginary)
    modulus = xp.where(modulus == 0, modulus.dtype.type(1), modulus)
    return complex_number(xp, real / modulus, imaginary / modulus)


def round_nearest_afz(xp: Any, value: Array) -> Array:
    """
    The nearest integer, ties away from zero.

    >>> round_nearest_afz(np, np.float32([0.5, -2.5, 0.49999997])).tolist()
    [1.0, -3.0, 0.0]
    """
    whole = xp.trunc(value)
    away = whole + xp.copysign(value.dtype.type(1), value)
    return xp.where(xp.abs(value - whole) >= value.dtype.type(0.5), away, whole)


def rsqrt(xp: Any, value: Array) -> Array:
    """One over the square root; zero for complex numbers that are infinite in either part."""
    root = xp.sqrt(value)
    inverse = xp.divide(value.dtype.type(1), root)
    if value.dtype.kind != "c":
        return inverse
    nothing = complex_number(xp, xp.copysign(0, root.real), xp.copysign(0, -root.imag))
    return xp.where(xp.isinf(root), nothing.astype(value.dtype), inverse)


def logistic(xp: Any, value: Array) -> Array:
    """1 / (1 + exp(-x)); of complex numbers the exponential is taken that is no greater than one."""
    one = value.dtype.type(1)
    if value.dtype.kind != "c":
        return xp.divide(one, xp.exp(xp.negative(value)) + one)
    negative = value.real < 0
    small = xp.exp(xp.where(negative, value, -value))
    return xp.divide(xp.where(negative, small, one), small + one)


def cbrt(xp: Any, value: Array) -> Array:
    """The real cube root; the principal one of complex numbers."""
    return xp.power(value, 1 / 3).astype(value.dtype) if value.dtype.kind == "c" else xp.cbrt(value)


def exponential_minus_one(xp: Any, value: Array) -> Array:
    """Of complex numbers; near zero from what does not cancel."""
    grown, half = xp.exp(value), xp.sin(value.imag / 2)
    near = xp.expm1(value.real) * xp.cos(value.imag) - 2 * half * half
    return complex_number(xp, xp.where(xp.abs(value.real) < 1, near, grown.real - 1), grown.imag)


def log_plus_one(xp: Any, value: Array) -> Array:
    """Of complex numbers; where the sum is about as long as one, from how much longer its square is."""
    far = xp.log(complex_number(xp, value.real + 1, value.imag))
    longer = _longer_than_one(xp, value.real.astype(np.float64), value.imag.astype(np.float64))
    near = xp.abs(longer) < 0.5
    real = xp.where(near, xp.log1p(xp.where(near, longer, 0)) / 2, far.real)
    return complex_number(xp, real.astype(far.real.dtype), far.imag)


def _longer_than_one(xp: Any, real: Array, imaginary: Array) -> Array:
    """By how much the square of one plus a complex number is longer than one: three terms, whose errors are added."""
    (square, error), (other, other_error) = _exact_square(real), _exact_square(imaginary)
    first, lost = _exact_sum(2 * real, square)
    whole, other_lost = _exact_sum(first, other)
    return whole + (lost + other_lost + error + other_error)


def _exact_square(value: Array) -> tuple[Array, Array]:
    """A square in float64, and what rounding took from it (Dekker's product)."""
    square, scaled = value * value, value * float(2**27 + 1)
    high = scaled - (scaled - value)
    low = value - high
    return square, ((high * high - square) + 2 * high * low) + low * low


def _exact_sum(lhs: Array, rhs: Array) -> tuple[Array, Array]:
    """A sum, and what rounding took from it (Knuth's)."""
    total = lhs + rhs
    part = total - lhs
    return total, (lhs - (total - part)) + (rhs - part)


def square(xp: Any, value: Array) -> Array:
    """Of complex numbers; the difference of two squares as a product, which overflows later."""
    real, imaginary = value.real, value.imag
    alike = (xp.abs(real) == xp.abs(imaginary)) & xp.isfinite(real)
    return complex_number(
        xp, xp.where(alike, 0, (real - imaginary) * (real + imaginary)).astype(real.dtype), real * imaginary * 2
    )


def atan2(xp: Any, lhs: Array, rhs: Array) -> Array:
    """Of complex numbers: the logarithm of `rhs + i lhs` over its length, turned back by a right angle."""
    unit = lhs.dtype.type(1j)
    return -unit * xp.log((rhs + unit * lhs) / xp.sqrt(lhs * lhs + rhs * rhs))


def complex_number(xp: Any, real: Array, imaginary: Array) -> Array:
    """The complex numbers with these parts, exactly (infinities and NaNs stay in their part)."""
    dtype = np.dtype(np.complex64 if real.dtype.itemsize == 4 else np.complex128)
    result = xp.empty(np.broadcast_shapes(real.shape, imaginary.shape), dtype)
    result.real[...] = real
    result.imag[...] = imaginary
    return result


def imaginary_part(xp: Any, value: Array) -> Array:
    """The imaginary part; zero for real numbers."""
    return value.imag if value.dtype.kind == "c" else xp.zeros_like(value)


def count_leading_zeros(xp: Any, value: Array) -> Array:
    """
    The number of zero bits above the highest one.

    >>> count_leading_zeros(np, np.int8([0, 1, -1])).tolist()
    [8, 7, 0]
    """
    width = value.dtype.itemsize * 8
    bits = value.view(np.dtype(f"u{value.dtype.itemsize}"))
    shift = 1
    while shift < width:
        bits = bits | xp.right_shift(bits, bits.dtype.type(shift))
        shift *= 2
    return (width - xp.bitwise_count(bits).astype(np.int64)).astype(value.dtype)


def popcnt(xp: Any, value: Array) -> Array:
    """The number of one bits."""
    return xp.bitwise_count(value.view(np.dtype(f"u{value.dtype.itemsize}"))).astype(value.dtype)


def convert(xp: Any, value: Array, dtype: np.dtype[Any]) -> Array:
    """
    Values in another type: floats become integers toward zero, saturating, NaN as 0; integers wrap.

    >>> convert(np, np.float32([1e9, -1.5, np.nan]), np.dtype("int8")).tolist()
    [127, -1, 0]
    """
    source = value.dtype
    if source == dtype:
        return value
    if source.kind == "c" and dtype.kind != "c":
        value = value.real
    if dtype.kind == "b":
        return widen(xp, value) != 0
    if is_integer(dtype) and working_dtype(value.dtype).kind == "f":
        return _float_to_integer(xp, widen(xp, value), dtype)
    if dtype in NARROW_INTEGERS:
        return narrow(xp, value.astype(np.int64), dtype)
    return widen(xp, value).astype(dtype)


def _float_to_integer(xp: Any, value: Array, dtype: np.dtype[Any]) -> Array:
    low, high = int(ml_dtypes.iinfo(dtype).min), int(ml_dtypes.iinfo(dtype).max)
    inside = xp.where((value >= float(low)) & (value < float(high)), value, 0)
    whole = inside.astype(np.uint64 if high > 2**63 else np.int64)
    if dtype in NARROW_INTEGERS:
        whole = whole.astype(np.int32)
        return xp.where(value >= high, high, xp.where(value < low, low, whole)).astype(np.int32).astype(dtype)
    kind = dtype.type
    return xp.where(value >= float(high), kind(high), xp.where(value < float(low), kind(low), whole.astype(dtype)))


def is_pos_inf(xp: Any, value: Array) -> Array:
    """Whether the value is plus infinity."""
    return value == np.inf


def is_neg_inf(xp: Any, value: Array) -> Array:
    """Whether the value is minus infinity."""
    return value == -np.inf


COMPARISONS = {
    "EQ": "equal",
    "NE": "not_equal",
    "GE": "greater_equal",
    "GT": "greater",
    "LE": "less_equal",
    "LT": "less",
}
"""The namespace's function for each StableHLO comparison direction."""


def total_order_key(xp: Any, value: Array) -> Array:
    """Integers that compare as the IEEE total order of the floats: -NaN < -inf < ... < -0 < +0 < ... < +NaN."""
    width = value.dtype.itemsize * 8
    bits = value.view(np.dtype(f"i{value.dtype.itemsize}"))
    return xp.where(bits < 0, bits ^ bits.dtype.type(2 ** (width - 1) - 1), bits)


def select(xp: Any, predicate: Array, on_true: Array, on_false: Array) -> Array:
    """
    Where the predicate holds the first, elsewhere the second.

    Numbers of 1, 2, 4 or 8 bytes are blended as bits: unlike `where`, that does not branch on each element.
    """
    dtype = on_true.dtype
    if xp is not np or dtype.kind not in "fiu" or dtype.itemsize > 8:
        return xp.where(predicate, on_true, on_false)
    bits = _signed(dtype)
    mask = xp.negative(predicate.view(np.int8), dtype=bits)
    first, second = on_true.view(bits), on_false.view(bits)
    return (((first ^ second) & mask) ^ second).view(dtype)


def blend(xp: Any, predicate: Array, on_true: Array, on_false: Array, out: Array, mask: Array) -> None:
    """
    `select` into `out`, which may be one of the operands; `mask` is scratch of the predicate's shape.

    >>> out = np.empty(2, np.float32)
    >>> blend(np, np.array([True, False]), np.float32([1, 2]), np.float32(0), out, np.empty(2, np.int32))
    >>> out.tolist()
    [1.0, 0.0]
    """
    xp.copyto(mask, predicate.view(np.int8))
    xp.negative(mask, out=mask)
    blend_bits(xp, mask, on_true, on_false, out)


def blend_bits(xp: Any, mask: Array, on_true: Array, on_false: Array, out: Array) -> None:
    """`select` into `out` by a mask whose words are all ones or all zeros; `out` may be one of the operands."""
    bits = mask.dtype
    first, second, target = on_true.view(bits), on_false.view(bits), out.view(bits)
    if on_false.ndim == 0 and not second:
        xp.bitwise_and(first, mask, out=target)
        return
    if out is on_false:
        first, second, mask = second, first, xp.invert(mask)
    xp.bitwise_xor(first, second, out=target)
    xp.bitwise_and(target, mask, out=target)
    xp.bitwise_xor(target, second, out=target)


def clamp(xp: Any, low: Array, value: Array, high: Array) -> Array:
    """The value, not below `low` and not above `high`; NaN wherever one is involved."""
    return xp.minimum(xp.maximum(low, value), high)


def reduce_precision(xp: Any, value: Array, exponent_bits: int, mantissa_bits: int) -> Array:
    """The value rounded to a float of so many exponent and mantissa bits, ties to even, in its own type."""
    wide = widen(xp, value)
    own_mantissa, own_exponent = (23, 8) if wide.dtype.itemsize == 4 else (52, 11)
    integer = np.dtype(f"u{wide.dtype.itemsize}")
    bits = wide.view(integer)
    if mantissa_bits < own_mantissa:
        drop = own_mantissa - mantissa_bits
        last = xp.right_shift(bits, integer.type(drop)) & integer.type(1)
        bits = bits + (last + integer.type((1 << (drop - 1)) - 1))
        bits = bits & integer.type(~((1 << drop) - 1) & (2 ** (8 * integer.itemsize) - 1))
    rounded = bits.view(wide.dtype)
    if exponent_bits < own_exponent:
        bias = (1 << (exponent_bits - 1)) - 1
        largest = (2.0 - 2.0**-mantissa_bits) * 2.0**bias
        rounded = xp.where(xp.abs(rounded) > largest, xp.copysign(np.inf, rounded), rounded)
        tiny = xp.abs(rounded) < 2.0 ** (1 - bias)
        rounded = xp.where(tiny, xp.copysign(0.0, rounded), rounded).astype(wide.dtype)
    return xp.where(xp.isnan(wide), wide, rounded).astype(value.dtype)


def bit_count(dtype: np.dtype[Any]) -> int:
    """
    The bits of an element; those of less than a byte have a byte each in memory.

    >>> bit_count(np.dtype(ml_dtypes.int4)), bit_count(np.dtype("float32"))
    (4, 32)
    """
    if dtype in NARROW_INTEGERS:
        return int(ml_dtypes.iinfo(dtype).bits)
    if dtype.kind == "b":
        return 1
    return int(ml_dtypes.finfo(dtype).bits) if dtype in NARROW_FLOATS else 8 * dtype.itemsize


def bitcast_convert(xp: Any, value: Array, dtype: np.dtype[Any]) -> Array:
    """The same bits as another type; a last dim appears or disappears when the widths differ."""
    value = xp.ascontiguousarray(value) if value.ndim else value
    source, target = bit_count(value.dtype), bit_count(dtype)
    if min(source, target) < 8:
        return _bitcast_in_bytes(xp, value, source, dtype, target)
    if source == target:
        return value.view(dtype)
    if source > target:
        return value.reshape(*value.shape, 1).view(dtype)
    return value.view(dtype).reshape(value.shape[:-1])


def _bitcast_in_bytes(xp: Any, value: Array, source: int, dtype: np.dtype[Any], target: int) -> Array:
    """The same where a type has less than a byte: words of a byte at most are cut or joined, the lowest bits first."""
    words = value.view(np.uint8) & (2**source - 1) if source < 8 else value.reshape(*value.shape, 1).view(np.uint8)
    have, want = min(source, 8), min(target, 8)
    if have > want:
        parts = words[..., None] >> xp.arange(0, have, want, dtype=np.uint8) & (2**want - 1)
        words = parts.reshape(*value.shape, source // target)
    elif have < want:
        parts = words.reshape(*value.shape[:-1], target // want, want // have)
        words = (parts << xp.arange(0, want, have, dtype=np.uint8)).sum(-1, dtype=np.uint8)
    joined = narrow(xp, words.astype(np.int32), dtype) if dtype in NARROW_INTEGERS else words.view(dtype)
    return joined.reshape(value.shape[:-1]) if source < target else joined
