"""
The pointwise ops of StableHLO: a row is all that the dialect, the sharding table, the plain kernels and graphs need.

Nothing but ops and their tables has a name here: `stablehlo/__init__.py` passes all of them on.
"""

from xdsl.ir import Operation as _Operation

from shardwright.dialects.stablehlo.elementwise import (
    BinaryOp as _BinaryOp,
    BitcastConvertOp,
    ClampOp,
    CompareOp,
    ComplexOp,
    ConvertOp,
    ElementwiseOp as _ElementwiseOp,
    ReducePrecisionOp,
    SelectOp,
    UnaryOp as _UnaryOp,
    binary as _binary,
    real_element as _real_element,
    transcendental as _transcendental,
    truth_value as _truth_value,
    unary as _unary,
)

AbsOp = _unary(
    "stablehlo.abs",
    "The absolute value; of a complex number its modulus, which is real.",
    kinds="ifc",
    result=_real_element,
    ufunc="abs",
)
CbrtOp = _transcendental("stablehlo.cbrt", "The cube root.")
CeilOp = _unary("stablehlo.ceil", "The least whole number that is not below.", kinds="f", ufunc="ceil", graph="Ceil")
CosineOp = _transcendental("stablehlo.cosine", "The cosine.", ufunc="cos", graph="Cos")
CountLeadingZerosOp = _unary(
    "stablehlo.count_leading_zeros", "The number of zero bits above the highest one.", kinds="i"
)
ExponentialOp = _transcendental("stablehlo.exponential", "e to the power of the operand.", ufunc="exp", graph="Exp")
ExponentialMinusOneOp = _transcendental(
    "stablehlo.exponential_minus_one",
    "e to the power of the operand, minus one; exact near zero.",
    ufunc="expm1",
    graph="Expm1",
)
FloorOp = _unary(
    "stablehlo.floor", "The greatest whole number that is not above.", kinds="f", ufunc="floor", graph="Floor"
)
ImagOp = _unary(
    "stablehlo.imag", "The imaginary part.", kinds="fc", result=_real_element, kernel="imaginary_part", linear=[(0,)]
)
IsFiniteOp = _unary(
    "stablehlo.is_finite",
    "Whether the operand is neither infinite nor NaN.",
    kinds="f",
    result=_truth_value,
    ufunc="isfinite",
)
LogOp = _transcendental("stablehlo.log", "The natural logarithm.", ufunc="log", graph="Log")
LogPlusOneOp = _transcendental(
    "stablehlo.log_plus_one",
    "The natural logarithm of the operand plus one; exact near zero.",
    ufunc="log1p",
    graph="Log1p",
)
LogisticOp = _transcendental("stablehlo.logistic", "The logistic function, 1 / (1 + exp(-x)).", graph="Sigmoid")
NegateOp = _unary("stablehlo.negate", "The negative.", kinds="ifc", ufunc="negative", linear=[(0,)])
NotOp = _unary(
    "stablehlo.not", "Logical not of truth values, bitwise not of integers.", kinds="bi", ufunc="invert", graph="Invert"
)
PopcntOp = _unary("stablehlo.popcnt", "The number of one bits.", kinds="i")
RealOp = _unary("stablehlo.real", "The real part.", kinds="fc", result=_real_element, linear=[(0,)])
RoundNearestAfzOp = _unary(
    "stablehlo.round_nearest_afz", "The nearest whole number; halves go away from zero.", kinds="f"
)
RoundNearestEvenOp = _unary(
    "stablehlo.round_nearest_even",
    "The nearest whole number; halves go to the even one.",
    kinds="f",
    ufunc="rint",
    graph="Rint",
)
RsqrtOp = _transcendental("stablehlo.rsqrt", "One over the square root.", graph="Rsqrt")
SignOp = _unary("stablehlo.sign", "-1, 0 or 1 by sign; of a complex number its direction.", kinds="ifc")
SineOp = _transcendental("stablehlo.sine", "The sine.", ufunc="sin", graph="Sin")
SqrtOp = _transcendental("stablehlo.sqrt", "The square root.", ufunc="sqrt", graph="Sqrt")
TanOp = _transcendental("stablehlo.tan", "The tangent.", ufunc="tan", graph="Tan")
TanhOp = _transcendental("stablehlo.tanh", "The hyperbolic tangent.", ufunc="tanh", graph="Tanh")
AddOp = _binary(
    "stablehlo.add", "The sum; logical or of truth values.", kinds="bifc", ufunc="add", graph="AddV2", linear=[(0, 1)]
)
AndOp = _binary(
    "stablehlo.and",
    "Logical and of truth values, bitwise and of integers.",
    kinds="bi",
    ufunc="bitwise_and",
    graph="BitwiseAnd",
    flows=[("and", (0, 1))],
)
Atan2Op = _binary("stablehlo.atan2", "The angle of the point (rhs, lhs).", kinds="fc", ufunc="arctan2", graph="Atan2")
DivideOp = _binary("stablehlo.divide", "The quotient; of integers rounded towards zero.", kinds="ifc")
MaximumOp = _binary(
    "stablehlo.maximum",
    "The greater operand; NaN if either is.",
    kinds="bifc",
    ufunc="maximum",
    graph="Maximum",
    flows=[("max", (0, 1))],
)
MinimumOp = _binary(
    "stablehlo.minimum",
    "The lesser operand; NaN if either is.",
    kinds="bifc",
    ufunc="minimum",
    graph="Minimum",
    flows=[("min", (0, 1))],
)
MultiplyOp = _binary(
    "stablehlo.multiply",
    "The product; logical and of truth values.",
    kinds="bifc",
    ufunc="multiply",
    graph="Mul",
    linear=[(0,), (1,)],
    flows=[("prod", (0, 1))],
)
OrOp = _binary(
    "stablehlo.or",
    "Logical or of truth values, bitwise or of integers.",
    kinds="bi",
    ufunc="bitwise_or",
    graph="BitwiseOr",
    flows=[("or", (0, 1))],
)
PowerOp = _binary("stablehlo.power", "lhs to the power of rhs.", kinds="ifc")
RemainderOp = _binary("stablehlo.remainder", "The remainder of the division, with the sign of lhs.", kinds="ifc")
ShiftLeftOp = _binary("stablehlo.shift_left", "lhs shifted left by rhs bits.", kinds="i")
ShiftRightArithmeticOp = _binary(
    "stablehlo.shift_right_arithmetic", "lhs shifted right by rhs bits, filled with its sign.", kinds="i"
)
ShiftRightLogicalOp = _binary(
    "stablehlo.shift_right_logical", "lhs shifted right by rhs bits, filled with zeros.", kinds="i"
)
SubtractOp = _binary(
    "stablehlo.subtract", "The difference.", kinds="ifc", ufunc="subtract", graph="Sub", linear=[(0, 1)]
)
XorOp = _binary(
    "stablehlo.xor", "Exclusive or, of truth values or bitwise.", kinds="bi", ufunc="bitwise_xor", graph="BitwiseXor"
)

_WITH_ATTRIBUTES = (BitcastConvertOp, ClampOp, CompareOp, ComplexOp, ConvertOp, ReducePrecisionOp, SelectOp)
_OPS = [op for name, op in sorted(vars().items()) if name.endswith("Op") and not name.startswith("_")]
UNARY_OPS: tuple[type[_UnaryOp], ...] = tuple(op for op in _OPS if issubclass(op, _UnaryOp))
BINARY_OPS: tuple[type[_BinaryOp], ...] = tuple(op for op in _OPS if issubclass(op, _BinaryOp))
TERNARY_OPS: tuple[type[_ElementwiseOp], ...] = (ClampOp, SelectOp)
ELEMENTWISE_OPS: tuple[type[_ElementwiseOp], ...] = (*UNARY_OPS, *BINARY_OPS, *TERNARY_OPS)
ELEMENTWISE: dict[type[_Operation], int] = {
    **dict.fromkeys(UNARY_OPS, 1),
    **dict.fromkeys(BINARY_OPS, 2),
    **dict.fromkeys(TERNARY_OPS, 3),
}
"""Each pointwise op and its number of operands."""
