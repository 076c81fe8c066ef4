"""Edits of the IR that keep source locations: xDSL's own `replace` drops them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Attribute, Block, Operation, SSAValue

from shardwright.dialects.building import body_of

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
