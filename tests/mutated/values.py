"""Mistakes in what devices compute: operands, constants, offsets, masks, clamps, reducers, loops and branches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, BlockArgument, Operation

from mutated.collectives import before
from mutated.edits import Edit, earlier, replace_with
from shardwright.dialects import stablehlo
from shardwright.dialects.building import returned
from shardwright.dialects.types import element_of, integers, is_boolean, is_complex

_EITHER_WAY = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")
"""Ops whose operands may come in any order."""

_NO_EDIT = ("stablehlo.return", "func.return", "stablehlo.while", "stablehlo.case", "stablehlo.if")


def operand_edits(op: Operation) -> Iterator[Edit]:
    """Operands that are exchanged, or of another time; an op that is left out."""
    if op.name.startswith("dtensor.") or op.name in ("stablehlo.while", "stablehlo.case", "stablehlo.if"):
        return
    operands = op.operands
    if op.name.partition(".")[2] not in _EITHER_WAY:
        for first in range(len(operands)):
            for second in range(first):
                if operands[first].type == operands[second].type and operands[first] is not operands[second]:
                    yield "operands exchanged", partial(_exchange, first=first, second=second)
    if op.name in _NO_EDIT:
        return
    for at, value in enumerate(operands):
        for back in range(1, 1 + min(len(earlier(op, value)), 2)):
            yield "another value", partial(_another, at=at, back=back)
    if len(op.results) == 1 and not op.regions:
        for at, value in enumerate(operands):
            if value.type == op.results[0].type:
                yield _skipping(op), partial(_skip, at=at)


def _skipping(op: Operation) -> str:
    names = {"stablehlo.select": "unmasked", "stablehlo.clamp": "unclamped"}
    return names.get(op.name, "op left out")


def number_edits(op: Operation) -> Iterator[Edit]:
    """Constants, places and dims that are off by one, exchanged, or negated."""
    if isinstance(op, stablehlo.ConstantOp):
        integer = not is_boolean(element_of(op.result)) and stablehlo.constant_value(op).dtype.kind in "iu"
        for change in (-1, 1) if integer else (1,):
            yield "offset or bound" if integer else "constant", partial(_constant, change=change)
        if integer and stablehlo.is_splat(op) and int(stablehlo.splat_value(op)) > 1:
            yield "bound of a shard", _halved
    if op.name.startswith("dtensor."):
        return
    for name, found in op.properties.items():
        if isinstance(found, DenseArrayBase):
            numbers = tuple(found.get_values())
            for at in range(len(numbers)):
                for change in (-1, 1):
                    other = (*numbers[:at], numbers[at] + change, *numbers[at + 1 :])
                    yield "place or dim", partial(_set, name=name, value=integers(other))
                if at and numbers[at] != numbers[at - 1]:
                    swapped = (*numbers[: at - 1], numbers[at], numbers[at - 1], *numbers[at + 1 :])
                    yield "dims exchanged", partial(_set, name=name, value=integers(swapped))
        elif isinstance(found, IntegerAttr) and name not in ("is_stable", "indices_are_sorted", "unique_indices"):
            for change in (-1, 1):
                other = IntegerAttr(found.value.data + change, found.type)
                yield "place or dim", partial(_set, name=name, value=other)


_OTHERS = {
    "stablehlo.add": stablehlo.MaximumOp,
    "stablehlo.maximum": stablehlo.AddOp,
    "stablehlo.minimum": stablehlo.MaximumOp,
    "stablehlo.multiply": stablehlo.AddOp,
    "stablehlo.subtract": stablehlo.AddOp,
    "stablehlo.and": stablehlo.OrOp,
    "stablehlo.or": stablehlo.AndOp,
}


def meaning_edits(op: Operation) -> Iterator[Edit]:
    """Another op of the same types: a reducer of another kind, a comparison of another direction."""
    if op.name in _OTHERS and not (is_complex(element_of(op.results[0])) and op.name == "stablehlo.add"):
        reducing = op.parent_op() is not None and op.parent_op().name in _REDUCERS  # pyright: ignore
        yield "reducer's kind" if reducing else "another op", _another_op
    if isinstance(op, stablehlo.CompareOp):
        for direction in ("LT", "LE", "GE", "EQ", "NE"):
            if str(op.direction) != direction:
                yield "comparison", partial(_compare, direction=direction)


_REDUCERS = ("stablehlo.reduce", "stablehlo.scatter", "stablehlo.reduce_window", "stablehlo.select_and_scatter")


def control_edits(op: Operation) -> Iterator[Edit]:
    """Carries from the wrong round or the wrong place, loops that are left out, branches exchanged."""
    if isinstance(op, stablehlo.WhileOp):
        for at in range(len(op.results)):
            if returned(op.body.block)[at] is not op.body.block.args[at]:
                yield "carry of the round before", partial(_old_carry, at=at)
                yield "carry of the round after", partial(_new_carry, at=at)
                yield "loop left out", partial(_left_out, at=at)
            for other in range(at):
                if op.results[other].type == op.results[at].type:
                    yield "carries exchanged", partial(_exchange_carries, first=at, second=other)
                    yield "results exchanged", partial(_exchange_results, first=at, second=other)
                    yield "inputs exchanged", partial(_exchange, first=at, second=other)
    if isinstance(op, stablehlo.CaseOp | stablehlo.IfOp):
        yield "branches exchanged", _exchange_branches
    if op.name == "stablehlo.return" and op.parent_op().name in _NO_EDIT:  # pyright: ignore
        for at, value in enumerate(op.operands):
            for back in range(1, 1 + min(len(earlier(op, value)), 3)):
                yield "another value on an edge", partial(_another, at=at, back=back)


def _exchange(op: Operation, first: int, second: int) -> None:
    operands = list(op.operands)
    operands[first], operands[second] = operands[second], operands[first]
    op.operands = operands


def _another(op: Operation, at: int, back: int) -> None:
    operands = list(op.operands)
    operands[at] = earlier(op, operands[at])[-back]
    op.operands = operands


def _skip(op: Operation, at: int) -> None:
    replace_with(op.results[0], op.operands[at])


def _constant(op: Operation, change: int) -> None:
    assert isinstance(op, stablehlo.ConstantOp)
    value = stablehlo.constant_value(op)
    with np.errstate(all="ignore"):
        other = ~value if value.dtype == bool else np.asarray(value + value.dtype.type(change), value.dtype)
        if value.dtype.kind not in "biu" and not np.isfinite(value.astype(np.complex128)).all():
            other = np.zeros_like(value)
    op.properties["value"] = stablehlo.make_dense(other, element_of(op.result), value.shape)


def _halved(op: Operation) -> None:
    assert isinstance(op, stablehlo.ConstantOp)
    value = stablehlo.constant_value(op)
    op.properties["value"] = stablehlo.make_dense(value // 2, element_of(op.result), value.shape)


def _set(op: Operation, name: str, value: Attribute) -> None:
    op.properties[name] = value


def _another_op(op: Operation) -> None:
    other = before(op).put(_OTHERS[op.name](*op.operands))
    other._type = op.results[0].type  # pyright: ignore
    replace_with(op.results[0], other)
    op.detach()
    op.erase()


def _compare(op: Operation, direction: str) -> None:
    assert isinstance(op, stablehlo.CompareOp)
    op.properties["comparison_direction"] = stablehlo.ComparisonDirectionAttr(stablehlo.ComparisonDirection(direction))


def _old_carry(op: Operation, at: int) -> None:
    assert isinstance(op, stablehlo.WhileOp)
    last = op.body.block.last_op
    assert last is not None
    last.operands = [op.body.block.args[at] if n == at else value for n, value in enumerate(last.operands)]


def _new_carry(op: Operation, at: int) -> None:
    """What the round makes is read in it already, wherever that is possible."""
    assert isinstance(op, stablehlo.WhileOp)
    value, old = returned(op.body.block)[at], op.body.block.args[at]
    maker = value.owner
    if isinstance(value, BlockArgument) or not isinstance(maker, Operation):
        return
    later, found = set[Operation](), False
    for other in op.body.block.ops:
        if found:
            later.add(other)
        found = found or other is maker
    old.replace_uses_with_if(value, lambda use: use.operation in later)


def _left_out(op: Operation, at: int) -> None:
    replace_with(op.results[at], op.operands[at])


def _exchange_carries(op: Operation, first: int, second: int) -> None:
    assert isinstance(op, stablehlo.WhileOp)
    last = op.body.block.last_op
    assert last is not None
    _exchange(last, first, second)


def _exchange_results(op: Operation, first: int, second: int) -> None:
    one, other = op.results[first], op.results[second]
    users = [(use.operation, use.index) for use in one.uses]
    replace_with(other, one)
    for user, index in users:
        user.operands = [other if n == index else value for n, value in enumerate(user.operands)]


def _exchange_branches(op: Operation) -> None:
    first, *_, last = op.regions
    one, other = first.block, last.block
    first.detach_block(one)
    last.detach_block(other)
    first.add_block(other)
    last.add_block(one)
