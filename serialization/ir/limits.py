"""What attributes may cost that share their parts: a few entries can say what no memory holds."""

from __future__ import annotations

from collections.abc import Sequence

from shardwright.serialization.errors import IrProtoError

DEPTH = 1000
"""Attributes may be nested so deeply."""

ALWAYS = 1 << 16
PER_REFERENCE = 64
"""Written out, an attribute may have so many parts, and so many more for each reference in the tables."""

LARGE = 4096
"""Attributes of more parts than this are parts of arrays, dictionaries, locations, function types and tuples only."""


class Budget:
    """
    Counts, for each attribute of a table, the parts that it would have if nothing were shared.

    Refuses (SW0858) an attribute that has very many more than the table has references, a set of arrays whose elements
    would be looked at very much more often than that, and attributes nested more than a thousand deep.

    >>> budget = Budget()
    >>> budget.add("#unit", ())
    >>> for place in range(100):
    ...     budget.add("!tuple", (place, place))
    Traceback (most recent call last):
    shardwright.serialization.errors.IrProtoError: error[SW0858]: attribute 16 has 131071 parts if none are shared
      help: write the module again
    """

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._widths: list[int] = []
        self._depths: list[int] = []
        self._allowed = ALWAYS
        self._looked_at = 0
        self._used = 0

    def is_large(self, places: Sequence[int]) -> bool:
        """Whether one of these attributes has very many parts, so that it must not get into a message to people."""
        return any(self._sizes[place] > LARGE for place in places)

    def use(self, operation: int, places: Sequence[int]) -> None:
        """Count the attributes of an operation: all operations together may have as many parts as attributes may."""
        self._allowed += PER_REFERENCE * (1 + len(places))
        self._used += sum([self._sizes[place] for place in places])
        if self._used > self._allowed:
            message = f"the operations up to number {operation} have attributes of {self._used} parts"
            raise IrProtoError("SW0858", message)

    def add(self, kind: str, parts: Sequence[int]) -> None:
        """Count the next attribute of the table, which has these parts."""
        self._allowed += PER_REFERENCE * (1 + len(parts))
        size = 1 + sum([self._sizes[part] for part in parts])
        width = 1 + sum([self._widths[part] for part in parts])
        depth = 1 + max([self._depths[part] for part in parts], default=0)
        self._looked_at += width
        if size > self._allowed or self._looked_at > self._allowed:
            raise self._refuse(f"has {max(size, width)} parts if none are shared")
        if depth > DEPTH:
            raise self._refuse(f"is nested more than {DEPTH} deep")
        self._sizes.append(size)
        # Only arrays have their elements looked at by what holds them.
        self._widths.append(width if kind == "#array" else 1)
        self._depths.append(depth)

    def _refuse(self, message: str) -> IrProtoError:
        return IrProtoError("SW0858", f"attribute {len(self._sizes)} {message}")
