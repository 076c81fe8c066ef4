"""
Where what loops carry lies: in one place, overwritten as soon as nothing reads it any more.

A value of the next round is drafted in a buffer of its own. Where this round's value is not read after the unit that
makes the draft (or only by that unit, element by element), that buffer *is* the place of the value: nothing is copied.
Else it is moved there at the end of the round. Values that a loop only reads stay where they are.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from shardwright.runtime.fusing.boxes import Paste, pastes_over
from shardwright.runtime.fusing.tiles import Tile
from shardwright.runtime.planning.storage import Buffer, Copy, Home, Window
from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.planning.units import Test, Unit, touched


def is_whole(window: Window) -> bool:
    """Whether a window shows all of its buffer."""
    return window.strided.offset == 0 and window.strided.size == window.buffer.size


def draft_of(place: Window) -> Window:
    """A buffer of its own for the next value, laid out as the place is where that is possible."""
    strided = place.strided if is_whole(place) else Strided.dense(place.strided.shape)
    return Window(Buffer(Home.ARENA, place.buffer.dtype, strided.size), strided)


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


def hosted(
    units: Sequence[Unit], places: Sequence[Window], drafts: Sequence[Window], outside: Container[Buffer]
) -> dict[Buffer, Buffer]:
    """The buffers of this part that can lie over the values of this round, and those values' buffers."""
    touches = _Touches(units)
    found: dict[Buffer, Buffer] = {}
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
        found |= {window.buffer: place.buffer for window in chain[:fits]}
    return found


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
    return any(unit.replacements(lambda buffer: buffer is draft.buffer, lambda buffer: buffer is place.buffer))
