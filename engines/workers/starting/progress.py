"""What each worker runs right now, in memory that outlives it: so that a death can be told with a line."""

from __future__ import annotations

import mmap
import struct

SLOT = 1024
"""The bytes that each worker has for the place of the call that it runs."""

_HEAD = struct.Struct("!QH")


def note_progress(memory: mmap.mmap, place: int, call: int, at: str) -> None:
    """Says that a worker runs the call of this number, at this place of the user's source; 0 is none."""
    text = at.encode()
    if _HEAD.size + len(text) > SLOT:
        text = b""
    start = SLOT * place
    memory[start : start + _HEAD.size + len(text)] = _HEAD.pack(call, len(text)) + text


def progress_of(memory: mmap.mmap, place: int) -> tuple[int, str]:
    """
    What a worker said last.

    >>> memory = mmap.mmap(-1, SLOT)
    >>> note_progress(memory, 0, 7, "train.py:3:1")
    >>> progress_of(memory, 0)
    (7, 'train.py:3:1')
    """
    start = SLOT * place + _HEAD.size
    call, length = _HEAD.unpack(memory[start - _HEAD.size : start])
    # It may have died while it wrote.
    return call, memory[start : start + length].decode(errors="replace")
