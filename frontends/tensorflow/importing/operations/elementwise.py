"""TensorFlow's element-wise operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.trip_count import known_integer
from shardwright.frontends import arrays, functions
from shardwright.frontends.tensorflow.importing.evaluate import Call, Value
from shardwright.frontends.tensorflow.importing.table import add, row

FAMILY = "elementwise"

UNARY = {
    "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh", "Atan": "atan", "Atanh": "atanh",
    "Ceil": "ceil", "Conj": "conj", "Cos": "cos", "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Expm1": "expm1",
    "Floor": "floor", "Imag": "imag", "Inv": "reciprocal", "Invert": "bitwise_invert", "IsFinite": "isfinite",
    "IsInf": "isinf", "IsNan": "isnan", "Log": "log", "Log1p": "log1p", "LogicalNot": "logical_not", "Neg": "negative",
    "Real": "real", "Reciprocal": "reciprocal", "Rint": "round", "Round": "round", "Rsqrt": "rsqrt", "Sign": "sign",
    "Sin": "sin", "Sinh": "sinh", "Sqrt": "sqrt", "Square": "square", "Tan": "tan", "Tanh": "tanh",
}  # fmt: skip
"""Operations of one operand, and our functions that are the same."""

BINARY = {
    "Add": "add", "AddV2": "add", "Atan2": "atan2", "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor", "Equal": "equal", "FloorMod": "remainder",
    "Greater": "greater", "GreaterEqual": "greater_equal", "Less": "less", "LessEqual": "less_equal",
    "LogicalAnd": "logical_and", "LogicalOr": "logical_or", "Maximum": "maximum",
    "Mul": "multiply", "NextAfter": "nextafter", "NotEqual": "not_equal", "Pow": "pow", "RealDiv": "divide",
    "LeftShift": "bitwise_left_shift", "RightShift": "bitwise_right_shift", "Sub": "subtract",
}  # fmt: skip
"""Operations of two operands that broadcast, and our functions that are the same."""

FOLDED = {
    "Abs", "Ceil", "Floor", "LogicalNot", "Neg", "Sign", "Sqrt", "Square", "Add", "AddV2", "Equal",
    "FloorMod", "Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr", "Maximum", "Mul",
    "NotEqual", "RealDiv", "Sub",
}  # fmt: skip
"""Those that shapes are computed with."""


def _uniform(function: str, count: int) -> Any:
    def unary(call: Call, x: Value) -> Any:
        return getattr(call.xp, function)(x)

    def binary(call: Call, x: Value, y: Value) -> Any:
        return getattr(call.xp, function)(x, y)

    return unary if count == 1 else binary


for _op, _function in UNARY.items():
    add(_op, _uniform(_function, 1), FAMILY, folds=_op in FOLDED)
for _op, _function in BINARY.items():
    add(_op, _uniform(_function, 2), FAMILY, folds=_op in FOLDED)


@row("Minimum", folds=True)
def _minimum(call: Call, x: Value, y: Value) -> Any:
    """Between bounds that are equal, a number is known: so counts have sizes that shapes are made of."""
    for bound, other in ((x, y), (y, x)):
        if isinstance(bound, np.ndarray) and isinstance(other, Tracer) and not bound.ndim and bound.dtype.kind in "iu":
            low = _lowest(other)
            if low is not None and low >= int(bound):
                return bound
    return call.xp.minimum(x, y)


def _lowest(value: Tracer) -> int | None:
    """What a whole number is at least, where that is known: the larger of it and something else."""
    op = value.value.owner
    if not isinstance(op, stablehlo.MaximumOp) or value.shape:
        return None
    return max((low for low in map(known_integer, op.operands) if low is not None), default=None)


@row("Identity", "Snapshot", "PreventGradient", "DisableCopyOnRead", "DebugGradientIdentity", folds=True)
def _identity(call: Call, x: Value) -> Value | None:
    return None if call.node.op == "DisableCopyOnRead" else x


@row("StopGradient", folds=True)
def _stop_gradient(call: Call, x: Any) -> Value:
    return x if call.folding else emit.as_tracer(functions.stop_gradient(x))


@row("CheckNumerics", "CheckNumericsV2", folds=True)
def _check_numerics(call: Call, x: Value) -> Value:
    return x


@row("IdentityN", folds=True)
def _identities(call: Call, *values: Value) -> tuple[Value, ...]:
    return values


@row("EnsureShape", folds=True)
def _ensure_shape(call: Call, x: Any) -> Value:
    said = call["shape"]
    if said is not None and (
        len(said) != len(x.shape) or any(due not in (None, size) for size, due in zip(x.shape, said, strict=True))
    ):
        raise call.fault(f"a value of shape {list(x.shape)} where {list(said)} is due")
    return x


@row("Cast", folds=True)
def _cast(call: Call, x: Any) -> Any:
    target = call.dtype("DstT")
    if call["Truncate"] and target.itemsize < x.dtype.itemsize and target.kind in "fV":
        raise call.fault("rounding towards zero is not supported", "SW0885")
    if x.dtype.kind == "c" and target.kind != "c":
        x = call.xp.real(x)
    return call.xp.astype(x, target)


@row("AddN", "AccumulateNV2", folds=True)
def _add_n(call: Call, *values: Value) -> Any:
    total: Any = values[0]
    for value in values[1:]:
        total = call.xp.add(total, value)
    return total


@row("SquaredDifference")
def _squared_difference(call: Call, x: Any, y: Any) -> Any:
    difference = arrays.subtract(x, y)
    return arrays.multiply(difference, arrays.conj(difference))


@row("Div")
def _div(call: Call, x: Any, y: Any) -> Any:
    return arrays.divide(x, y) if x.dtype.kind in "fcV" else truncated(x, y)[0]


def _floor_div(call: Call, x: Any, y: Any) -> Any:
    """Of floats TensorFlow rounds the quotient down, which Python's `//` does not."""
    if x.dtype.kind in "iu":
        return call.xp.floor_divide(x, y)
    return call.xp.floor(call.xp.divide(x, y))


add("FloorDiv", _floor_div, FAMILY, folds=True)


@row("TruncateDiv")
def _truncate_div(call: Call, x: Value, y: Value) -> Any:
    return truncated(x, y)[0]


@row("TruncateMod", "Mod")
def _truncate_mod(call: Call, x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu":
        return truncated(x, y)[1]
    rest = arrays.remainder(arrays.abs(x), arrays.abs(y))
    return arrays.copysign(rest, arrays.add(x, arrays.zeros_like(rest)))


def truncated(x: Any, y: Any) -> tuple[Tracer, Tracer]:
    """Quotient and rest of whole numbers, rounded towards zero; by zero it is -1, or 1 of what is negative."""
    left, right = emit.operands("TruncateDiv", x, y)
    quotient, rest = (emit.binary(operation, left, right) for operation in (stablehlo.DivideOp, stablehlo.RemainderOp))
    zero, one = (emit.constant(number, left.dtype, left.shape) for number in (0, 1))
    turned = emit.compare("EQ", right, zero) & emit.compare("LT", left, zero)
    return emit.select(turned, one, quotient), rest


def _like(number: float, x: Any) -> Any:
    """A number of the type of `x`."""
    return np.array(number).astype(x.dtype)


def _where_zero(test: Any, zero: Any, otherwise: Any) -> Any:
    """Zero where `test` is zero; what would be no number there is not computed with."""
    return arrays.where(arrays.equal(test, _like(0, test)), zero, otherwise)


@row("DivNoNan")
def _div_no_nan(call: Call, x: Any, y: Any) -> Any:
    safe = _where_zero(y, _like(1, y), y)
    return _where_zero(y, _like(0, x), arrays.divide(x, safe))


@row("MulNoNan")
def _mul_no_nan(call: Call, x: Any, y: Any) -> Any:
    return _where_zero(y, _like(0, x), arrays.multiply(x, y))


@row("Xdivy")
def _xdivy(call: Call, x: Any, y: Any) -> Any:
    return _where_zero(x, _like(0, x), arrays.divide(x, y))


@row("Xlogy")
def _xlogy(call: Call, x: Any, y: Any) -> Any:
    return _where_zero(x, _like(0, x), arrays.multiply(x, arrays.log(y)))


@row("Xlog1py")
def _xlog1py(call: Call, x: Any, y: Any) -> Any:
    return _where_zero(x, _like(0, x), arrays.multiply(x, arrays.log1p(y)))


@row("Complex")
def _complex(call: Call, real: Any, imaginary: Any) -> Any:
    target = call.dtype("Tout")
    turned = arrays.multiply(arrays.astype(imaginary, target), np.array(1j, target))
    return arrays.add(arrays.astype(real, target), turned)


@row("Angle")
def _angle(call: Call, x: Any) -> Any:
    return arrays.atan2(arrays.imag(x), arrays.real(x))


@row("ComplexAbs")
def _complex_abs(call: Call, x: Any) -> Any:
    return arrays.abs(x)


@row("ClipByValue", folds=True)
def _clip_by_value(call: Call, x: Value, low: Value, high: Value) -> Any:
    return call.xp.minimum(call.xp.maximum(x, low), high)


@row("Select", folds=True)
def _select(call: Call, condition: Any, x: Any, y: Any) -> Any:
    if condition.ndim == 1 and x.ndim > 1:  # one truth value for each row
        condition = call.xp.reshape(condition, (*condition.shape, *(1,) * (x.ndim - 1)))
    return call.xp.where(condition, x, y)


@row("SelectV2", folds=True)
def _select_v2(call: Call, condition: Value, x: Value, y: Value) -> Any:
    return call.xp.where(condition, x, y)


@row("ApproximateEqual")
def _approximate_equal(call: Call, x: Any, y: Any) -> Any:
    distance = arrays.abs(arrays.subtract(x, y))
    return arrays.less(distance, _like(call["tolerance"], distance))


def _special(operation: type[chlo.ChloUnaryOp | stablehlo.UnaryOp]) -> Any:
    def evaluate(call: Call, x: Value) -> Any:
        return emit.unary(operation, emit.as_tracer(x, call.node.op))

    return evaluate


def _special_pair(operation: type[chlo.ChloBinaryOp]) -> Any:
    def evaluate(call: Call, x: Value, y: Value) -> Any:
        left, right = emit.operands(call.node.op, x, y)
        return emit.trace_now().emit(operation(left.value, right.value))

    return evaluate


for _op, _operation in (
    ("Erfc", chlo.ErfcOp),
    ("Erfinv", chlo.ErfInvOp),
    ("Lgamma", chlo.LgammaOp),
    ("Digamma", chlo.DigammaOp),
    ("BesselI1e", chlo.BesselI1eOp),
    ("PopulationCount", stablehlo.PopcntOp),
):
    add(_op, _special(_operation), FAMILY)
add("Polygamma", _special_pair(chlo.PolygammaOp), FAMILY)
add("Zeta", _special_pair(chlo.ZetaOp), FAMILY)


@row("ZerosLike", folds=True)
def _zeros_like(call: Call, x: Any) -> Any:
    return np.broadcast_to(_like(0, x), x.shape) if call.folding else arrays.zeros_like(x)


@row("OnesLike", folds=True)
def _ones_like(call: Call, x: Any) -> Any:
    return np.broadcast_to(_like(1, x), x.shape) if call.folding else arrays.ones_like(x)
