"""Folding of element-wise ops: on splat constants, and with neutral elements where that is exact to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.types import (
    element_dtype,
    element_of,
    is_boolean,
    is_complex,
    is_float,
)
from shardwright.passes.canonical.constants import resplat, splat, splat_bytes, splat_value
from shardwright.passes.rewriter import Rule
from shardwright.rules.reductions import MONOIDS

Scalar: TypeAlias = "np.ndarray[Any, Any]"


def _fold(op: Operation, compute: Callable[..., Any]) -> Operation | None:
    """The op as a constant, when all of its operands are splats."""
    values = [splat_value(operand) for operand in op.operands]
    if any(value is None for value in values):
        return None
    dtype = element_dtype(element_of(op.results[0]))
    if dtype.isbuiltin != 1:
        return None  # ml_dtypes' own: the kernels say how they round
    with np.errstate(all="ignore"):
        folded = np.asarray(compute(*values))
    return splat(folded, op.results[0].type) if folded.dtype == dtype else None


def _equals(identity: Callable[[np.dtype[Any]], Any]) -> Callable[[Scalar], bool]:
    return lambda value: bool(value == identity(value.dtype))


def _is_plus_zero(value: Scalar) -> bool:
    return bool(value == 0) and not any(value.tobytes())


def _is_additive_identity(value: Scalar) -> bool:
    # In floats 0.0 + -0.0 is 0.0: only -0.0 leaves every x as it is.
    return bool(value == 0) and value.tobytes() == np.asarray(-0.0).astype(value.dtype).tobytes()


def _binary(compute: Callable[..., Any], is_neutral: Callable[[Scalar], bool] | None, *, commutes: bool = True) -> Rule:
    """The rule of an op that folds by `compute` and drops an operand for which `is_neutral` holds."""

    def rule(op: Operation) -> Operation | SSAValue | None:
        if is_neutral is not None and not is_complex(element_of(op.results[0])):
            left, right = op.operands
            if _holds(is_neutral, right):
                return left
            if commutes and _holds(is_neutral, left):
                return right
        return _fold(op, compute)

    return rule


def _holds(test: Callable[[Scalar], bool], value: SSAValue) -> bool:
    constant = splat_value(value)
    return constant is not None and test(constant)


def _simplify_divide(op: Operation) -> Operation | SSAValue | None:
    dividend, divisor = op.operands
    if _holds(_equals(MONOIDS[stablehlo.MultiplyOp].identity), divisor):
        return dividend
    return _fold(op, np.divide) if is_float(element_of(op.results[0])) else None


def _simplify_involution(compute: Callable[..., Any]) -> Rule:
    def rule(op: Operation) -> Operation | SSAValue | None:
        inner = op.operands[0].owner
        return inner.operands[0] if isinstance(inner, type(op)) else _fold(op, compute)

    return rule


def _simplify_convert(op: Operation) -> Operation | SSAValue | None:
    operand, result = op.operands[0], op.results[0]
    if operand.type == result.type:
        return operand
    if is_float(element_of(operand)) and not is_float(element_of(result)):
        return None  # out of range, each backend has its own answer
    dtype = element_dtype(element_of(result))

    def convert(value: Scalar) -> Scalar:
        return value.astype(dtype)

    return _fold(op, convert)


_RELATIONS: dict[str, Callable[..., Any]] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "GE": np.greater_equal,
    "GT": np.greater,
    "LE": np.less_equal,
    "LT": np.less,
}


def _simplify_compare(op: stablehlo.CompareOp) -> Operation | SSAValue | None:
    kind = op.compare_type
    if (kind is not None and kind.data.value == "TOTALORDER") or is_complex(element_of(op.operands[0])):
        return None
    return _fold(op, _RELATIONS[op.comparison_direction.data.value])


def _simplify_select(op: Operation) -> Operation | SSAValue | None:
    predicate, on_true, on_false = op.operands
    if on_true is on_false:
        return on_true
    if is_boolean(element_of(on_true)) and (splat_bytes(on_true), splat_bytes(on_false)) == (b"\1", b"\0"):
        return predicate
    chosen = splat_bytes(predicate)
    if chosen is None:
        return None
    value = on_true if chosen[0] else on_false
    data = splat_bytes(value)
    return value if data is None else resplat(data, op.results[0].type)


_REDUCERS: Mapping[type[Operation], Callable[..., Any]] = {
    stablehlo.MultiplyOp: np.multiply,
    stablehlo.MaximumOp: np.maximum,
    stablehlo.MinimumOp: np.minimum,
    stablehlo.AndOp: np.bitwise_and,
    stablehlo.OrOp: np.bitwise_or,
}
"""Ops that drop the neutral element of a reduction by them."""

ARITHMETIC_RULES: Mapping[type[Operation], Rule] = {
    stablehlo.AddOp: _binary(np.add, _is_additive_identity),
    stablehlo.SubtractOp: _binary(np.subtract, _is_plus_zero, commutes=False),
    **{op: _binary(compute, _equals(MONOIDS[op].identity)) for op, compute in _REDUCERS.items()},
    stablehlo.XorOp: _binary(np.bitwise_xor, _equals(MONOIDS[stablehlo.OrOp].identity)),
    stablehlo.DivideOp: _simplify_divide,
    stablehlo.NegateOp: _simplify_involution(np.negative),
    stablehlo.NotOp: _simplify_involution(np.bitwise_not),
    stablehlo.ConvertOp: _simplify_convert,
    stablehlo.CompareOp: _simplify_compare,
    stablehlo.SelectOp: _simplify_select,
}
