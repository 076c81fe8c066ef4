"""What the body of a reduction does: on known scalars, and whether it picks an extreme with its place."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Literal

from xdsl.ir import Block, Operation, SSAValue

from shardwright.dialects.building import body_of, returned
from shardwright.dialects.stablehlo import pointwise
from shardwright.dialects.stablehlo.elementwise import CompareOp, SelectOp
from shardwright.dialects.stablehlo.parts.constants import ConstantOp, constant_value
from shardwright.dialects.types import element_dtype, element_of, is_boolean, is_float, is_integer

_UFUNCS: dict[type[Operation], str] = {
    pointwise.AddOp: "add",
    pointwise.SubtractOp: "subtract",
    pointwise.MultiplyOp: "multiply",
    pointwise.MaximumOp: "maximum",
    pointwise.MinimumOp: "minimum",
    pointwise.AndOp: "bitwise_and",
    pointwise.OrOp: "bitwise_or",
    pointwise.XorOp: "bitwise_xor",
    pointwise.NotOp: "invert",
    pointwise.AbsOp: "abs",
    pointwise.NegateOp: "negative",
}
_RELATIONS = {
    "EQ": "equal",
    "NE": "not_equal",
    "GE": "greater_equal",
    "GT": "greater",
    "LE": "less_equal",
    "LT": "less",
}

Extreme = Literal["max", "min"]

_VALUE, _PLACE = 0, 1


def evaluated(block: Block, arguments: Sequence[Any]) -> list[Any] | None:
    """What `block` returns for these scalars, or arrays of them; None when it holds an op that is not known here."""
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

    if isinstance(op, ConstantOp):
        return constant_value(op)
    if isinstance(op, SelectOp):
        return np.where(*operands)
    if isinstance(op, CompareOp):
        return None if op.order == "TOTALORDER" else getattr(np, _RELATIONS[op.direction])(*operands)
    name = _UFUNCS.get(type(op))
    return getattr(np, name)(*operands) if name is not None else None


def extreme_kind(block: Block) -> Extreme | None:
    """
    Whether the body of a reduction of values and their places keeps the largest (`max`) or the smallest (`min`) value.

    However it is written: if it only compares its values with each other, compares its places with each other, and
    selects, it is known by what it does with a smaller, an equal and a larger value (and NaN) and with a smaller, an
    equal and a larger place. Of equal values it must keep the one at the lower place; a NaN wins, the left one of two.
    """
    import numpy as np

    if not _only_chooses(block):
        return None
    value, place = (element_of(argument) for argument in block.args[:2])
    levels = np.array([1, 2, 3, *([np.nan] if is_float(value) else [])]).astype(element_dtype(value))
    trials = list(itertools.product(range(len(levels)), range(3), range(len(levels)), range(3)))
    left, left_place, right, right_place = (np.array(column) for column in zip(*trials, strict=True))
    places = element_dtype(place)
    arrays = [levels[left], left_place.astype(places), levels[right], right_place.astype(places)]
    found = evaluated(block, arrays)
    kinds: tuple[Extreme, Extreme] = ("max", "min")
    return next((kind for kind in kinds if found is not None and _are_alike(found, _wanted(kind, *arrays))), None)


def _only_chooses(block: Block) -> bool:
    """Whether values meet only values in comparisons, places only places, and nothing is a constant."""
    if not _takes_pairs(block):
        return False
    sides: dict[SSAValue, int] = dict(zip(block.args, (_VALUE, _PLACE, _VALUE, _PLACE), strict=True))
    return all(_keeps_apart(op, sides) for op in body_of(block)) and [
        sides.get(value) for value in returned(block)
    ] == [_VALUE, _PLACE]


def _takes_pairs(block: Block) -> bool:
    """Whether a body makes one value and place of two, all of them plain numbers."""
    if len(block.args) != 4 or len(returned(block)) != 2:
        return False
    value, place, *right = (element_of(argument) for argument in block.args)
    return (is_float(value) or is_integer(value)) and is_integer(place) and right == [value, place]


def _keeps_apart(op: Operation, sides: dict[SSAValue, int]) -> bool:
    """Whether an op compares or chooses on one side alone; notes the side of what is chosen."""
    match op:
        case CompareOp():
            found = {sides.get(operand) for operand in op.operands}
            return len(found) == 1 and found != {None}
        case SelectOp():
            found = {sides.get(operand) for operand in op.operands[1:]}
            side = next(iter(found))
            if side is not None:
                sides[op.results[0]] = side
            return len(found) == 1
        case pointwise.AndOp() | pointwise.OrOp() | pointwise.NotOp():
            return is_boolean(element_of(op.results[0]))
        case _:
            return False


def _wanted(kind: Extreme, left: Any, left_place: Any, right: Any, right_place: Any) -> tuple[Any, Any]:
    import numpy as np

    with np.errstate(invalid="ignore"):
        larger = left > right if kind == "max" else left < right
    takes_left = larger | (left != left)
    ties = (left == right) & (left_place < right_place)
    return np.where(takes_left, left, right), np.where(takes_left | ties, left_place, right_place)


def _are_alike(found: Sequence[Any], wanted: Sequence[Any]) -> bool:
    """Whether both are the same values and places; NaN is NaN."""
    pairs = zip(found, wanted, strict=True)
    return all(bool(((mine == other) | ((mine != mine) & (other != other))).all()) for mine, other in pairs)
