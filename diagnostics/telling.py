"""What long work tells of itself while it lasts, to whoever listens: what it is, and how much of it is done."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TypeVar

Step = Callable[[int, int], None]
"""Takes how much is done, and how much there is to do."""

Listener = Callable[[str, str], AbstractContextManager[Step]]
"""Takes what lasts, and the unit in which it is counted: bytes, or none."""

LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)

Item = TypeVar("Item")


@contextmanager
def lasting(what: str, unit: str = "") -> Generator[Step | None]:
    """
    Work that may last: yields what to tell its steps to, or None where nobody listens.

    >>> with lasting("saving", "bytes") as step:
    ...     step is None
    True
    """
    listener = LISTENER.get()
    if listener is None:
        yield None
        return
    with listener(what, unit) as step:
        yield step


def counted(
    what: str, items: Collection[Item], size: Callable[[Item], int] = lambda _: 1, unit: str = ""
) -> Iterator[Item]:
    """
    The items, while how many of them are done (or how many bytes, with their sizes) is told.

    >>> list(counted("reading", ["a", "b"]))
    ['a', 'b']
    """
    with lasting(what, unit) as step:
        if step is None:
            yield from items
            return
        done, total = 0, sum(map(size, items))
        for item in items:
            step(done, total)
            yield item
            done += size(item)
        step(done, total)
