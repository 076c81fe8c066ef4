"""What each worker runs right now, in memory that outlives it: so that a death can be told with a line."""

from __future__ import annotations

import mmap
import struct

SLOT = 1024
"""The bytes that each worker has for the place of the call that it runs."""

_LENGTH = struct.Struct("!H")


def note_progress(memory: mmap.mmap, place: int, at: str) -> None:
    """Says that a worker runs the call at this place of the user's source, or, without any text, nothing."""
    text = at.encode()
    if _LENGTH.size + len(text) > SLOT:
        text = b""
    start = SLOT * place
    memory[start : start + _LENGTH.size + len(text)] = _LENGTH.pack(len(text)) + text


def progress_of(memory: mmap.mmap, place: int) -> str:
    """
    What a worker said last.

    >>> memory = mmap.mmap(-1, SLOT)
    >>> note_progress(memory, 0, "train.py:3:1")
    >>> progress_of(memory, 0)
    'train.py:3:1'
    """
    start = SLOT * place
    (length,) = _LENGTH.unpack(memory[start : start + _LENGTH.size])
    # It may have died while it wrote.
    return memory[start + _LENGTH.size : start + _LENGTH.size + length].decode(errors="replace")
