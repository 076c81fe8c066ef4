"""
Reductions that pick the largest or the smallest element and its place, whatever their body is written like.

A body that only compares its values with each other, compares its places with each other, and selects, is known by what
it does with a smaller, an equal and a larger value (and NaN) and with a smaller, an equal and a larger place.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from shardwright.runtime.codegen import plain as codegen
from shardwright.runtime.program import Kind, Program, Step, Value

_VALUE, _PLACE = 0, 1
_CHOOSING = frozenset({"compare", "select", "and", "or", "not"})


def extreme_kind(body: Program) -> str | None:
    """
    Whether a body of a value and its place keeps the largest (`max`) or the smallest (`min`) value.

    Of equal values it must keep the one at the lower place; a NaN wins, the left one of two.
    """
    if not _only_chooses(body):
        return None
    values, places = (body.inputs[at].dtype for at in (0, 1))
    levels = np.array([1, 2, 3, *([np.nan] if values.kind == "f" else [])], values)
    trials = list(itertools.product(range(len(levels)), range(3), range(len(levels)), range(3)))
    left, left_place, right, right_place = (np.array(column) for column in zip(*trials, strict=True))
    arrays = [levels[left], left_place.astype(places), levels[right], right_place.astype(places)]
    value, place = _evaluated(body, arrays)
    for kind in ("max", "min"):
        wanted_value, wanted_place = _wanted(kind, *arrays)
        if np.array_equal(value, wanted_value, equal_nan=values.kind == "f") and np.array_equal(place, wanted_place):
            return kind
    return None


def _only_chooses(body: Program) -> bool:
    """Whether values meet only values in comparisons, places only places, and nothing is a constant."""
    if not _takes_pairs(body):
        return False
    sides: dict[Value, int] = dict(zip(body.inputs, (_VALUE, _PLACE, _VALUE, _PLACE), strict=True))
    if not all(_keeps_apart(step, sides) for step in body.steps):
        return False
    return [sides.get(output) for output in body.outputs] == [_VALUE, _PLACE]


def _takes_pairs(body: Program) -> bool:
    """Whether a body makes one value and place of two, all of them plain numbers."""
    if len(body.inputs) != 4 or len(body.outputs) != 2:
        return False
    value, place, *right = (item.dtype for item in body.inputs)
    plain = value.kind in "fiu" and value.isbuiltin == 1 and place.kind in "iu"
    return plain and right == [value, place]


def _keeps_apart(step: Step, sides: dict[Value, int]) -> bool:
    """Whether a step compares or chooses on one side alone; notes the side of what is chosen."""
    if step.kind is not Kind.POINTWISE or step.name not in _CHOOSING:
        return False
    if any(operand.splat is not None for operand in step.operands):
        return False
    chooses = step.name == "select"
    found = {sides.get(operand) for operand in (step.operands[1:] if chooses else step.operands)}
    if len(found) != 1 or (step.name == "compare" and (found == {None} or step.static[1])):
        return False
    side = found.pop()
    if chooses and side is not None:
        sides[step.results[0]] = side
    return True


def _evaluated(body: Program, arrays: list[Any]) -> list[Any]:
    known: dict[Value, Any] = dict(zip(body.inputs, arrays, strict=True))
    for step in body.steps:
        known[step.results[0]] = codegen.evaluate(step, known, body)
    return [known[output] for output in body.outputs]


def _wanted(kind: str, left: Any, left_place: Any, right: Any, right_place: Any) -> tuple[Any, Any]:
    larger = left > right if kind == "max" else left < right
    takes_left = larger | np.not_equal(left, left)
    ties = (left == right) & (left_place < right_place)
    return np.where(takes_left, left, right), np.where(takes_left | ties, left_place, right_place)
