"""An explanation for people, on a terminal of any width."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardwright.compiler.report import ValueRow
from shardwright.views.explanation.entries import Collective, Entry, total_text
from shardwright.views.explanation.places import brief_places

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 100
"""Columns of a text that goes into a file or a pipe."""

DEAREST, ARGUMENTS = 10, 12
"""How many entries and arguments are shown unasked."""


def explanation_text(
    arguments: Sequence[ValueRow],
    collectives: Sequence[Collective],
    entries: Sequence[Entry],
    file: str,
    *,
    all: bool,
    width: int | None,
    colour: bool,
) -> str:
    """The layouts of the arguments, the entries with their reasons, and the total."""
    from rich.console import Console

    text = io.StringIO()
    console = Console(
        file=text, force_jupyter=False, width=width or WIDTH, force_terminal=colour, highlight=False, markup=False
    )
    layouts = [f"{value.name}: {value.layout}" for value in arguments]
    _lines(console, layouts, len(layouts) if all else ARGUMENTS, "arguments")
    shown = entries if all else entries[:DEAREST]
    for entry in shown:
        _print_entry(console, entry, file)
    if entries:
        console.print()
    if len(shown) < len(entries):
        rest = sum(len(entry.alike) for entry in entries[len(shown) :])
        console.print(f"and {rest} more collectives, which send less each (--all shows them)")
    total = total_text([each.row for each in collectives]) if entries else "no collectives: nothing is sent"
    console.print(brief_places(total, file))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def written(text: io.StringIO, width: int | None, colour: bool) -> Console:
    """What writes for people into `text`, and never past it: in a notebook Rich would show each line by itself."""
    from rich.console import Console

    return Console(
        file=text, width=width or WIDTH, force_terminal=colour, force_jupyter=False, highlight=False, markup=False
    )


def _lines(console: Console, lines: list[str], most: int, what: str) -> None:
    for line in lines[:most]:
        console.print(line)
    if len(lines) > most:
        console.print(f"and {len(lines) - most} more {what} (--all shows them)")


def _print_entry(console: Console, entry: Entry, file: str) -> None:
    """One entry: a heading, and each fact beside its name, folded where the terminal ends."""
    from rich.table import Table
    from rich.text import Text

    console.print()
    console.print(Text(brief_places(f"#{entry.first.number} {entry.heading}", file), style="bold"))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    before = ""
    for name, fact in entry.facts():
        table.add_row(Text(f"   {name if name != before else ''}"), Text(brief_places(fact, file)))
        before = name
    console.print(table)
