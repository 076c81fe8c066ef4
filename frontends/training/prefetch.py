"""Items that a thread in the background makes ahead of their use."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Event, Semaphore, Thread
from typing import Any, NamedTuple


class _Item(NamedTuple):
    """A value, or the error instead of it."""

    value: Any
    error: BaseException | None


class _Belt:
    """What the thread and the reader share; the reader itself is not seen by the thread, so that it can be dropped."""

    def __init__(self, ahead: int) -> None:
        self.items: SimpleQueue[_Item] = SimpleQueue()
        self._free = Semaphore(ahead)
        self._stopped = Event()

    def carry(self, source: Iterator[Any]) -> None:
        """Put the items of `source` on the belt, until it ends, fails, or nobody wants them any more."""
        while self._free.acquire() and not self._stopped.is_set():
            try:
                self.items.put(_Item(next(source), None))
            except BaseException as error:
                self.items.put(_Item(None, error))
                break
        close = getattr(source, "close", None)
        if close is not None:
            close()

    def take(self) -> _Item:
        """The next item, when it is there; its place on the belt is free."""
        item = self.items.get()
        self._free.release()
        return item

    def stop(self) -> None:
        """The thread ends when it has made the item at which it is."""
        self._stopped.set()
        self._free.release()


class Prefetched(Iterator[Any]):
    """
    An iterator over what `source()` iterates over, up to `ahead` items of which are made before they are asked for.

    An error is raised where its item would have been, and ends the iteration. The thread ends with the items, on
    `close()`, and when the iterator is dropped.

    >>> list(Prefetched(lambda: iter(range(3)), ahead=2))
    [0, 1, 2]
    """

    def __init__(self, source: Callable[[], Iterator[Any]], ahead: int) -> None:
        self._belt = _Belt(ahead)
        self._done = False
        self._finish = weakref.finalize(self, self._belt.stop)
        # Begun by the thread: also what fails before the first item is an error of that item.
        items = _begun(source)
        Thread(target=self._belt.carry, args=(items,), name="shardwright-prefetch", daemon=True).start()

    def __next__(self) -> Any:
        if self._done:
            raise StopIteration
        item = self._belt.take()
        if item.error is not None:
            self.close()
            raise item.error
        return item.value

    def close(self) -> None:
        """Ends the thread; the iteration is over."""
        self._done = True
        self._finish()


def _begun(source: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    yield from source()
