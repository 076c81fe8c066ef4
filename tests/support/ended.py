"""Whether processes have ended."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path


def alive(process: int) -> bool:
    """Whether a process runs; one that has ended and was not looked at does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it ends while its file is read
        return False


def all_ended(processes: Iterable[int]) -> bool:
    """Whether processes end within ten seconds."""
    until = time.monotonic() + 10
    left = [*processes]
    while left and time.monotonic() < until:
        time.sleep(0.02)
        left = [process for process in left if alive(process)]
    return not left


def descendants(process: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    parents: dict[int, list[int]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(file.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents.setdefault(parent, []).append(int(file.parent.name))
    found = list(parents.get(process, []))
    for each in found:  # it grows
        found += parents.get(each, [])
    return found
