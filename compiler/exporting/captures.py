"""Loops that carry what they use: XLA gives a loop's tuple one sharding for each value that the loop names."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from shardwright.dialects.building import captured_by, ops_in
from shardwright.dialects.stablehlo import ConstantOp, ReturnOp, WhileOp
from shardwright.passes.rewriter import erase, insert_before


def carry_captures(module: ModuleOp) -> None:
    """
    Gives each loop the values that its regions use from outside as carried values; constants are made inside.

    ```
    %1 = stablehlo.while(%i = %0) ... do { stablehlo.add %i, %x }
    %1:2 = stablehlo.while(%i = %0, %y = %x) ... do { stablehlo.add %i, %y }
    ```
    """
    for op in ops_in(module):
        if op.name == WhileOp.name and isinstance(op, WhileOp):
            _carry(op)


def _carry(loop: WhileOp) -> None:
    blocks = (loop.condition.block, loop.body.block)
    captured = captured_by(blocks)
    for value in [value for value in captured if isinstance(value.owner, ConstantOp)]:
        for block in blocks:
            _make_inside(value, block)
    carried = [value for value in captured if not isinstance(value.owner, ConstantOp)]
    if carried:
        _widen(loop, carried)


def _make_inside(value: SSAValue, block: Block) -> None:
    uses = [use for use in value.uses if block.is_ancestor(use.operation)]
    first = block.first_op
    if uses and first is not None:
        assert isinstance(value.owner, Operation)
        copy = insert_before(first, value.owner.clone()).results[0]
        value.replace_uses_with_if(copy, lambda use: block.is_ancestor(use.operation))


def _widen(loop: WhileOp, carried: list[SSAValue]) -> None:
    for region in (loop.condition, loop.body):
        block = region.block
        for value in carried:
            argument = block.insert_arg(value.type, len(block.args))
            argument.name_hint, argument.location = value.name_hint, loop.location
            value.replace_uses_with_if(argument, lambda use, block=block: block.is_ancestor(use.operation))
    body = loop.body.block
    last = body.last_op
    assert last is not None
    insert_before(last, ReturnOp(*last.operands, *body.args[len(loop.inputs) :]))
    erase(last)
    types = [*loop.result_types, *(value.type for value in carried)]
    regions = [loop.detach_region(region) for region in (loop.condition, loop.body)]
    wider = WhileOp.create(
        operands=[*loop.operands, *carried], result_types=types, attributes=loop.attributes, regions=regions
    )
    insert_before(loop, wider)
    for old, new in zip(loop.results, wider.results, strict=False):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    erase(loop)
