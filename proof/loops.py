"""Loops that end soon: with a counter of rounds, and spread over all that they would do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, TensorType, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.trip_count import carried_steps, most_rounds
from shardwright.dialects.types import element_of

COUNT: Attribute = TensorType(i32, ())
"""The type of the counter, which is the last that a bounded loop carries."""

KNOWN = "rounds"
"""Where a bounded loop keeps how often it would run at most, if that is known."""


def bounded(
    op: stablehlo.WhileOp, condition: Block, body: Block, inputs: Sequence[SSAValue], build: Builder, rounds: int
) -> stablehlo.WhileOp:
    """
    The loop `op` made of new blocks, which have one more argument: it ends after `rounds` rounds.

    Where it may run more often, and counts, the integers that it counts with skip some: the first and the last round
    are among those that run, and the others are spread evenly. With 4 rounds, `i = 0 ... 9` becomes 0, 3, 6, 9.
    """
    known = most_rounds(op)
    inside = _before_end(condition)
    last, count = condition.last_op, condition.args[-1]
    assert last is not None
    last.operands = [inside.both(last.operands[0], inside.compare(count, "LT", inside.literal(rounds, i32)))]
    inside = _before_end(body)
    last, count = body.last_op, body.args[-1]
    assert last is not None
    after = list(last.operands)
    if known is not None and known > rounds:
        skipped = _skipped(known, rounds, count, inside)
        for number, step in carried_steps(op).items():
            element = element_of(after[number])
            after[number] = inside.add(after[number], inside.scale(inside.cast(skipped, element), step))
    last.operands = [*after, inside.add(count, inside.literal(1, i32))]
    values = [*inputs, build.literal(0, i32)]
    types = [value.type for value in values]
    loop = stablehlo.WhileOp(values, Region([condition]), Region([body]), types)  # pyright: ignore[reportArgumentType]
    loop.location = op.location
    if known is not None:
        loop.attributes[KNOWN] = IntegerAttr(known, i64)
    return loop


def _skipped(known: int, rounds: int, count: SSAValue, build: Builder) -> SSAValue:
    """How many rounds are left out after this one, which is the `count`-th that runs."""
    places = [number * (known - 1) // (rounds - 1) for number in range(rounds)] + [known]
    table = [after - before - 1 for before, after in pairwise(places)]
    window = build.window(build.literal(np.array(table, np.int32), i32, (rounds,)), [count], [1])
    return build.reshape(window, ())


def _before_end(block: Block) -> Builder:
    """Puts ops before a block's last one."""
    last = block.last_op
    assert last is not None

    def insert(new: Operation) -> Operation:
        block.insert_op_before(new, last)
        return new

    return Builder(insert)


def known_rounds(module: Operation) -> list[int | None]:
    """How often each loop of a program in exact numbers would run at most, where that is known."""
    found = [op.attributes.get(KNOWN) for op in module.walk() if isinstance(op, stablehlo.WhileOp)]
    return [known.value.data if isinstance(known, IntegerAttr) else None for known in found]
