"""How often a loop runs, where its text says so: a counter from a constant, by a constant, up to a constant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from shardwright.dialects.building import ops_in
from shardwright.dialects.stablehlo import (
    AddOp,
    AndOp,
    BroadcastInDimOp,
    CaseOp,
    CompareOp,
    ConstantOp,
    ConvertOp,
    IfOp,
    OptimizationBarrierOp,
    ReshapeOp,
    SubtractOp,
    WhileOp,
    constant_value,
    element_dtype,
)
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import element_of, is_boolean, is_integer, shape_of

_PASSING = frozenset({"dtensor.constraint", "dtensor.relayout", "sdy.sharding_constraint"})
"""The ops of other dialects whose result is their operand, whole."""


def trip_count(loop: WhileOp) -> int | None:
    """
    How often the body of `loop` runs, or None where that depends on the data.

    ```
    stablehlo.while(%i = %c2) : tensor<i32>            %c2 = dense<2>
    cond { compare LT, %i, %c8 } do { %1 = add %i, %c3 ... }     (8 - 2) / 3, rounded up: 2 times
    ```
    """
    return _count(loop, loop.predicate)


def most_rounds(loop: WhileOp) -> int | None:
    """The same where more may end it: a counter that is still below its limit *and* something else that holds."""
    counts = [count for part in _conjuncts(loop.predicate) if (count := _count(loop, part)) is not None]
    return min(counts, default=None)


def _conjuncts(value: SSAValue) -> list[SSAValue]:
    op = _source(value).owner
    return [part for each in op.operands for part in _conjuncts(each)] if isinstance(op, AndOp) else [value]


def _count(loop: WhileOp, predicate: SSAValue) -> int | None:
    test = _test(loop, predicate)
    if test is None:
        return None
    start = known_integer(loop.inputs[test.number])
    limit = known_integer(test.limit)
    if start is None or limit is None:
        return None
    if not _HOLDS[test.direction](start, limit):
        return 0
    step = _step(loop, test.number)
    count = None if not step else _rounds(test.direction, start, limit, step)
    last = None if count is None or step is None else start + count * step
    return count if last is not None and _fits(last, loop.inputs[test.number]) else None


@dataclass(frozen=True)
class _Test:
    """What a loop compares: its carried value `number` with a limit, in one direction."""

    number: int
    direction: str
    limit: SSAValue


_FLIPPED: Mapping[str, str] = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "NE": "NE", "EQ": "EQ"}
_HOLDS: Mapping[str, Callable[[int, int], bool]] = {
    "LT": lambda value, limit: value < limit,
    "LE": lambda value, limit: value <= limit,
    "GT": lambda value, limit: value > limit,
    "GE": lambda value, limit: value >= limit,
    "NE": lambda value, limit: value != limit,
    "EQ": lambda value, limit: value == limit,
}


def _test(loop: WhileOp, predicate: SSAValue) -> _Test | None:
    compare = _source(predicate).owner
    if not isinstance(compare, CompareOp) or not is_integer(element_of(compare.lhs)):
        return None
    direction = str(compare.direction)
    left, right = _source(compare.lhs), _source(compare.rhs)
    for counter, limit, found in ((left, right, direction), (right, left, _FLIPPED[direction])):
        if isinstance(counter, BlockArgument) and counter.block is loop.condition.block:
            return _Test(counter.index, found, limit)
    return None


def _step(loop: WhileOp, number: int) -> int | None:
    """What the body adds to a carried value in each round."""
    argument = loop.body.block.args[number]
    op = _source(loop.next_values[number]).owner
    if not isinstance(op, AddOp | SubtractOp):
        return None
    left, right = _source(op.lhs), _source(op.rhs)
    if isinstance(op, AddOp) and right is argument:
        left, right = right, left
    amount = known_integer(right) if left is argument else None
    return -amount if amount is not None and isinstance(op, SubtractOp) else amount


def carried_steps(loop: WhileOp) -> dict[int, int]:
    """What the body adds to each integer that it counts with, by its number among what is carried."""
    scalars = [
        number for number, value in enumerate(loop.inputs) if not shape_of(value) and is_integer(element_of(value))
    ]
    found = {number: _step(loop, number) for number in scalars}
    return {number: step for number, step in found.items() if step}


def _rounds(direction: str, start: int, limit: int, step: int) -> int | None:
    """The number of steps from `start` until the comparison fails, None where it never does."""
    distance = limit - start
    match direction:
        case "EQ":
            return 1
        case "NE":
            return distance // step if distance % step == 0 and distance // step > 0 else None
        case "LT" | "LE" if step > 0:
            return -(-(distance + (direction == "LE")) // step)
        case "GT" | "GE" if step < 0:
            return -(-(-distance + (direction == "GE")) // -step)
        case _:
            return None


def _fits(last: int, counter: SSAValue) -> bool:
    """Whether the counter reaches its last value without wrapping around."""
    import numpy as np

    limits = np.iinfo(element_dtype(element_of(counter)))
    return int(limits.min) <= last <= int(limits.max)


def known_integer(value: SSAValue) -> int | None:
    """The integer that a scalar always is, or None."""
    op = _source(value).owner
    if not isinstance(op, ConstantOp) or shape_of(op.result) or not is_integer(element_of(op.result)):
        return None
    return None if is_boolean(element_of(op.result)) else int(constant_value(op).item())


def _source(value: SSAValue) -> SSAValue:
    """The value that `value` is a copy of: past ops that change no scalar, and out of loops that carry it unchanged."""
    while True:
        value = _past_copies(value)
        before = _carried_unchanged(value)
        if before is None:
            return value
        value = before


def _past_copies(value: SSAValue) -> SSAValue:
    while not isinstance(op := value.owner, Block):
        if isinstance(op, OptimizationBarrierOp):
            value = op.operands[list[SSAValue](op.results).index(value)]
        elif _keeps_scalars(op):
            value = op.operands[0]
        else:
            break
    return value


def _carried_unchanged(value: SSAValue) -> SSAValue | None:
    """The input of the loop whose argument `value` is, where the body returns its own argument."""
    if not isinstance(value, BlockArgument) or not isinstance(loop := value.block.parent_op(), WhileOp):
        return None
    same = _past_copies(loop.next_values[value.index]) is loop.body.block.args[value.index]
    return loop.inputs[value.index] if same else None


def _keeps_scalars(op: Operation) -> bool:
    if op.name in _PASSING:
        return True
    if isinstance(op, ReshapeOp | BroadcastInDimOp):
        return not shape_of(op.operands[0]) and not shape_of(op.results[0])
    if not isinstance(op, ConvertOp):
        return False
    before, after = (element_of(value) for value in (op.operands[0], op.results[0]))
    return before == after


def control_names(functions: Iterable[Operation]) -> dict[Operation, str]:
    """
    A name for each loop and branch of these functions, which it keeps through the stages: what it is and where.

    Those written at one place (in a function that is called twice, say) are numbered.
    """
    names: dict[Operation, str] = {}
    count: dict[str, int] = {}
    for function in functions:
        for op in ops_in(function):
            if op.regions and isinstance(op, WhileOp | CaseOp | IfOp):
                place = where(op)
                name = op.name if place is None else f"{op.name} at {place}"
                count[name] = count.get(name, 0) + 1
                names[op] = name if count[name] == 1 else f"{name} ({count[name]})"
    return names
