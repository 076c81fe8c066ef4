"""The report of `shardwright run`, as text and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shardwright.diagnostics import Diagnostic
from shardwright.diagnostics.figures import exact_bytes, readable_bytes
from shardwright.tools.programs.arrays import Comparison, Declared


@dataclass
class Report:
    """What one run found out."""

    comparisons: list[Comparison]
    compared_with: list[str]
    ledger: dict[str, Any]
    peak_bytes: int
    seconds: dict[str, float]
    nan_inputs: list[Declared]
    nan_results: list[Declared]

    @property
    def warnings(self) -> list[Diagnostic]:
        """What makes a run worth little: NaN everywhere, on one side or the other."""
        return [
            Diagnostic(
                "SW0728",
                f"every floating element of all {what} is NaN: {', '.join(declared.key for declared in found)}",
                found[0].location,
                help=help_text,
                severity="warning",
            )
            for what, found, help_text in (
                ("inputs", self.nan_inputs, "check where the inputs come from: the results say nothing"),
                ("results", self.nan_results, "a NaN equals a NaN in a comparison; run with inputs that give numbers"),
            )
            if found
        ]

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
            "compared": [_compared_data(rows) for rows in self._alike()],
            "all_nan": [declared.key for declared in (*self.nan_inputs, *self.nan_results)],
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
        lines += [_compared_text(_compared_data(rows)) for rows in self._alike()]
        stages = ", ".join(f"{name} {seconds * 1000:.1f} ms" for name, seconds in self.seconds.items())
        return "\n".join([*lines, f"time: {stages}"])

    def _alike(self) -> list[list[Comparison]]:
        """The comparisons with one reference and of one element type, which share their relative tolerance."""
        groups: dict[tuple[str, str], list[Comparison]] = {}
        for comparison in self.comparisons:
            groups.setdefault((comparison.against, comparison.dtype.name), []).append(comparison)
        return list(groups.values())

    def _verdict(self) -> str:
        if self.max_abs_error is None:
            return "ran; nothing to compare with (--check, --expect)"
        word = "ok" if self.ok else "WRONG"
        references = " and ".join(self.compared_with)
        count = len({comparison.key for comparison in self.comparisons})
        return f"{word}: {count} results against {references}, largest difference {self.max_abs_error:.3g}"


def _compared_data(rows: list[Comparison]) -> dict[str, Any]:
    """What was compared with what, how exactly, and what came out."""
    return {
        "against": rows[0].against,
        "dtype": rows[0].dtype.name,
        "results": len(rows),
        "elements": sum(row.elements for row in rows),
        "nan_in_both": sum(row.nan_in_both for row in rows),
        "rtol": rows[0].rtol,
        "atol": max(row.atol for row in rows),
        "max_abs_error": max(row.max_abs_error for row in rows),
    }


def _compared_text(data: dict[str, Any]) -> str:
    nan = f" ({data['nan_in_both']:,} NaN in both)" if data["nan_in_both"] else ""
    results = f"{data['results']} {data['dtype']} {'result' if data['results'] == 1 else 'results'}"
    return (
        f"compared: {data['elements']:,} elements{nan} of {results} against {data['against']}: "
        f"rtol {data['rtol']:.3g}, atol {data['atol']:.3g}, largest difference {data['max_abs_error']:.3g}"
    )


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
