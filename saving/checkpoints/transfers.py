"""What was moved between arrays and storage."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ArrayTransfer:
    """
    What this process moved of one array: `count` boxes of `box_bytes`, or some chunks of each of them.

    `stored_bytes` is what storage moved for them, `hash_bytes` are the hashes of the array's chunks.
    """

    name: str
    count: int
    box_bytes: int
    stored_bytes: int
    hash_bytes: int


@dataclass
class Transfers:
    """What was written or read, array by array; `by_device` has what each device wrote."""

    rows: list[ArrayTransfer] = field(default_factory=list[ArrayTransfer])
    by_device: Counter[int] = field(default_factory=Counter[int])

    @property
    def box_bytes(self) -> int:
        return sum(row.count * row.box_bytes for row in self.rows)

    @property
    def stored_bytes(self) -> int:
        """The bytes that were written or read for them, with headers and hashes."""
        return sum(row.stored_bytes + row.hash_bytes for row in self.rows)
