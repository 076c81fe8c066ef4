"""
The pointwise functions of CHLO: a row is all that the dialect, the sharding table, the plain kernels and graphs need.

Nothing but ops and their tables has a name here: `chlo/__init__.py` passes all of them on.
"""

from xdsl.ir import Operation as _Operation

from shardwright.dialects.chlo.shared import (
    ChloBinaryOp as _ChloBinaryOp,
    ChloUnaryOp as _ChloUnaryOp,
    function as _function,
    function_of_two as _function_of_two,
    test as _test,
)

AcosOp = _function("chlo.acos", "The inverse cosine.", ufunc="arccos", graph="Acos")
AcoshOp = _function("chlo.acosh", "The inverse hyperbolic cosine.", ufunc="arccosh", graph="Acosh")
AsinOp = _function("chlo.asin", "The inverse sine.", ufunc="arcsin", graph="Asin")
AsinhOp = _function("chlo.asinh", "The inverse hyperbolic sine.", ufunc="arcsinh", graph="Asinh")
AtanOp = _function("chlo.atan", "The inverse tangent.", ufunc="arctan", graph="Atan")
AtanhOp = _function("chlo.atanh", "The inverse hyperbolic tangent.", ufunc="arctanh", graph="Atanh")
BesselI1eOp = _function("chlo.bessel_i1e", "The exponentially scaled modified Bessel function of order one.")
ConjOp = _function("chlo.conj", "The complex conjugate.", ufunc="conjugate", linear=[(0,)])
CoshOp = _function("chlo.cosh", "The hyperbolic cosine.", ufunc="cosh", graph="Cosh")
DigammaOp = _function("chlo.digamma", "The derivative of the logarithm of the gamma function.")
ErfOp = _function("chlo.erf", "The error function.")
ErfInvOp = _function("chlo.erf_inv", "The inverse of the error function.")
ErfcOp = _function("chlo.erfc", "One minus the error function, exact far from zero.", graph="Erfc")
LgammaOp = _function("chlo.lgamma", "The logarithm of the absolute value of the gamma function.")
SinhOp = _function("chlo.sinh", "The hyperbolic sine.", ufunc="sinh", graph="Sinh")
SquareOp = _function("chlo.square", "The square.", ufunc="square", graph="Square")
TanOp = _function("chlo.tan", "The tangent.", ufunc="tan", graph="Tan")
IsInfOp = _test("chlo.is_inf", "Whether the operand is infinite.", ufunc="isinf")
IsNegInfOp = _test("chlo.is_neg_inf", "Whether the operand is minus infinity.")
IsPosInfOp = _test("chlo.is_pos_inf", "Whether the operand is plus infinity.")
MulhiOp = _function_of_two(
    "chlo.mulhi", "The upper half of the bits of a product of integers.", kinds="i", kernel="high_product"
)
NextAfterOp = _function_of_two("chlo.next_after", "The float next to lhs in the direction of rhs.", ufunc="nextafter")
PolygammaOp = _function_of_two("chlo.polygamma", "The derivative of order lhs of the digamma function at rhs.")
ZetaOp = _function_of_two("chlo.zeta", "The Hurwitz zeta function.")

_OPS = [op for name, op in sorted(vars().items()) if name.endswith("Op") and not name.startswith("_")]
UNARY_OPS: tuple[type[_ChloUnaryOp], ...] = tuple(op for op in _OPS if issubclass(op, _ChloUnaryOp))
BINARY_OPS: tuple[type[_ChloBinaryOp], ...] = tuple(op for op in _OPS if issubclass(op, _ChloBinaryOp))
ELEMENTWISE: dict[type[_Operation], int] = {**dict.fromkeys(UNARY_OPS, 1), **dict.fromkeys(BINARY_OPS, 2)}
"""Each pointwise function and its number of operands."""
