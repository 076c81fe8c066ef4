"""Loops and branches without some of the values that they give."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from shardwright.dialects.stablehlo import WhileOp
from shardwright.passes.rewriter import erase, insert_before


def narrowed_loop(loop: WhileOp, kept: Sequence[int]) -> WhileOp:
    """The loop, in its place, with only these of its carried values; nothing may use the others any more."""
    for block in (loop.condition.block, loop.body.block):
        for place in reversed(range(len(loop.inputs))):
            if place not in kept:
                block.erase_arg(block.args[place])
    narrowed = _narrowed(loop, [loop.inputs[place] for place in kept], kept)
    assert isinstance(narrowed, WhileOp)
    return narrowed


def return_only(block: Block, kept: Sequence[int]) -> None:
    """Lets a block return only these of its values."""
    last = block.last_op
    assert last is not None
    last.operands = [last.operands[place] for place in kept]


def narrowed_branches(op: Operation, kept: Sequence[int]) -> Operation:
    """An `if` or a `case`, in its place, with only these of its results; nothing may use the others any more."""
    for region in op.regions:
        return_only(region.block, kept)
    return _narrowed(op, op.operands, kept)


def _narrowed(op: Operation, operands: Sequence[SSAValue], kept: Sequence[int]) -> Operation:
    old = [op.results[place] for place in kept]
    new = type(op).create(
        operands=operands,
        result_types=[value.type for value in old],
        properties=op.properties,
        attributes=op.attributes,
        regions=[op.detach_region(0) for _ in range(len(op.regions))],
    )
    insert_before(op, new)
    for before, after in zip(old, new.results, strict=True):
        after.name_hint = before.name_hint
        before.replace_all_uses_with(after)
    erase(op)
    return new
