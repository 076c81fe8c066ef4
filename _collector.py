"""Python's cycle collector, which has nothing to find where IR is built."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from threading import RLock

_MANY = 10_000
"""New objects that take the collector a millisecond or more to walk."""

_UNSEEN = 1_000_000
"""Objects taken for old from which all are looked at: those of programs that nobody has any more take some 150 MB."""


class _Pauses:
    """
    Who builds IR now, in any thread: the first who begins stops the collector, the last who ends lets it go on.

    Each for itself would not do: one that finds it stopped by another leaves it so, also where the other has ended
    between the look and the stop.
    """

    def __init__(self) -> None:
        self._lock = RLock()  # Python may free objects here whose finalizers build IR
        self._open = 0
        self._was_enabled = False
        self._old = self._looks = 0

    def begin(self) -> None:
        with self._lock:
            if self._open == 0:
                self._was_enabled = gc.isenabled()
            self._open += 1
            gc.disable()

    def end(self) -> None:
        with self._lock:
            self._open -= 1
            if self._open == 0 and self._was_enabled:
                self._age(gc.get_count()[0])
                gc.enable()

    def _age(self, made: int) -> None:
        """Takes so many new objects for old; all are looked at once in a while."""
        # Somebody's own frozen objects are left alone; to count them takes as long as to walk them.
        if made <= _MANY or gc.get_freeze_count():
            return
        looks = gc.get_stats()[2]["collections"]
        self._old = made if looks != self._looks else self._old + made
        self._looks = looks
        if self._old > _UNSEEN:
            gc.collect()
        else:
            gc.freeze()
            gc.unfreeze()


_pauses = _Pauses()


@contextmanager
def collector_paused() -> Generator[None]:
    """
    Without the collector: the IR is full of cycles that all live, and each look for dead ones walks all of it.

    What was made meanwhile counts as old afterwards: the first look for what died young would walk all of it as well.
    Python does not count what comes to be old in this way, and would never look whether it died: we count it.
    """
    pauses = _pauses
    pauses.begin()
    try:
        yield
    finally:
        pauses.end()
