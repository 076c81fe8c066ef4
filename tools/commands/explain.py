"""`shardwright explain`: the collectives of a partitioned program, and why values have their layouts."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from shardwright.diagnostics import Diagnostic, ShardwrightError, SourceLocation
from shardwright.tools.programs.files import display_name, read_text
from shardwright.tools.programs.program import about, parse
from shardwright.tools.programs.signature import entry_function, exact_bytes
from shardwright.tools.terminal.arguments import CodedArgumentParser, positive_line
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_data

if TYPE_CHECKING:
    from rich.table import Table

    from shardwright.compiler.report import CollectiveRow, Reason, ValueRow

DESCRIPTION = """Partition a program and show each collective: what it sends per device, which line asked for it,
by which rule, and the alternative that was not taken. With --why, say how the values of one line got their layouts."""

EPILOG = """examples:
  shardwright explain model.mlir               every collective
  shardwright explain model.mlir --why 12      the values that line 12 defines
  shardwright explain model.mlir --json        the same as data
"""

PLAIN_WIDTH = 160
"""Columns of a table that goes into a file or a pipe."""


def argument_parser() -> CodedArgumentParser:
    """The command line of `shardwright explain`."""
    parser = CodedArgumentParser(prog="shardwright explain", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("file", help="the program: StableHLO text with layouts; '-' is standard input")
    parser.add_argument("--why", type=positive_line, metavar="LINE", help="explain the values that this line defines")
    parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright explain`; returns the exit code."""
    options = argument_parser().parse_args(arguments)
    name, text = display_name(options.file), read_text(options.file)
    state.sources[name] = text
    with about(name):
        values, rows = explained(text, name)
    if options.why is not None:
        values = at_line(values, name, options.why)
        rows = [row for row in rows if any(place.line == options.why for place in row.sources)]
        data = why_data(values, rows, options.why)
        write_data(json.dumps(data, indent=2) if options.json else brief_places(why_text(values, rows), name))
    elif options.json:
        write_data(json.dumps(report_data(values, rows), indent=2))
    else:
        write_data(report_text(values, rows, name))
    return DONE


def explained(text: str, name: str) -> tuple[list[ValueRow], list[CollectiveRow]]:
    """Each value with its layout, and each collective of the plan."""
    from shardwright.compiler.pipelines import ALIGN, PLAN, run_pipeline
    from shardwright.compiler.report import collective_rows, value_rows

    module = parse(text, name)
    entry_function(module)
    run_pipeline(module, ["propagate"])
    values = value_rows(module)
    run_pipeline(module, [*ALIGN, *PLAN])
    return values, collective_rows(module)


def at_line(values: Sequence[ValueRow], name: str, line: int) -> list[ValueRow]:
    """The values that `line` defines; SW0714 with the closest lines that define some."""
    found = [value for value in values if value.source is not None and value.source.line == line]
    if found:
        return found
    lines = sorted({value.source.line for value in values if value.source is not None}, key=lambda n: abs(n - line))
    close = ", ".join(str(number) for number in sorted(lines[:4]))
    help_text = f"lines nearby that define values: {close}" if close else "the program defines no values"
    message = f"line {line} defines no value in the partitioned program"
    notes = ("values that nothing uses, and duplicates of others, are removed before partitioning",)
    raise ShardwrightError(Diagnostic("SW0714", message, SourceLocation(name, line, 1), notes, help_text))


def report_data(values: Sequence[ValueRow], rows: Sequence[CollectiveRow]) -> dict[str, Any]:
    """The whole report as plain data."""
    return {
        "arguments": [value_data(value) for value in values if value.op == "argument"],
        "collectives": [row_data(row) for row in rows],
        "bytes_per_device": total(rows),
        "bytes_within": repeated(rows),
    }


def why_data(values: Sequence[ValueRow], rows: Sequence[CollectiveRow], line: int) -> dict[str, Any]:
    """The report on one line as plain data."""
    return {
        "line": line,
        "values": [value_data(value) for value in values],
        "collectives": [row_data(row) for row in rows],
    }


def value_data(value: ValueRow) -> dict[str, Any]:
    """One value as plain data."""
    return asdict(value) | {"source": str(value.source) if value.source else None}


def row_data(row: CollectiveRow) -> dict[str, Any]:
    """One collective as plain data."""
    return {
        "op": row.kind,
        "arguments": row.arguments,
        "axes": list(row.axes),
        "tensors": list(row.tensors),
        "bytes_per_device": row.plain_bytes,
        "times": row.repetition.times,
        "within": row.repetition.within or None,
        "source": str(row.sources[0]) if row.sources else None,
        "reasons": [reason_data(reason) for reason in row.reasons],
    }


def reason_data(reason: Reason) -> dict[str, str | None]:
    """One reason as plain data."""
    return {"asked_by": reason.asked_by, "rule": reason.rule or None, "alternative": reason.alternative or None}


def total(rows: Sequence[CollectiveRow]) -> int | float | None:
    """The bytes of all rows that run a known number of times; None where one of them is unknown."""
    found = [row for row in rows if not row.repetition.within]
    known = [row.plain_bytes for row in found]
    if None in known:
        return None
    return sum(number * row.repetition.times for number, row in zip(known, found, strict=True) if number is not None)


def repeated(rows: Sequence[CollectiveRow]) -> dict[str, int | float | None]:
    """The bytes of the rows in each part of a loop or a branch whose number of runs is unknown."""
    parts: dict[str, list[CollectiveRow]] = {}
    for row in rows:
        if row.repetition.within:
            parts.setdefault(row.repetition.within, []).append(replace(row, repetition=row.repetition.known()))
    return {within: total(found) for within, found in parts.items()}


def why_text(values: Sequence[ValueRow], rows: Sequence[CollectiveRow]) -> str:
    """The report on one line for people."""
    lines: list[str] = []
    for value in values:
        lines.append(f"{value.source}: {value.op} gives {value.layout}")
        lines += [f"  {reason}" for reason in value.chain]
    for row in rows:
        lines.append(f"{row.kind} {row.arguments} of {', '.join(row.tensors)}: {bytes_text(row)} bytes per device")
        lines += [f"  {reason.text}" for reason in row.reasons]
    return "\n".join(lines)


def bytes_text(row: CollectiveRow) -> str:
    """The bytes of a collective with thousands separated, and how often they are sent."""
    sent = "?" if row.plain_bytes is None else exact_bytes(row.plain_bytes)
    if not row.plain_bytes:
        return sent
    times = f" x {row.repetition.times:,}" if row.repetition.times != 1 else ""
    return f"{sent}{times} {row.repetition.within}".rstrip()


def brief_places(text: str, name: str) -> str:
    """
    `text` with places in the program itself as line numbers.

    >>> brief_places("stablehlo.add at model.mlir:12:5 needs it", "model.mlir")
    'stablehlo.add at line 12 needs it'
    """
    return re.sub(rf"{re.escape(name)}:(\d+):\d+", r"line \1", text)


def report_text(values: Sequence[ValueRow], rows: Sequence[CollectiveRow], name: str) -> str:
    """The whole report for people: layouts of the arguments, a table of collectives, the total."""
    from rich.console import Console

    terminal = sys.stdout is not None and sys.stdout.isatty()  # pyright: ignore[reportUnnecessaryComparison]
    text = io.StringIO()
    console = Console(file=text, width=None if terminal else PLAIN_WIDTH, force_terminal=terminal, highlight=False)
    for value in values:
        if value.op == "argument":
            console.print(f"{value.name}: {value.layout}", markup=False)
    if not rows:
        console.print("no collectives: nothing is sent", markup=False)
    else:
        console.print(collective_table(rows, name))
        console.print(brief_places(f"{counted(rows)}, {sent_text(rows)} sent per device", name), markup=False)
    return text.getvalue()


def sent_text(rows: Sequence[CollectiveRow]) -> str:
    """The bytes of all rows for people."""
    parts = [sent_part(sent, within) for within, sent in repeated(rows).items() if sent != 0]
    known = total(rows)
    return " + ".join(parts if known == 0 and parts else [sent_part(known, ""), *parts])


def sent_part(sent: float | None, within: str) -> str:
    """
    A number of bytes, and in each run of what.

    >>> sent_part(12, "per round of stablehlo.while at f.mlir:3:5"), sent_part(None, "")
    ('12 bytes per round of stablehlo.while at f.mlir:3:5', 'an unknown number of bytes')
    """
    return f"{'an unknown number of' if sent is None else exact_bytes(sent)} bytes {within}".rstrip()


def counted(rows: Sequence[CollectiveRow]) -> str:
    """How many collectives there are, and how many of them move nothing (a device keeps a part of what it has)."""
    still = sum(row.plain_bytes == 0 for row in rows)
    noun = "collective" if len(rows) == 1 else "collectives"
    return f"{len(rows)} {noun}" + (f" ({still} of them {'sends' if still == 1 else 'send'} nothing)" if still else "")


def collective_table(rows: Sequence[CollectiveRow], file: str) -> Table:
    """A table of collectives."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("collective", "of", "bytes/device", "asked by", "rule", "instead of"):
        table.add_column(heading, justify="right" if heading == "bytes/device" else "left", overflow="fold")
    for row in rows:
        what = f"{row.kind} {', '.join(row.axes)}"
        cells = (what, "\n".join(row.tensors), bytes_text(row), *reason_cells(row))
        table.add_row(*(Text(brief_places(cell, file)) for cell in cells))
    return table


def reason_cells(row: CollectiveRow) -> tuple[str, str, str]:
    """Who asked, by which rules, and instead of what: one line for each distinct one."""
    parts = ([reason.asked_by, reason.rule, reason.alternative] for reason in row.reasons)
    columns = zip(*parts, strict=True) if row.reasons else ((), (), ())
    asked, rules, others = ("\n".join(dict.fromkeys(filter(None, column))) for column in columns)
    return asked, rules, others
