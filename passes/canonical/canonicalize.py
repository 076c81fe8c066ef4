"""`canonicalize`: constants folded, do-nothing ops dropped, shape ops and reductions in one form each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects.building import blocks_in, returned
from shardwright.dialects.dtensor.ops import with_layout
from shardwright.dialects.purity import is_pure
from shardwright.dialects.stablehlo import CaseOp, IfOp
from shardwright.passes.canonical.arithmetic import ARITHMETIC_RULES
from shardwright.passes.canonical.constants import splat_value
from shardwright.passes.canonical.extensions import EXTENSION_RULES
from shardwright.passes.canonical.indexing import INDEXING_RULES
from shardwright.passes.canonical.joins import JOIN_RULES
from shardwright.passes.canonical.reductions import REDUCTION_RULES
from shardwright.passes.canonical.shapes import SHAPE_RULES
from shardwright.passes.canonical.windows import WINDOW_RULES
from shardwright.passes.rewriter import Rule, erase, move_body, replace, replace_with
from shardwright.passes.stages import require_stage, stage_of

_TABLES: Sequence[Mapping[type[Operation], Rule]] = (
    ARITHMETIC_RULES,
    SHAPE_RULES,
    JOIN_RULES,
    REDUCTION_RULES,
    WINDOW_RULES,
    EXTENSION_RULES,
    INDEXING_RULES,
)

_RULES: Mapping[type[Operation], Sequence[Rule]] = {
    op: [table[op] for table in _TABLES if op in table] for table in _TABLES for op in table
}
"""The rules of each op; the first that applies does."""

_TYPED = (ReturnOp, CallOp)


@dataclass(frozen=True)
class CanonicalizePass(ModulePass):
    """
    Folds splat constants and do-nothing ops, composes shape ops, gives reductions their identity as init value.

    Of a branch whose index is a constant stays what is taken, so that what it sends can be told beforehand.

    One forward walk: when it reaches an op, the ops that define its operands are already in their final form. Nothing
    takes the place of a result that has a layout which the user gave and that it has not itself, so layouts stay.

    Before:
        %c = stablehlo.constant dense<1.0> : tensor<f32>
        %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4xf32>
        %1 = stablehlo.multiply %x, %0 : tensor<4xf32>
        %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
        %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
        return %3 : tensor<4x8xf32>
    After:
        %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
        return %0 : tensor<4x8xf32>
    """

    name = "canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if stage_of(op) is not None:
            # In between, types carry layouts that a shortcut would not respect.
            require_stage(op, self.name, "traced", "local")
        for function in op.ops:
            _simplify_regions(function)


def _simplify_regions(op: Operation) -> None:
    for block in blocks_in(op):
        _simplify_block(block)


def _simplify_block(block: Block) -> None:
    loose: list[SSAValue] = []
    op = block.first_op
    while op is not None:
        previous, following = op.prev_op, op.next_op
        rules = _RULES.get(type(op), ())
        if any(_apply(rule, op, loose) for rule in rules) or _takes_known_branch(op, loose):
            # Continue with what took the place of `op`: it may be simpler still.
            op = block.first_op if previous is None else previous.next_op
        else:
            if op.regions and not rules:
                _simplify_regions(op)
            op = following
    _erase_unused(loose)


def _takes_known_branch(op: Operation, loose: list[SSAValue]) -> bool:
    """Whether it is known which branch is taken: then what is in it has taken the place of the op."""
    if not isinstance(op, CaseOp | IfOp):
        return False
    index = 0 if len(op.regions) == 1 else _known_branch(op)
    if index is None:
        return False
    block = op.regions[index].block
    values = returned(block)
    if not all(map(_may_stand_for, values, op.results)):
        return False
    loose += op.operands
    move_body(block, op)
    replace(op, values)
    return True


def _known_branch(op: CaseOp | IfOp) -> int | None:
    """The number of the branch that is taken, where that is a constant: the last one for numbers that none has."""
    value, last = splat_value(op.operands[0]), len(op.regions) - 1
    if value is None:
        return None
    if isinstance(op, IfOp):
        return 0 if value else 1
    return int(value) if 0 <= value <= last else last


def _apply(rule: Rule, op: Operation, loose: list[SSAValue]) -> bool:
    outcome, operands = rule(op), op.operands
    if isinstance(outcome, Operation):
        loose += operands
        replace_with(op, outcome)
        return True
    if isinstance(outcome, SSAValue) and _may_stand_for(outcome, op.results[0]):
        loose += operands
        replace(op, [outcome])
        return True
    return False


def _may_stand_for(value: SSAValue, result: SSAValue) -> bool:
    """
    Whether they are of one type, where only `value` may have a layout: `result` may have any, so that one as well.

    What a function is given and gives has the types that it says, layouts included.
    """
    if value.type == result.type:
        return True
    readers = (use.operation for use in result.uses)
    return with_layout(value.type, None) == result.type and not any(isinstance(each, _TYPED) for each in readers)


def _erase_unused(values: list[SSAValue]) -> None:
    """Erases the ops that define `values` where nothing uses them any more, and then what only those used."""
    while values:
        op = values.pop().owner
        if isinstance(op, Operation) and op.parent is not None and is_pure(op) and not any(r.uses for r in op.results):
            values += op.operands
            erase(op)
