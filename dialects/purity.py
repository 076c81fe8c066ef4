"""Whether an op may be erased, merged or moved: asked by several passes, cheap by class."""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation
from xdsl.traits import NoMemoryEffect, is_side_effect_free

from shardwright.dialects.stablehlo import CustomCallOp


def is_pure(op: Operation) -> bool:
    """Whether `op` only computes its results from its operands."""
    asked = bool(op.regions) or isinstance(op, CustomCallOp)
    return _pure_class(type(op)) or (asked and is_side_effect_free(op))


@cache
def _pure_class(op_class: type[Operation]) -> bool:
    return any(isinstance(trait, NoMemoryEffect) for trait in op_class.traits)
