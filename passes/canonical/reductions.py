"""Canonical forms of reductions: the init value is the identity of what combines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.types import plain, shape_of
from shardwright.passes.canonical.constants import splat, splat_value
from shardwright.passes.canonical.shapes import broadcast, reshape
from shardwright.passes.rewriter import Rule, insert_before
from shardwright.rules.reductions import Monoid, identity_of, monoid_of


def _simplify_reduce(op: stablehlo.ReduceOp) -> Operation | SSAValue | None:
    monoid = monoid_of(op)
    if monoid is None:
        return None
    operand, init = op.operands
    constant, identity = splat_value(init), identity_of(monoid, operand)
    if constant is None or constant != identity:
        return _split_init(op, monoid, identity)
    shape = shape_of(operand)
    if all(shape[dim] == 1 for dim in op.dims):
        return operand if operand.type == op.results[0].type else reshape(operand, op.results[0].type)
    return None


def _split_init(op: Operation, monoid: Monoid, identity: np.ndarray[Any, Any]) -> Operation:
    """Reduces from the identity and combines with the init value once, so that each shard may reduce alone."""
    operand, init = op.operands
    result_type = op.results[0].type
    neutral = insert_before(op, splat(identity, plain(init.type)))
    reduced = op.clone()
    reduced.operands = [operand, neutral.results[0]]
    insert_before(op, reduced)
    start = insert_before(op, broadcast(init, (), result_type))
    return monoid.combiner.create(operands=[reduced.results[0], start.results[0]], result_types=[result_type])


REDUCTION_RULES: Mapping[type[Operation], Rule] = {stablehlo.ReduceOp: _simplify_reduce}
