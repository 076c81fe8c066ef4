"""What a region computes on known scalars, for the few ops that reducers are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Block, Operation

from shardwright.dialects import stablehlo
from shardwright.dialects.building import body_of, returned
from shardwright.dialects.types import element_dtype, element_of

_UFUNCS: dict[type[Operation], str] = {
    stablehlo.AddOp: "add",
    stablehlo.SubtractOp: "subtract",
    stablehlo.MultiplyOp: "multiply",
    stablehlo.MaximumOp: "maximum",
    stablehlo.MinimumOp: "minimum",
    stablehlo.AndOp: "bitwise_and",
    stablehlo.OrOp: "bitwise_or",
    stablehlo.XorOp: "bitwise_xor",
    stablehlo.NotOp: "invert",
    stablehlo.AbsOp: "abs",
    stablehlo.NegateOp: "negative",
}
_RELATIONS = {
    "EQ": "equal",
    "NE": "not_equal",
    "GE": "greater_equal",
    "GT": "greater",
    "LE": "less_equal",
    "LT": "less",
}


def evaluated(block: Block, arguments: Sequence[Any]) -> list[Any] | None:
    """What `block` returns for these scalars; None when it holds an op that is not known here."""
    import numpy as np

    values = dict[Any, Any](zip(block.args, arguments, strict=True))
    with np.errstate(all="ignore"):
        for op in body_of(block):
            result = _value(op, [values[operand] for operand in op.operands])
            if result is None:
                return None
            values[op.results[0]] = np.asarray(result).astype(element_dtype(element_of(op.results[0])))
    return [values[value] for value in returned(block)]


def _value(op: Operation, operands: Sequence[Any]) -> Any:
    import numpy as np

    if isinstance(op, stablehlo.ConstantOp):
        return stablehlo.constant_value(op)
    if isinstance(op, stablehlo.SelectOp):
        return operands[1] if operands[0] else operands[2]
    if isinstance(op, stablehlo.CompareOp):
        return None if op.order == "TOTALORDER" else getattr(np, _RELATIONS[op.direction])(*operands)
    name = _UFUNCS.get(type(op))
    return getattr(np, name)(*operands) if name is not None else None
