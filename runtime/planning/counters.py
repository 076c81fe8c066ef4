"""
Counters of loops whose rounds are known: integers that grow by the same amount in each round are worked out, not kept.

```
loop of 8 rounds, from %i = 2:                       loop of 8 rounds:
  %1 = compare LT %i, 0                                ... = dynamic_slice %x, 2 + 3 * round
  %2 = add %i, 40                         ->
  %3 = select %1, %2, %i
  ... = dynamic_slice %x, %3
  next %i = add %i, 3
```
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from shardwright.runtime.program import Counter, Kind, Program, Step, Value

Replaced: TypeAlias = "dict[Value, Value]"


@dataclass(frozen=True, slots=True)
class _Line:
    """An integer that is `start + step * round`."""

    start: int
    step: int


def resolve_counters(loop: Step, rounds: int) -> Replaced:
    """Lets the program of a loop do without its counters; what takes the place of the loop's results that are known."""
    program = loop.programs[0]
    if not rounds:
        return {}
    lines: dict[Value, _Line] = {}
    ends: Replaced = {}
    for value, following, start, result in zip(
        program.inputs, program.outputs, loop.operands, loop.results, strict=False
    ):
        step = _step(value, following)
        if step is not None and _is_integer(start) and start.splat is not None:
            line = _Line(int(start.splat), step)
            if _fits(line, rounds + 1, value):
                lines[value] = line
                ends[result] = _splat(line.start + step * rounds, result)
    if lines:
        _rewrite(program, lines, rounds)
    return ends


def substitute(program: Program, replaced: Mapping[Value, Value]) -> None:
    """Uses other values in place of some, in the programs of loops and branches, too."""
    for step in program.steps:
        step.operands = tuple(replaced.get(operand, operand) for operand in step.operands)
        for inner in step.programs:
            substitute(inner, replaced)
    program.outputs = [replaced.get(value, value) for value in program.outputs]


def _step(value: Value, following: Value) -> int | None:
    """By how much a carried value grows in each round."""
    step = following.producer
    if step is None or step.name not in ("add", "subtract") or not _is_integer(value):
        return None
    left, right = step.operands
    if step.name == "add" and right is value:
        left, right = right, left
    if left is not value or right.splat is None:
        return None
    return int(right.splat) if step.name == "add" else -int(right.splat)


def _rewrite(program: Program, lines: dict[Value, _Line], rounds: int) -> None:
    replaced: Replaced = {value: _counter(line, value, rounds, program) for value, line in lines.items()}
    for step in program.steps:
        step.operands = tuple(replaced.get(operand, operand) for operand in step.operands)
        for inner in step.programs:
            substitute(inner, replaced)
        if step.kind is not Kind.POINTWISE or step.results[0].size != 1:
            continue
        result = step.results[0]
        found = _value(step, program, rounds)
        if isinstance(found, _Line):
            counts = _counter(found, result, rounds, program)
            replaced[result] = counts if found.step else _splat(found.start, result)
        elif found is not None and found.shape == result.shape:
            replaced[result] = found
    program.outputs = [replaced.get(value, value) for value in program.outputs]


def _value(step: Step, program: Program, rounds: int) -> _Line | Value | None:
    """The line that a step's result is, or the operand that it always is."""
    if step.name == "select":
        chosen = step.operands[0].splat
        if chosen is None:
            return None
        found = step.operands[1 if chosen else 2]
        return _line(found, program) or found
    known = [_line(operand, program) for operand in step.operands]
    lines = [line for line in known if line is not None]
    if len(lines) != len(known):
        return None
    if step.name == "compare":
        return _compared(str(step.static[0]), lines[0], lines[1], rounds)
    line = _combined(step, lines)
    return line if line is not None and _is_integer(step.results[0]) and _fits(line, rounds, step.results[0]) else None


def _combined(step: Step, lines: Sequence[_Line]) -> _Line | None:
    match step.name, lines:
        case "add", (a, b):
            return _Line(a.start + b.start, a.step + b.step)
        case "subtract", (a, b):
            return _Line(a.start - b.start, a.step - b.step)
        case "multiply", (a, b) if not a.step or not b.step:
            return _Line(a.start * b.start, a.start * b.step + a.step * b.start)
        case "convert", (a,):
            return a
        case _:
            return None


_DIRECTIONS = {"LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge}


def _compared(direction: str, left: _Line, right: _Line, rounds: int) -> _Line | None:
    """The truth that a comparison has in all rounds: the difference only grows, or only falls."""
    holds = _DIRECTIONS.get(direction)
    if holds is None:
        return None
    ends = {holds(left.start + left.step * at, right.start + right.step * at) for at in (0, rounds - 1)}
    return _Line(int(ends.pop()), 0) if len(ends) == 1 else None


def _line(value: Value, program: Program) -> _Line | None:
    if not _is_integer(value):
        return None
    if value.splat is not None:
        return _Line(int(value.splat), 0)
    counter = value.counter
    return _Line(counter.start, counter.step) if counter is not None and counter.program is program else None


def _is_integer(value: Value) -> bool:
    return value.size == 1 and value.dtype.kind in "iu" and value.dtype.isbuiltin == 1


def _fits(line: _Line, rounds: int, value: Value) -> bool:
    """Whether the dtype holds the number in each of so many rounds."""
    limits = np.iinfo(value.dtype)
    return all(limits.min <= line.start + line.step * at <= limits.max for at in (0, rounds - 1))


def _counter(line: _Line, value: Value, rounds: int, program: Program) -> Value:
    return Value(value.shape, value.dtype, counter=Counter(line.start, line.step, rounds, program))


def _splat(number: int, value: Value) -> Value:
    return Value(value.shape, value.dtype, splat=value.dtype.type(number), constant=True)
