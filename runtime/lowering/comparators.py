"""
What a comparator orders by: keys, where it is a lexicographic order of them, so that arrays are sorted by whole keys.

A key is an expression of the first elements of each pair, compared with the same expression of the second ones:
`f(x) < f(y)`, or `f(x) < f(y) or (f(x) == f(y) and ...)`, which is what JAX writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.types import shape_of

_WHOLE = {*stablehlo.ELEMENTWISE_OPS, *chlo.ELEMENTWISE, stablehlo.ConstantOp}
"""The ops that do for whole arrays what they do for scalars."""


@dataclass(frozen=True)
class Key:
    """A value of the comparator's block that depends on the first elements only, and how it is compared."""

    value: SSAValue
    descends: bool
    total: bool
    """Whether floats are compared in their total order."""


def keys_of(comparator: Block) -> list[Key] | None:
    """The keys of a comparator, the most significant first; None when it is no lexicographic order."""
    last = comparator.last_op
    assert isinstance(last, stablehlo.ReturnOp)
    return _lexicographic(last.operands[0])


def _lexicographic(predicate: SSAValue) -> list[Key] | None:
    parts = _parts(predicate)
    if parts is None:
        key = _key(predicate)
        return None if key is None else [key]
    for before, equal, rest in parts:
        key = _key(before)
        if key is not None and _holds_for_equals(equal, key):
            others = _lexicographic(rest)
            return None if others is None else [key, *others]
    return None


def _parts(predicate: SSAValue) -> list[tuple[SSAValue, SSAValue, SSAValue]] | None:
    """`before or (equal and rest)` and `equal ? rest : before`, in every order in which it may be written."""
    op = predicate.owner
    if isinstance(op, stablehlo.SelectOp):
        return [(op.on_false, op.pred, op.on_true), (op.on_true, op.pred, op.on_false)]
    if not isinstance(op, stablehlo.OrOp):
        return None
    found: list[tuple[SSAValue, SSAValue, SSAValue]] = []
    for before, both in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if isinstance(both.owner, stablehlo.AndOp):
            left, right = both.owner.operands
            found += [(before, left, right), (before, right, left)]
    return found


def _key(predicate: SSAValue) -> Key | None:
    """The key of a single comparison `f(x) < f(y)`, whichever way it is written."""
    op = predicate.owner
    if not isinstance(op, stablehlo.CompareOp) or op.direction not in ("LT", "GT"):
        return None
    total = op.order == "TOTALORDER"
    if _mirrored(op.lhs, op.rhs):
        return Key(op.lhs, op.direction == "GT", total)
    if _mirrored(op.rhs, op.lhs):
        return Key(op.rhs, op.direction == "LT", total)
    return None


def _holds_for_equals(predicate: SSAValue, key: Key) -> bool:
    """Whether a predicate says that the key's values are equal, in the sense in which the key is compared."""
    op = predicate.owner
    after = op.operand.owner if isinstance(op, stablehlo.NotOp) else None
    compare, wanted = (op, ("EQ",)) if after is None else (after, ("LT", "GT"))
    if not isinstance(compare, stablehlo.CompareOp) or compare.direction not in wanted:
        return False
    if (compare.order == "TOTALORDER") != key.total:
        return False
    pairs = ((compare.lhs, compare.rhs), (compare.rhs, compare.lhs))
    if after is not None:  # what comes before in the key and does not come after is equal: the second elements first
        pairs = (pairs[1 if (compare.direction == "GT") == key.descends else 0],)
    return any(_mirrored(x, y) and _alike(x, key.value, 0) for x, y in pairs)


def _mirrored(x: SSAValue, y: SSAValue) -> bool:
    """Whether `y` is of the second elements what `x` is of the first ones, and depends on them at all."""
    return _alike(x, y, 1) and _uses_arguments(x)


def _alike(x: SSAValue, y: SSAValue, step: int) -> bool:
    """
    Whether two values are the same expression, of arguments that are `step` apart and begin at first elements.

    Its ops are element-wise, so that it can be computed for whole arrays.
    """
    if isinstance(x, BlockArgument) and isinstance(y, BlockArgument):
        return x.index % 2 == 0 and y.index == x.index + step
    if not isinstance(x, OpResult) or not isinstance(y, OpResult) or x.index != y.index:
        return False
    first, second = x.op, y.op
    if type(first) is not type(second) or first.properties != second.properties:
        return False
    if type(first) not in _WHOLE or shape_of(x):
        return False
    pairs = list(zip(first.operands, second.operands, strict=False))
    return len(first.operands) == len(second.operands) and all(_alike(a, b, step) for a, b in pairs)


def _uses_arguments(value: SSAValue) -> bool:
    owner = value.owner
    return not isinstance(owner, Operation) or any(map(_uses_arguments, owner.operands))
