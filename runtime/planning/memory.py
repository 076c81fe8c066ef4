"""The memory plan: where in one arena each buffer lies, so that buffers that are never alive together share bytes."""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

_ALIGNMENT = 64
"""Bytes to whose multiples buffers start: a cache line, and the widest vector."""

SMALL = 1 << 11
"""Bytes below which a buffer lies in the arena: its windows are made once, those of results in every run."""

Key = TypeVar("Key", bound=Hashable)


class Room(NamedTuple):
    """Memory beside the arena: a number of bytes that nobody needs before a unit."""

    size: int
    until: int


@dataclass
class Placed(Generic[Key]):
    """
    Where buffers start: in the arena, or in the room of a number, for those that `lodged` names.

    `size` is that of the arena, and `peak` the most bytes alive in it at once.
    """

    offsets: dict[Key, int] = field(default_factory=dict[Key, int])
    lodged: dict[Key, int] = field(default_factory=dict[Key, int])
    size: int = 0
    peak: int = 0


@dataclass
class _Memory:
    """The ranges of a memory, as (start, extent), that are free now, in order and joined."""

    free: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def smallest(self, need: int) -> tuple[int, int] | None:
        """The extent and the start of the smallest range that holds so many bytes."""
        return min(((extent, start) for start, extent in self.free if extent >= need), default=None)

    def take(self, start: int, extent: int, need: int) -> None:
        """The beginning of a free range is free no more."""
        self.free.remove((start, extent))
        if extent > need:
            self.free = sorted([*self.free, (start + need, extent - need)])

    def release(self, start: int, extent: int) -> None:
        """A range is free again."""
        joined: list[tuple[int, int]] = []
        for span in sorted([*self.free, (start, extent)]):
            if joined and joined[-1][0] + joined[-1][1] == span[0]:
                joined[-1] = joined[-1][0], joined[-1][1] + span[1]
            else:
                joined.append(span)
        self.free = joined


def assign_offsets(
    lives: Mapping[Key, tuple[int, int]],
    sizes: Mapping[Key, int],
    rooms: Sequence[Room] = (),
    fixed: Container[Key] = (),
) -> Placed[Key]:
    """
    A place for each buffer: the smallest range that holds it, of the rooms or else of the arena.

    `lives` gives the first and the last unit that touches each buffer. What is `fixed` lies in the arena.

    >>> assign_offsets({"a": (0, 1), "b": (1, 2), "c": (2, 3)}, {"a": 64, "b": 64, "c": 64})
    Placed(offsets={'a': 0, 'b': 64, 'c': 0}, lodged={}, size=128, peak=128)
    """
    placed, arena = Placed[Key](), _Memory()
    inside = [_Memory([(0, room.size)]) for room in rooms]
    ends: dict[int, list[Key]] = {}
    alive, last = 0, -1
    for key in sorted(lives, key=lambda key: lives[key][0]):
        first, end = lives[key]
        for gone in (gone for moment in range(last, first) for gone in ends.pop(moment, ())):
            lodging = placed.lodged.get(gone)
            (arena if lodging is None else inside[lodging]).release(placed.offsets[gone], _rounded(sizes[gone]))
            alive -= _rounded(sizes[gone]) if lodging is None else 0
        last = first
        need = _rounded(sizes[key])
        ends.setdefault(end, []).append(key)
        if need >= SMALL and key not in fixed and _lodge(placed, inside, rooms, key, need, end):
            continue
        alive += need
        placed.peak = max(placed.peak, alive)
        fit = arena.smallest(need)
        if fit is None:
            placed.offsets[key], placed.size = placed.size, placed.size + need
        else:
            placed.offsets[key] = fit[1]
            arena.take(fit[1], fit[0], need)
    return placed


def _lodge(
    placed: Placed[Key], inside: Sequence[_Memory], rooms: Sequence[Room], key: Key, need: int, end: int
) -> bool:
    """Whether a buffer that ends with a unit finds a place in a room; it has it then."""
    fits = [(*fit, at) for at, memory in enumerate(inside) if end < rooms[at].until and (fit := memory.smallest(need))]
    if not fits:
        return False
    extent, start, at = min(fits)
    inside[at].take(start, extent, need)
    placed.offsets[key], placed.lodged[key] = start, at
    return True


def _rounded(size: int) -> int:
    return max(-(-size // _ALIGNMENT), 1) * _ALIGNMENT
