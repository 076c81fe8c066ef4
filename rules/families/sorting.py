"""Sort: dims other than the sorted one pass."""

from __future__ import annotations

from functools import cache

from shardwright.dialects import stablehlo
from shardwright.rules.builder import RuleBuilder
from shardwright.rules.rule import PASS, PERMUTE, Rule
from shardwright.rules.sharding import Shape, add_row, operand_shapes


@cache
def _sort_rule(shape: Shape, dim: int, count: int) -> Rule:
    builder = RuleBuilder()
    dims = tuple(builder.factor(size, PERMUTE if at == dim else PASS) for at, size in enumerate(shape))
    return builder.rule([dims] * count, [dims] * count)


def _sort(op: stablehlo.SortOp) -> Rule:
    """All operands are split alike, along any dim but the sorted one, which is whole."""
    return _sort_rule(operand_shapes(op)[0], op.dim, len(op.inputs))


add_row("stablehlo.sort", _sort)
