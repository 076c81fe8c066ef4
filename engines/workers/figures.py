"""The text and figures of a program as a worker tells them: its source, its bytes, its ledger."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from shardwright.layout.axes import Axis
from shardwright.runtime.executable import Executable
from shardwright.runtime.ledger import Ledger, Message


def figures_of(executable: Executable) -> dict[str, Any]:
    """All figures, as data that JSON knows."""
    return {
        "source": executable.source,
        "peak_bytes": executable.peak_bytes,
        "ledger": {
            "notes": [[_message(message), str(size)] for message, size in executable.ledger.notes],
            "runs": executable.ledger.runs,
        },
    }


def ledger_of(record: Any) -> Ledger:
    """
    The ledger that was told.

    >>> ledger_of({"notes": [[["all_reduce", [["x", 1, 0]], 4, 1, None], "32"]], "runs": {}}).sent_bytes
    Fraction(48, 1)
    """
    ledger = Ledger()
    for (kind, axes, group, lead, moved), text in record["notes"]:
        size = Fraction(text)
        share = None if moved is None else Fraction(moved)
        message = Message(kind, tuple(Axis(*axis) for axis in axes), group, lead, share)
        ledger.note(message, int(size) if size.denominator == 1 else size)
    ledger.runs = record["runs"]
    return ledger


def _message(message: Message) -> list[Any]:
    axes = [[axis.name, axis.pre, axis.size] for axis in message.axes]
    moved = None if message.moved is None else str(message.moved)
    return [message.kind, axes, message.group_size, message.lead, moved]
