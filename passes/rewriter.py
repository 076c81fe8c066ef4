"""Edits of the IR that keep source locations: xDSL's own `replace` drops them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Attribute, Block, Operation, SSAValue

from shardwright.dialects.building import body_of
from shardwright.dialects.stablehlo import WhileOp

Rule: TypeAlias = Callable[[Any], Operation | SSAValue | None]
"""
A local rewrite of an op with one result: the op (not inserted yet) or the value that takes its place, or None.

The tables of rules are keyed by the ops' classes, so a rule takes ops of its own class only.

Ops that the new one needs are put in front of the old one with `insert_before`.
"""


def locate(op: Operation, origin: Operation) -> Operation:
    """Gives `op` the location of `origin`, unless it has one of its own; returns `op`."""
    if isinstance(op.location, UnknownLoc):
        op.location = origin.location
    return op


def insert_before(anchor: Operation, op: Operation) -> Operation:
    """Puts `op` in front of `anchor` and gives it the anchor's location unless it has one; returns `op`."""
    assert anchor.parent is not None
    anchor.parent.insert_op_before(locate(op, anchor), anchor)
    return op


def move_body(block: Block, op: Operation) -> None:
    """Moves the ops of a block, but for its terminator, in front of `op`."""
    for inner in list(body_of(block)):
        inner.detach()
        insert_before(op, inner)


def erase(op: Operation) -> None:
    """Takes an op without uses out of the IR."""
    assert op.parent is not None
    op.parent.erase_op(op)


def replace(op: Operation, values: Sequence[SSAValue]) -> None:
    """Lets every use of the results of `op` use `values` instead, and erases `op`."""
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    erase(op)


def replace_with(op: Operation, new: Operation) -> Operation:
    """
    Puts `new` in the place of `op`: location, uses and name hints move over; returns `new`.

    ```
    %a = stablehlo.transpose %x, dims = [0, 1] : ... loc("f":1:1)
    %a = stablehlo.reshape %x : ...                  loc("f":1:1)
    ```
    """
    insert_before(op, new)
    for old_result, result in zip(op.results, new.results, strict=True):
        result.name_hint = old_result.name_hint
    replace(op, new.results)
    return new


def retype(value: SSAValue, type_: Attribute) -> SSAValue:
    """
    Changes the type of a value in place and returns the value.

    xDSL's own way makes a new value and loses the location of a block argument.
    """
    value._type = type_  # pyright: ignore[reportPrivateUsage]
    return value


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


def narrowed_barrier(op: Operation, kept: Sequence[int]) -> Operation:
    """A barrier, in its place, for these of its values only; nothing may use the others any more."""
    return _narrowed(op, [op.operands[place] for place in kept], kept)


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
