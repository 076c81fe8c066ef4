"""Which reductions combine in any order, and from which initial value: the monoids among StableHLO's reducers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.ir import Block, Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import only_op
from shardwright.dialects.dtensor.kinds import NEUTRAL, neutral
from shardwright.dialects.types import element_of

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Monoid:
    """How a reducer combines: the kind of its partial results, and its op."""

    kind: str
    combiner: type[Operation]

    def identity(self, dtype: np.dtype[Any]) -> Any:
        """The neutral element for a dtype."""
        return NEUTRAL[self.kind](dtype)


MONOIDS: dict[type[Operation], Monoid] = {
    stablehlo.AddOp: Monoid("sum", stablehlo.AddOp),
    stablehlo.MultiplyOp: Monoid("prod", stablehlo.MultiplyOp),
    stablehlo.MaximumOp: Monoid("max", stablehlo.MaximumOp),
    stablehlo.MinimumOp: Monoid("min", stablehlo.MinimumOp),
    stablehlo.AndOp: Monoid("and", stablehlo.AndOp),
    stablehlo.OrOp: Monoid("or", stablehlo.OrOp),
}
"""The reducers whose partial results can be combined later, by the op in their body."""


def monoid_of(op: Operation) -> Monoid | None:
    """The monoid of a reduction of one operand whose body is a single op on its two arguments."""
    return combiner_of(op.regions[0].block) if len(op.operands) == 2 and len(op.regions) == 1 else None


def combiner_of(block: Block) -> Monoid | None:
    """The monoid of a body that is a single op on its two arguments, in either order."""
    only = only_op(block)
    return MONOIDS.get(type(only)) if only is not None and set(only.operands) == set(block.args) else None


def identity_of(monoid: Monoid, value: SSAValue) -> np.ndarray[Any, Any]:
    """The neutral element for the element type of `value`, as an array of rank 0."""
    return neutral(monoid.kind, element_of(value))


IDEMPOTENT = ("max", "min", "and", "or")
"""The kinds in which a value combined with itself is itself."""


def splits(op: Operation) -> str | None:
    """
    The kind of partial results when `op` may reduce shards alone: a monoid that starts from its identity.

    An idempotent one may start anywhere, since starting more than once changes nothing.
    """
    monoid = monoid_of(op)
    if monoid is None or monoid.kind in IDEMPOTENT:
        return monoid.kind if monoid is not None else None
    init = op.operands[1].owner
    if not isinstance(init, stablehlo.ConstantOp):
        return None
    return monoid.kind if stablehlo.constant_value(init) == identity_of(monoid, op.operands[0]) else None


def is_zero(value: SSAValue) -> bool:
    """Whether a value is a constant whose elements are all zero."""
    owner = value.owner
    return isinstance(owner, stablehlo.ConstantOp) and stablehlo.is_splat(owner) and not stablehlo.splat_value(owner)
