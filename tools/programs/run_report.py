"""The report of `shardwright run`, as text and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shardwright.tools.programs.arrays import Comparison
from shardwright.tools.programs.signature import exact_bytes, readable_bytes


@dataclass
class Report:
    """What one run found out."""

    comparisons: list[Comparison]
    compared_with: list[str]
    ledger: dict[str, Any]
    peak_bytes: int
    seconds: dict[str, float]

    @property
    def ok(self) -> bool:
        """Whether every result is as expected."""
        return all(comparison.ok for comparison in self.comparisons)

    @property
    def max_abs_error(self) -> float | None:
        """The largest difference; None when nothing was compared."""
        return max((comparison.max_abs_error for comparison in self.comparisons), default=None)

    def as_data(self) -> dict[str, Any]:
        """The report as data."""
        return {
            "ok": self.ok,
            "max_abs_error": self.max_abs_error,
            "predicted_bytes": self.ledger["sent_bytes"],
            **self.ledger,
            "peak_bytes": self.peak_bytes,
            "seconds": {name: round(seconds, 6) for name, seconds in self.seconds.items()},
        }

    def as_text(self) -> str:
        """The report for people."""
        lines = [self._verdict()]
        sent, messages = self.ledger["sent_bytes"], self.ledger["messages"]
        lines.append(f"sent per device: {exact_bytes(sent)} bytes in {messages} messages, as predicted")
        for row in self.ledger["collectives"]:
            over = ", ".join(row["axes"]) or "no axis"
            lines.append(
                f"  {row['kind']:<20} over {over:<24} {exact_bytes(row['sent_bytes']):>16} bytes in {row['messages']}"
            )
        for name, parts in self.ledger["runs"].items():
            lines.append(f"  {name}: {', '.join(map(_counted_part, parts.items()))}")
        lines.append(f"peak memory of all devices: {readable_bytes(self.peak_bytes)}")
        stages = ", ".join(f"{name} {seconds * 1000:.1f} ms" for name, seconds in self.seconds.items())
        return "\n".join([*lines, f"time: {stages}"])

    def _verdict(self) -> str:
        if self.max_abs_error is None:
            return "ran; nothing to compare with (--check, --expect)"
        word = "ok" if self.ok else "WRONG"
        references = " and ".join(self.compared_with)
        count = len({comparison.key for comparison in self.comparisons})
        return f"{word}: {count} results against {references}, largest difference {self.max_abs_error:.3g}"


def _counted_part(part: tuple[str, int]) -> str:
    """
    How often a part of a loop or a branch ran.

    >>> _counted_part(("rounds", 1)), _counted_part(("starts", 2)), _counted_part(("branch 0", 2))
    ('1 round', '2 starts', 'branch 0 twice')
    """
    name, count = part
    if name.startswith("branch"):
        return f"{name} {({1: 'once', 2: 'twice'}).get(count, f'{count:,} times')}"
    return f"{count:,} {name.removesuffix('s') if count == 1 else name}"
