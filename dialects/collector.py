"""Python's cycle collector, which has nothing to find where IR is built."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

_MANY = 10_000
"""New objects that take the collector a millisecond or more to walk."""

_UNSEEN = 1_000_000
"""Objects taken for old from which all are looked at: those of programs that nobody has any more take some 150 MB."""


class _Old:
    """How many objects were taken for old since the collector looked at all of them, as it does once in a while."""

    def __init__(self) -> None:
        self.count = self._looks = 0

    def add(self, count: int) -> int:
        """How many they are with so many more."""
        looks = gc.get_stats()[2]["collections"]
        self.count = count if looks != self._looks else self.count + count
        self._looks = looks
        return self.count


_old = _Old()


@contextmanager
def collector_paused() -> Generator[None]:
    """
    Without the collector: the IR is full of cycles that all live, and each look for dead ones walks all of it.

    What was made meanwhile counts as old afterwards: the first look for what died young would walk all of it as well.
    Python does not count what comes to be old in this way, and would never look whether it died: we count it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            made = gc.get_count()[0]
            # Somebody's own frozen objects are left alone; to count them takes as long as to walk them.
            if made > _MANY and not gc.get_freeze_count():
                if _old.add(made) > _UNSEEN:
                    gc.collect()
                else:
                    gc.freeze()
                    gc.unfreeze()
            gc.enable()
