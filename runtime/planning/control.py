"""
Plans of loops and branches: what is carried lies in one place, and is overwritten as soon as nothing reads it any more.

A value of the next round is drafted in a buffer of its own. Where this round's value is not read after the unit that
makes the draft (or only by that unit, element by element), that buffer *is* the place of the value: nothing is copied.
Else it is moved there at the end of the round. Values that a loop only reads stay where they are.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from shardwright.runtime.fusing.boxes import Paste, pastes_over
from shardwright.runtime.fusing.tiles import Tile
from shardwright.runtime.planning.storage import Buffer, Copy, Home, Storage, Window
from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.planning.units import Branch, Loop, Part, Test, Unit, touched
from shardwright.runtime.program import VIEWS, Program, Step, Value


class Planner(Protocol):
    """What is asked of `plan.Planner`."""

    program: Program
    storage: Storage
    units: list[Unit]

    @property
    def made(self) -> AbstractSet[Value]:
        """The results of the program's steps."""
        ...

    @property
    def readers(self) -> Mapping[Value, AbstractSet[Step | None]]:
        """The steps that read each value, through views too."""
        ...

    def inside(self, program: Program, homes: Mapping[Value, Window], targets: Sequence[Window]) -> Planner:
        """A planner for the program of a loop or a branch."""
        ...

    def run(self) -> None:
        """Plans all steps."""
        ...

    def place_results(self) -> None:
        """Copies those results that were not made in their place."""
        ...

    def window(self, value: Value) -> Window:
        """Where a value lies."""
        ...

    def target(self, value: Value) -> Window:
        """Where a value is to be made."""
        ...

    def batched(self) -> list[Unit]:
        """The units, with neighbouring products that threads share in one."""
        ...

    def offsets(self, units: Sequence[Unit], outside: Container[Buffer]) -> tuple[dict[Buffer, int], int]:
        """Where the buffers of these units that are not from outside start, and how many bytes they take."""
        ...


def plan_loop(planner: Planner, step: Step, sources: Sequence[Window]) -> Loop:
    """The unit of a loop; `sources` are where its operands lie."""
    program, (name, rounds) = step.programs[0], step.static
    count = len(program.inputs)
    places = [_place(planner, step, at, sources[at]) for at in range(count)]
    starts = [(place, source) for place, source in zip(places, sources, strict=False) if place != source]
    planner.units += [Copy(place, source) for place, source in starts]
    drafts = [_draft(place) for place in places]
    inner = planner.inside(program, dict(zip(program.inputs, places, strict=True)), drafts)
    inner.run()
    moves = _moves(inner, places, drafts)
    outside = [*places, *sources[count:]]
    part = Part(inner.batched())
    part.hosted = _hosted(part.units, places, drafts, {window.buffer for window in outside})
    kept = [move for move in moves if part.hosted.get(move.source.buffer) is not move.target.buffer]
    part.units = [unit for unit in part.units if not _is_idle(unit, part)] + kept
    size = _assign(inner, part, [window.buffer for window in outside])
    return Loop(part, outside, _workspace(size), name, rounds, program, step.location)


def plan_branch(planner: Planner, step: Step, sources: Sequence[Window]) -> Branch:
    """The unit of a branch; `sources` are where its index and the values from outside lie."""
    places = [planner.target(result) for result in step.results]
    outside = [*places, *sources[1:]]
    parts: list[Part] = []
    size = 0
    for program in step.programs:
        inner = planner.inside(program, {}, places)
        inner.run()
        inner.place_results()
        parts.append(Part(inner.batched()))
        size = max(size, _assign(inner, parts[-1], [window.buffer for window in outside]))
    name, numbers = step.static
    return Branch(sources[0], parts, outside, _workspace(size), name, numbers, step.location)


def _place(planner: Planner, step: Step, at: int, source: Window) -> Window:
    """Where a carried value lies: where the result is to be, or where the value starts if nobody else needs that."""
    result = step.results[at]
    if result not in planner.storage.homes and _is_free(planner, step, step.operands[at], source):
        planner.storage.homes[result] = source
    return planner.target(result)


def _is_free(planner: Planner, step: Step, value: Value, window: Window) -> bool:
    """Whether a value is made in this program in a buffer of its own, for this one use."""
    root = _root(value)
    uses = sum(_root(operand) is root for operand in step.operands)
    own = window.buffer.home is Home.ARENA and _is_whole(window) and root in planner.made
    return own and uses == 1 and planner.readers.get(root) == {step}


def _root(value: Value) -> Value:
    while value.producer is not None and value.producer.kind in VIEWS:
        value = value.producer.operands[0]
    return value


def _is_whole(window: Window) -> bool:
    return window.strided.offset == 0 and window.strided.size == window.buffer.size


def _draft(place: Window) -> Window:
    """A buffer of its own for the next value, laid out as the place is where that is possible."""
    strided = place.strided if _is_whole(place) else Strided.dense(place.strided.shape)
    return Window(Buffer(Home.ARENA, place.buffer.dtype, strided.size), strided)


def _moves(inner: Planner, places: Sequence[Window], drafts: Sequence[Window]) -> list[Copy]:
    """What is left to move at the end of a round; what another move would overwrite is drafted first."""
    held = {place.buffer for place in places}
    moves: list[Copy] = []
    for value, place, draft in zip(inner.program.outputs, places, drafts, strict=True):
        source = inner.window(value)
        if source.buffer in held:
            inner.units.append(Copy(draft, source))
            source = draft
        moves.append(Copy(place, source))
    return moves


@dataclass
class _Touches:
    """When each buffer is touched for the first and the last time by a part's units, and where its test is."""

    units: Sequence[Unit]
    first: dict[Buffer, int] = field(default_factory=dict[Buffer, int])
    last: dict[Buffer, int] = field(default_factory=dict[Buffer, int])
    test: int = -1

    def __post_init__(self) -> None:
        for index, unit in enumerate(self.units):
            if isinstance(unit, Test):
                self.test = index
            for window in touched(unit):
                self.first.setdefault(window.buffer, index)
                self.last[window.buffer] = index


def _hosted(
    units: Sequence[Unit], places: Sequence[Window], drafts: Sequence[Window], outside: Container[Buffer]
) -> dict[Buffer, Buffer]:
    """The buffers of this part that can lie over the values of this round, and those values' buffers."""
    touches = _Touches(units)
    hosted: dict[Buffer, Buffer] = {}
    for place, draft in zip(places, drafts, strict=True):
        if draft.strided != place.strided:
            continue
        chain: list[Window] = []
        fits = 0
        earlier: Window | None = draft
        while earlier is not None and touches.first.get(earlier.buffer, -1) > touches.test:
            chain.append(earlier)
            made, read = touches.first[earlier.buffer], touches.last.get(place.buffer, -1)
            if read < made or (read == made and _overwrites(units[made], place, earlier)):
                fits = len(chain)
            earlier = _before_update(units[made], earlier, touches, outside)
        hosted |= {window.buffer: place.buffer for window in chain[:fits]}
    return hosted


def _before_update(unit: Unit, window: Window, touches: _Touches, outside: Container[Buffer]) -> Window | None:
    """What a unit updates to make `window`, where that is not read afterwards."""
    if not isinstance(unit, Paste) or unit.target != window or not pastes_over(unit):
        return None
    buffer = unit.operand.buffer
    dies = buffer not in outside and touches.last[buffer] == touches.first[window.buffer]
    return unit.operand if dies and buffer.home is Home.ARENA else None


def _overwrites(unit: Unit, place: Window, draft: Window) -> bool:
    """Whether a unit may write a draft over the value at the place, which it reads."""
    if isinstance(unit, Copy):
        return unit.source == place and unit.target == draft
    if isinstance(unit, Paste):
        return unit.operand == place and unit.target == draft and pastes_over(unit)
    if not isinstance(unit, Tile):
        return False
    writes = [write for write in unit.writes if write.window.buffer is draft.buffer]
    return len(writes) == 1 and place.buffer in unit.replaceable(writes[0])


def _is_idle(unit: Unit, part: Part) -> bool:
    """Whether a unit copies a value to where it lies."""
    return isinstance(unit, Copy) and part.hosted.get(unit.target.buffer) is unit.source.buffer


def _assign(inner: Planner, part: Part, outside: Sequence[Buffer]) -> int:
    """Places the buffers of a part in its workspace; the size of that."""
    part.offsets, size = inner.offsets(part.units, {*outside, *part.hosted})
    return size


def _workspace(size: int) -> Window:
    return Window(Buffer(Home.ARENA, np.dtype(np.uint8), size), Strided.dense((size,)))
