"""The ledger: messages and bytes sent per device, counted from the arrays that the collectives are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any, Protocol

from shardwright.layout.axes import Axis
from shardwright.layout.planning.cost import sent_bytes


@dataclass(frozen=True)
class Message:
    """
    What one collective sends, but for the size of its buffer.

    `lead` is the number of leading (mesh) dims of the arrays that it is given. `moved`, for a permute and an exchange,
    is the exact share of the buffer that a device sends, on average.
    """

    kind: str
    axes: tuple[Axis, ...]
    group_size: int
    lead: int
    moved: Fraction | None = None

    def bytes_for(self, buffer_bytes: int | Fraction) -> Fraction:
        """The bytes that each device sends for a buffer of so many bytes."""
        if self.moved is not None:
            return self.moved * buffer_bytes
        assert isinstance(buffer_bytes, int), "collectives send whole buffers"
        return sent_bytes(self.kind, buffer_bytes, self.group_size)


@dataclass
class Entry:
    """The figures of one kind of collective over one set of axes."""

    messages: int = 0
    sent_bytes: Fraction = field(default_factory=Fraction)


class Counted(Protocol):
    """What a ledger can be made of: another one, as the rooms know it that cannot see this one."""

    @property
    def notes(self) -> Sequence[tuple[Message, int | Fraction]]:
        """The messages in their order, each with the bytes of its buffers."""
        ...

    @property
    def runs(self) -> Mapping[str, Mapping[str, int]]:
        """How often each part of loops and branches ran."""
        ...


class Ledger:
    """
    Counts one run.

    While the run lasts it only notes each message and the bytes of its buffers; the figures are worked out when asked.
    `runs` says for each loop and branch how often its parts ran, collectives or not.

    >>> import numpy as np
    >>> ledger = Ledger()
    >>> ledger.count(Message("all_reduce", (Axis("x"),), 4, 1), np.zeros((4, 8), np.float32))
    >>> ledger.as_dict()["sent_bytes"], ledger.messages
    (48, 1)
    """

    def __init__(self) -> None:
        self._notes: list[tuple[Message, int | Fraction]] = []
        self.runs: dict[str, dict[str, int]] = {}

    def __repr__(self) -> str:
        return f"Ledger({_plain_number(self.sent_bytes):,} bytes sent per device in {self.messages} messages)"

    def reset(self) -> None:
        """Forgets everything."""
        self._notes.clear()
        self.runs.clear()

    def count(self, message: Message, *buffers: Any) -> None:
        """One message whose buffers are the local parts of these stacked arrays, sent as one."""
        if message.group_size > 1:
            lead = message.lead
            self._notes.append((message, sum(prod(b.shape[lead:]) * b.dtype.itemsize for b in buffers)))

    def note(self, message: Message, size: int | Fraction) -> None:
        """One message with a buffer of so many bytes."""
        if size:
            self._notes.append((message, size))

    def include(self, other: Counted) -> None:
        """Adds all that another ledger counted."""
        self._notes += other.notes
        for name, parts in other.runs.items():
            mine = self.runs.setdefault(name, {})
            for part, times in parts.items():
                mine[part] = mine.get(part, 0) + times

    def ran(self, name: str, part: str, times: int = 1) -> None:
        """A part of a loop or a branch ran so many more times: `rounds` after a start of a loop, or `branch 0`."""
        parts = self.runs.setdefault(name, {})
        parts[part] = parts.get(part, 0) + times
        if part == "rounds":
            parts["starts"] = parts.get("starts", 0) + 1

    @property
    def notes(self) -> Sequence[tuple[Message, int | Fraction]]:
        """The messages in their order, each with the bytes of its buffers."""
        return self._notes

    @property
    def entries(self) -> dict[tuple[str, tuple[Axis, ...]], Entry]:
        """The figures by kind of collective and axes."""
        found: dict[tuple[str, tuple[Axis, ...]], Entry] = {}
        for message, size in self._notes:
            entry = found.setdefault((message.kind, message.axes), Entry())
            entry.messages += 1
            entry.sent_bytes += message.bytes_for(size)
        return dict(sorted(found.items()))

    @property
    def sent_bytes(self) -> Fraction:
        """The bytes that each device sent."""
        return sum((message.bytes_for(size) for message, size in self._notes), Fraction())

    @property
    def messages(self) -> int:
        """The number of collectives that sent something."""
        return len(self._notes)

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain data: whole numbers where they are whole."""
        return {
            "sent_bytes": _plain_number(self.sent_bytes),
            "messages": self.messages,
            "collectives": [
                {
                    "kind": kind,
                    "axes": [axis.brief() for axis in axes],
                    "messages": entry.messages,
                    "sent_bytes": _plain_number(entry.sent_bytes),
                }
                for (kind, axes), entry in self.entries.items()
            ],
            "runs": {name: dict(parts) for name, parts in self.runs.items()},
        }


def _plain_number(value: Fraction) -> int | float:
    """
    An int when the fraction is whole.

    >>> _plain_number(Fraction(6, 3)), _plain_number(Fraction(1, 2))
    (2, 0.5)
    """
    return value.numerator if value.denominator == 1 else float(value)
