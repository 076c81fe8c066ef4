"""The memory plan: where in one arena each buffer lies, so that buffers that are never alive together share bytes."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
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


class _Rooms:
    """The rooms, each as long as its memory is free; what is free in all of them is found by its extent."""

    def __init__(self, rooms: Sequence[Room]) -> None:
        self._rooms = rooms
        self._inside = [_Memory([(0, room.size)]) for room in rooms]
        self._free = sorted((room.size, at, 0) for at, room in enumerate(rooms))
        self._over = sorted(range(len(rooms)), key=lambda at: -rooms[at].until)

    def leave(self, now: int) -> None:
        """Nothing more finds a place in rooms whose memory is needed from a unit before this one on, or from it on."""
        while self._over and self._rooms[self._over[-1]].until <= now:
            at = self._over.pop()
            self._forget(at)
            self._inside[at].free.clear()

    def take(self, need: int, end: int) -> tuple[int, int] | None:
        """The room and the start of the smallest free range for so many bytes until a unit, which is free no more."""
        for extent, at, start in islice(self._free, bisect_left(self._free, (need, -1, -1)), None):
            if end < self._rooms[at].until:
                self._forget(at)
                self._inside[at].take(start, extent, need)
                self._remember(at)
                return at, start
        return None

    def release(self, at: int, start: int, extent: int) -> None:
        """A range of a room is free again."""
        self._forget(at)
        self._inside[at].release(start, extent)
        self._remember(at)

    def _forget(self, at: int) -> None:
        for start, extent in self._inside[at].free:
            del self._free[bisect_left(self._free, (extent, at, start))]

    def _remember(self, at: int) -> None:
        for start, extent in self._inside[at].free:
            insort(self._free, (extent, at, start))


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
    placed, arena, inside = Placed[Key](), _Memory(), _Rooms(rooms)
    ends: dict[int, list[Key]] = {}
    alive, last = 0, -1
    for key in sorted(lives, key=lambda key: lives[key][0]):
        first, end = lives[key]
        for gone in (gone for moment in range(last, first) for gone in ends.pop(moment, ())):
            start, extent = placed.offsets[gone], _rounded(sizes[gone])
            if gone in placed.lodged:
                inside.release(placed.lodged[gone], start, extent)
            else:
                arena.release(start, extent)
                alive -= extent
        inside.leave(first)
        last = first
        need = _rounded(sizes[key])
        ends.setdefault(end, []).append(key)
        room = inside.take(need, end) if need >= SMALL and key not in fixed else None
        if room is not None:
            placed.lodged[key], placed.offsets[key] = room
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


def _rounded(size: int) -> int:
    return max(-(-size // _ALIGNMENT), 1) * _ALIGNMENT
