"""Dynamic slices and their updates where all devices agree on the place: a box is copied, and updated in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from shardwright.runtime.planning.storage import Window
from shardwright.runtime.program import Counter, Kind, Step, Value


@dataclass(frozen=True, slots=True)
class Start:
    """Where a box starts along a dim: a number, or one that a window holds or the round gives, clamped to `last`."""

    place: int | Window | Counter
    last: int


@dataclass(eq=False)
class Cut:
    """Copies the box of these sizes at `starts` from the source; both are given for all dims, leading ones too."""

    source: Window
    target: Window
    starts: tuple[Start, ...]
    sizes: tuple[int, ...]
    location: str


@dataclass(eq=False)
class Paste:
    """The operand with the box at `starts` overwritten; where the target is the operand, nothing else is written."""

    operand: Window
    update: Window
    target: Window
    starts: tuple[Start, ...]
    sizes: tuple[int, ...]
    location: str


Box: TypeAlias = "Cut | Paste"


def is_box(step: Step) -> bool:
    """Whether a step is a dynamic slice or its update, at a place on which all devices agree."""
    if step.kind is not Kind.CALL or step.name not in _FIRST_START:
        return False
    return all(start.size == 1 for start in step.operands[_FIRST_START[step.name] :])


_FIRST_START = {"dynamic_slice": 1, "dynamic_update_slice": 2}
"""The number of the first operand that says where the box starts."""


def plan_box(step: Step, window: Callable[[Value], Window], target: Window) -> Box:
    """The unit of such a step; `window` says where a value lies."""
    first, lead = _FIRST_START[step.name], step.static[-1]
    boxed = step.operands[0] if first == 1 else step.results[0]
    local = step.static[0] if first == 1 else step.operands[1].shape[lead:]
    starts = [Start(0, 0)] * lead
    for start, size, extent in zip(step.operands[first:], local, boxed.shape[lead:], strict=True):
        starts.append(_start(start, extent - size, window))
    sizes = (*boxed.shape[:lead], *local)
    arrays = [window(value) for value in step.operands[:first]]
    if first == 1:
        return Cut(arrays[0], target, tuple(starts), sizes, step.location)
    return Paste(arrays[0], arrays[1], target, tuple(starts), sizes, step.location)


def _start(value: Value, last: int, window: Callable[[Value], Window]) -> Start:
    if not last:
        return Start(0, 0)
    if value.splat is not None:
        return Start(min(max(int(value.splat), 0), last), last)
    return Start(value.counter or window(value), last)


def box_windows(unit: Box) -> list[Window]:
    """All windows that the unit reads or writes."""
    places = [start.place for start in unit.starts if isinstance(start.place, Window)]
    arrays = [unit.source] if isinstance(unit, Cut) else [unit.operand, unit.update]
    return [*arrays, unit.target, *places]


def pastes_over(unit: Paste) -> bool:
    """Whether the target may be the operand: the same layout, and nothing else is read from there."""
    others = [window.buffer for window in box_windows(unit) if window not in (unit.operand, unit.target)]
    whole = unit.operand.strided.size == unit.operand.buffer.size
    return whole and unit.operand.strided == unit.target.strided and unit.operand.buffer not in others
