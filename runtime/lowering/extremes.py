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
from shardwright.runtime.program import Kind, Program, Value

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
    if len(body.inputs) != 4 or len(body.outputs) != 2 or any(step.kind is not Kind.POINTWISE for step in body.steps):
        return False
    value, place, *right = body.inputs
    plain = value.dtype.kind in "fiu" and value.dtype.isbuiltin == 1 and place.dtype.kind in "iu"
    if not plain or [item.dtype for item in right] != [value.dtype, place.dtype]:
        return False
    sides = {value: 0, place: 1, right[0]: 0, right[1]: 1}
    for step in body.steps:
        operands = step.operands[1:] if step.name == "select" else step.operands
        if step.name not in _CHOOSING or any(operand.splat is not None for operand in step.operands):
            return False
        found = {sides.get(operand) for operand in operands}
        if len(found) != 1 or (step.name == "compare" and (found == {None} or step.static[1])):
            return False
        side = found.pop()
        if step.name == "select" and side is not None:
            sides[step.results[0]] = side
    return [sides.get(output) for output in body.outputs] == [0, 1]


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
