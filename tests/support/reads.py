"""How many bytes this process has read, by what the system says (Linux)."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

_TASKS = Path("/proc/self/task")


class Reads:
    """
    Counts what is read from now on, but for what it reads itself.

    Threads that are there already and that Python's `threading` did not start count for nothing: pytest-xdist's hears
    its controller all the time.
    """

    def __init__(self) -> None:
        ours = {thread.native_id for thread in threading.enumerate() if type(thread).__name__ != "_DummyThread"}
        self._others = [_TASKS / task / "io" for task in os.listdir(_TASKS) if int(task) not in ours]
        self._own = 0
        self._before = self._totals()

    @property
    def bytes(self) -> int:
        """So many until now."""
        total, others = self._totals()
        before, others_before = self._before
        by_others = sum(others[path] - others_before[path] for path in others)
        return total - before - by_others

    def _totals(self) -> tuple[int, dict[Path, int]]:
        """What all threads have read but for this object, and what each of the others has; all at one moment."""
        while True:
            others, own = self._by_others(), self._own
            total = self._read(Path("/proc/self/io"))
            if self._by_others() == others:
                return total - own, others

    def _by_others(self) -> dict[Path, int]:
        found: dict[Path, int] = {}
        for path in self._others:
            with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
                found[path] = self._read(path)
        return found

    def _read(self, path: Path) -> int:
        text = path.read_text()
        self._own += len(text)
        return int(text.split()[1])
