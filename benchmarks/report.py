"""What a benchmark found: a table of named columns, for people and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from shardwright.benchmarks.measure import Sample

TEXT_COLUMNS = {"program", "pass", "op", "verdict"}

Cell = str | int | float | None


@dataclass
class Report:
    """One benchmark's rows; `notes` say what was left out and why, `parts` are tables of their own."""

    name: str
    title: str
    rows: list[dict[str, Cell]] = field(default_factory=lambda: list[dict[str, Cell]]())
    notes: list[str] = field(default_factory=lambda: list[str]())
    parts: list[Report] = field(default_factory=lambda: list[Report]())

    def add(self, row: dict[str, Cell]) -> None:
        """Takes a row, and says it on the standard error: what an hour has found is seen before its end."""
        self.rows.append(row)
        cells = ", ".join(f"{column} {shown(cell)}" for column, cell in row.items())
        print(f"{self.name}: {cells}", file=sys.stderr, flush=True)

    def to_json(self) -> dict[str, object]:
        """The report as plain data."""
        parts = [part.to_json() for part in self.parts]
        return {"name": self.name, "title": self.title, "rows": self.rows, "notes": self.notes, "parts": parts}

    def print(self, console: Console) -> None:
        """Write the report as a table; a column is as wide as its name and cells."""
        table = Table(title=f"{self.name}: {self.title}", title_justify="left", expand=False)
        columns = list(dict.fromkeys(column for row in self.rows for column in row))
        for column in columns:
            table.add_column(column, justify="left" if column in TEXT_COLUMNS else "right", no_wrap=True)
        for row in self.rows:
            table.add_row(*(shown(row.get(column)) for column in columns))
        if self.rows:
            console.print(table)
        else:
            console.print(f"{self.name}: {self.title}")
        for note in self.notes:
            console.print(f"  {note}", markup=False, highlight=False)
        for part in self.parts:
            part.print(console)


def shown(cell: Cell) -> str:
    """
    A cell as people read it.

    >>> shown(1234567), shown(0.12345), shown(None)
    ('1,234,567', '0.123', '-')
    """
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def compared(samples: Mapping[str, Sample], ours: str, theirs: str) -> dict[str, Cell]:
    """
    Milliseconds of both sides with their quartiles, and ours over theirs; their side is absent without JAX.

    >>> compared({"a": Sample((0.001,)), "b": Sample((0.002,))}, "a", "b")["ratio"]
    0.5
    """
    row: dict[str, Cell] = {}
    for name in (ours, theirs):
        sample = samples.get(name)
        row[f"{name} ms"] = None if sample is None else round(sample.median * 1e3, 4)
        row[f"{name} quartiles"] = None if sample is None else f"{sample.low * 1e3:.4g}-{sample.high * 1e3:.4g}"
    if ours in samples and theirs in samples:
        row["ratio"] = round(samples[ours].median / samples[theirs].median, 3)
    return row


def joined(reports: Sequence[Report]) -> dict[str, object]:
    """All reports by name, as the command's `--json` writes them."""
    return {report.name: report.to_json() for report in reports}
