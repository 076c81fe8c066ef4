"""The sizes of a transformer block, free of JAX."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """The sizes of a block: rows of a batch, tokens, features, heads, key and value heads, hidden units."""

    batch: int = 8
    length: int = 64
    width: int = 128
    heads: int = 4
    groups: int = 4
    hidden: int = 512

    @property
    def head(self) -> int:
        """The width of one head."""
        return self.width // self.heads
