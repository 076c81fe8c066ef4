"""How much a reader takes on trust: the memory that a file's headers may ask for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """
    A chunk whose records, or the places of whose records (8 bytes each), are larger than `always` bytes, and more than
    `expansion` times as large as the chunk itself, is refused before memory is taken (SW0807). Our writer falls back to
    snappy for such a chunk, so that every file that it writes can be read.

    >>> Limits().refuses(1000, 1 << 40), Limits().refuses(1000, 1 << 20)
    (True, False)
    """

    always: int = 1 << 25
    expansion: int = 1024

    def refuses(self, packed: int, unpacked: int) -> bool:
        """Whether a chunk of `packed` bytes may not become `unpacked` bytes."""
        return unpacked > self.always and unpacked > self.expansion * packed


DEFAULT_LIMITS = Limits()
"""Expansion beyond 32 MiB is limited: what a hostile file can cost stays within 64 MiB."""
