"""Which reductions combine in any order, and from which initial value: the monoids among StableHLO's reducers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from xdsl.ir import Attribute, Block, Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import only_op
from shardwright.dialects.types import dtype_element, element_dtype, element_of, is_integer

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Monoid:
    """How a reducer combines: the kind of its partial results, its op, and its neutral element for a dtype."""

    kind: str
    combiner: type[Operation]
    identity: Callable[[np.dtype[Any]], Any]


def all_ones(dtype: np.dtype[Any]) -> Any:
    """The neutral element of and: true, or the integer with every bit set."""
    import numpy as np

    return np.asarray(-1).astype(dtype)


def lowest(dtype: np.dtype[Any]) -> Any:
    """The neutral element of max: false, the smallest integer, -inf, or the lowest float where there is no -inf."""
    return _extreme(dtype, -1)


def highest(dtype: np.dtype[Any]) -> Any:
    """The neutral element of min: true, the largest integer, inf, or the highest float where there is no inf."""
    return _extreme(dtype, 1)


def _extreme(dtype: np.dtype[Any], sign: int) -> Any:
    import ml_dtypes
    import numpy as np

    if dtype.kind == "b":
        return np.asarray(sign > 0)
    if is_integer(dtype_element(dtype)):
        limits = ml_dtypes.iinfo(dtype)
        return np.asarray(limits.max if sign > 0 else limits.min).astype(dtype)
    infinity = np.asarray(sign * np.inf).astype(dtype)
    if np.isinf(infinity):
        return infinity
    bounds = ml_dtypes.finfo(dtype)
    return np.asarray(bounds.max if sign > 0 else bounds.min, dtype)


MONOIDS: dict[type[Operation], Monoid] = {
    stablehlo.AddOp: Monoid("sum", stablehlo.AddOp, lambda dtype: 0),
    stablehlo.MultiplyOp: Monoid("prod", stablehlo.MultiplyOp, lambda dtype: 1),
    stablehlo.MaximumOp: Monoid("max", stablehlo.MaximumOp, lowest),
    stablehlo.MinimumOp: Monoid("min", stablehlo.MinimumOp, highest),
    stablehlo.AndOp: Monoid("and", stablehlo.AndOp, all_ones),
    stablehlo.OrOp: Monoid("or", stablehlo.OrOp, lambda dtype: 0),
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
    return _identity(monoid, element_of(value))


@cache
def _identity(monoid: Monoid, element_type: Attribute) -> np.ndarray[Any, Any]:
    import numpy as np

    dtype = element_dtype(element_type)
    found = np.asarray(monoid.identity(dtype)).astype(dtype)
    found.setflags(write=False)
    return found


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
