"""The arena: the memory of a program's buffers, taken when it first runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.caller import caller
from shardwright.diagnostics.figures import readable_bytes
from shardwright.runtime.planning.plan import Held

_CONTROL_GROUPS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_CACHE_LINE = 64


def arena(size: int, beside: int = 0) -> np.ndarray[Any, Any]:
    """
    Bytes that start at a cache line, beside others that are taken later.

    Raises `MemoryError` where this process may not have so many, which NumPy says only of what it sees at once.

    >>> arena(100).shape
    (100,)
    """
    if size + beside > machine_bytes():
        raise MemoryError
    memory = np.empty(size + _CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % _CACHE_LINE
    return memory[start : start + size]


def machine_bytes() -> int:
    """
    The memory that this process may have: the machine's, or what its control group allows.

    >>> machine_bytes() > 1 << 20
    True
    """
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in _CONTROL_GROUPS:
        text = path.read_text().strip() if path.is_file() else ""
        found += [int(text)] if text.isdecimal() else []
    return min(found)


def out_of_memory(needed: int, largest: Sequence[Held], error: MemoryError) -> ShardwrightError:
    """That a run had no memory (SW0609): what it holds, of which these values are the largest, and who said so."""
    held = [
        f"{readable_bytes(each.bytes)} for {each.name}{f' at {each.location}' if each.location else ''}"
        for each in largest
    ]
    run, have = f"a run holds {readable_bytes(needed)} at once besides its arguments", machine_bytes()
    return ShardwrightError(
        Diagnostic(
            "SW0609",
            f"{run}, and this process may have {readable_bytes(have)}"
            if needed > have
            else f"memory ran out: {run}, and this process, which may have {readable_bytes(have)} in all, got no more",
            caller(),
            (*held, *([f"what failed said: {error}"] if str(error) else [])),
            "run it on several machines, or a smaller program; to explain and to certify it takes no memory",
        )
    )
