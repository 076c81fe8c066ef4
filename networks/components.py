"""
What belongs together because something ties it together, directly or through others.

networkx has this as well, but most programs need nothing else of it, and to import it is a sixth of what a process
spends until its first program has run: it is imported where its other algorithms are used.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

__all__ = ["Components"]

T = TypeVar("T", bound=Hashable)


class Components(Generic[T]):
    """
    Members that are tied to each other.

    >>> tied = Components("abc")
    >>> tied.tie("c", "d", "a")
    >>> tied.sets(), tied.top("a") == tied.top("d"), tied.top("a") == tied.top("b")
    ([['a', 'c', 'd'], ['b']], True, False)
    """

    def __init__(self, members: Iterable[T] = ()) -> None:
        self._above = {member: member for member in members}

    def tie(self, *members: T) -> None:
        """These belong together; who was not a member is one now."""
        first, *others = map(self.top, members)
        for other in others:
            self._above[self.top(other)] = first

    def sets(self) -> list[list[T]]:
        """Who belongs together, in the order in which they became members."""
        found: dict[T, list[T]] = {}
        for member in self._above:
            found.setdefault(self.top(member), []).append(member)
        return list(found.values())

    def top(self, member: T) -> T:
        """The one that stands for all that a member belongs to; the way there is halved each time."""
        above = self._above
        above.setdefault(member, member)
        while above[member] != member:
            above[member] = member = above[above[member]]
        return member
