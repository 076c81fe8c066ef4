"""Python's cycle collector, which has nothing to find where IR is built."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

_MANY = 100_000
"""New objects that take the collector ten milliseconds or more to walk."""


@contextmanager
def collector_paused() -> Generator[None]:
    """
    Without the collector: the IR is full of cycles that all live, and each look for dead ones walks all of it.

    What was made meanwhile counts as old afterwards: the first look for what died young would walk all of it as well.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            # Somebody's own frozen objects are left alone; to count them takes as long as to walk them.
            if gc.get_count()[0] > _MANY and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
