"""What each worker runs right now, in memory that outlives it: so that a death can be told with a line."""

from __future__ import annotations

import json
import mmap
import struct
from typing import Any

SLOT = 1024
"""The bytes that each worker has for the place of the call that it runs."""

_LENGTH = struct.Struct("!H")


def note_progress(memory: mmap.mmap, place: int, at: Any) -> None:
    """Says that a worker runs the call at this place of the user's source, or nothing."""
    text = b"" if at is None else json.dumps(at).encode()
    if _LENGTH.size + len(text) > SLOT:
        text = b""
    start = SLOT * place
    memory[start : start + _LENGTH.size + len(text)] = _LENGTH.pack(len(text)) + text


def progress_of(memory: mmap.mmap, place: int) -> Any:
    """
    What a worker said last.

    >>> memory = mmap.mmap(-1, SLOT)
    >>> note_progress(memory, 0, ["train.py", 3, 1])
    >>> progress_of(memory, 0)
    ['train.py', 3, 1]
    """
    start = SLOT * place
    (length,) = _LENGTH.unpack(memory[start : start + _LENGTH.size])
    text = memory[start + _LENGTH.size : start + _LENGTH.size + length]
    try:
        return json.loads(text) if text else None
    except ValueError:  # it died while it wrote
        return None
