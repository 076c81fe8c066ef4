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

    always: int = 1 << 24
    expansion: int = 256

    def refuses(self, packed: int, unpacked: int) -> bool:
        """Whether a chunk of `packed` bytes may not become `unpacked` bytes."""
        return unpacked > self.always and unpacked > self.expansion * packed


DEFAULT_LIMITS = Limits()
"""Expansion beyond 16 MiB is limited: a record may be in memory three times, which stays within 64 MiB."""

STRICT_LIMITS = Limits(always=1 << 23)
"""Those of readers that put records together; a writer keeps to them, so that every reader takes what it writes."""
