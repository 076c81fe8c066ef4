"""`shardwright explain`: the collectives of a partitioned program, and why values have their layouts."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from shardwright.diagnostics import Diagnostic, ShardwrightError, SourceLocation
from shardwright.tools.programs.program import parse, program_text
from shardwright.tools.programs.signature import entry_function, exact_bytes
from shardwright.tools.terminal.arguments import CodedArgumentParser, positive_line
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_report

if TYPE_CHECKING:
    from rich.table import Table

    from shardwright.compiler.report import CollectiveRow, ValueRow

DESCRIPTION = """Partition a program and show each collective: what it sends per device, which line asked for it,
by which rule, and the alternative that was not taken. With --why, say how the values of one line got their layouts."""

EPILOG = """examples:
  shardwright explain model.mlir               every collective
  shardwright explain model.mlir --why 12      the values that line 12 defines
  shardwright explain model.mlir --json        the same as data
"""

PLAIN_WIDTH = 160
"""Columns of a table that goes into a file or a pipe."""


def _parser() -> CodedArgumentParser:
    parser = CodedArgumentParser(prog="shardwright explain", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("file", help="the program: StableHLO text with layouts; '-' is standard input")
    parser.add_argument("--why", type=positive_line, metavar="LINE", help="explain the values that this line defines")
    parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright explain`; returns the exit code."""
    options = _parser().parse_args(arguments)
    with program_text(options.file, state) as (name, text):
        values, rows = _explained(text, name)
    if options.why is not None:
        values = _at_line(values, name, options.why)
        rows = [row for row in rows if any(place.line == options.why for place in row.sources)]
        data = _why_data(values, rows, options.why)
        write_report(data, None if options.json else brief_places(_why_text(values, rows), name))
    else:
        write_report(_report_data(values, rows), None if options.json else _report_text(values, rows, name))
    return DONE


def _explained(text: str, name: str) -> tuple[list[ValueRow], list[CollectiveRow]]:
    """Each value with its layout, and each collective of the plan."""
    from shardwright.compiler.pipelines import ALIGN, PLAN, run_pipeline
    from shardwright.compiler.report import collective_rows, value_rows

    module = parse(text, name)
    entry_function(module)
    run_pipeline(module, ["propagate"])
    values = value_rows(module)
    run_pipeline(module, [*ALIGN, *PLAN])
    return values, collective_rows(module)


def _at_line(values: Sequence[ValueRow], name: str, line: int) -> list[ValueRow]:
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


def _report_data(values: Sequence[ValueRow], rows: Sequence[CollectiveRow]) -> dict[str, Any]:
    return {
        "arguments": [_value_data(value) for value in values if value.op == "argument"],
        "collectives": [_row_data(row) for row in rows],
        "bytes_per_device": _total(rows),
        "bytes_within": _repeated(rows),
    }


def _why_data(values: Sequence[ValueRow], rows: Sequence[CollectiveRow], line: int) -> dict[str, Any]:
    return {"line": line, "values": list(map(_value_data, values)), "collectives": list(map(_row_data, rows))}


def _value_data(value: ValueRow) -> dict[str, Any]:
    return asdict(value) | {"source": str(value.source) if value.source else None}


def _row_data(row: CollectiveRow) -> dict[str, Any]:
    return {
        "op": row.kind,
        "arguments": row.arguments,
        "axes": list(row.axes),
        "tensors": list(row.tensors),
        "bytes_per_device": row.plain_bytes,
        "times": row.repetition.times,
        "within": row.repetition.within or None,
        "source": str(row.sources[0]) if row.sources else None,
        "reasons": [
            {"asked_by": reason.asked_by, "rule": reason.rule or None, "alternative": reason.alternative or None}
            for reason in row.reasons
        ],
    }


def _total(rows: Sequence[CollectiveRow]) -> int | float | None:
    """The bytes of all rows that run a known number of times; None where one of them is unknown."""
    found = [row for row in rows if not row.repetition.within]
    known = [row.plain_bytes for row in found]
    if None in known:
        return None
    return sum(number * row.repetition.times for number, row in zip(known, found, strict=True) if number is not None)


def _repeated(rows: Sequence[CollectiveRow]) -> dict[str, int | float | None]:
    """The bytes of the rows in each part of a loop or a branch whose number of runs is unknown."""
    parts: dict[str, list[CollectiveRow]] = {}
    for row in rows:
        if row.repetition.within:
            parts.setdefault(row.repetition.within, []).append(replace(row, repetition=row.repetition.known()))
    return {within: _total(found) for within, found in parts.items()}


def _why_text(values: Sequence[ValueRow], rows: Sequence[CollectiveRow]) -> str:
    lines: list[str] = []
    for value in values:
        lines.append(f"{value.source}: {value.op} gives {value.layout}")
        lines += [f"  {reason}" for reason in value.chain]
    for row in rows:
        lines.append(f"{row.kind} {row.arguments} of {', '.join(row.tensors)}: {_bytes_text(row)} bytes per device")
        lines += [f"  {reason.text}" for reason in row.reasons]
    return "\n".join(lines)


def _bytes_text(row: CollectiveRow) -> str:
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


def _report_text(values: Sequence[ValueRow], rows: Sequence[CollectiveRow], name: str) -> str:
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
        console.print(_collective_table(rows, name))
        console.print(brief_places(f"{_counted(rows)}, {_sent_text(rows)} sent per device", name), markup=False)
    return text.getvalue()


def _sent_text(rows: Sequence[CollectiveRow]) -> str:
    parts = [_sent_part(sent, within) for within, sent in _repeated(rows).items() if sent != 0]
    known = _total(rows)
    return " + ".join(parts if known == 0 and parts else [_sent_part(known, ""), *parts])


def _sent_part(sent: float | None, within: str) -> str:
    """
    A number of bytes, and in each run of what.

    >>> _sent_part(12, "per round of stablehlo.while at f.mlir:3:5"), _sent_part(None, "")
    ('12 bytes per round of stablehlo.while at f.mlir:3:5', 'an unknown number of bytes')
    """
    return f"{'an unknown number of' if sent is None else exact_bytes(sent)} bytes {within}".rstrip()


def _counted(rows: Sequence[CollectiveRow]) -> str:
    """How many collectives there are, and how many of them move nothing (a device keeps a part of what it has)."""
    still = sum(row.plain_bytes == 0 for row in rows)
    noun = "collective" if len(rows) == 1 else "collectives"
    return f"{len(rows)} {noun}" + (f" ({still} of them {'sends' if still == 1 else 'send'} nothing)" if still else "")


def _collective_table(rows: Sequence[CollectiveRow], file: str) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("collective", "of", "bytes/device", "asked by", "rule", "instead of"):
        table.add_column(heading, justify="right" if heading == "bytes/device" else "left", overflow="fold")
    for row in rows:
        what = f"{row.kind} {', '.join(row.axes)}"
        cells = (what, "\n".join(row.tensors), _bytes_text(row), *_reason_cells(row))
        table.add_row(*(Text(brief_places(cell, file)) for cell in cells))
    return table


def _reason_cells(row: CollectiveRow) -> tuple[str, str, str]:
    """Who asked, by which rules, and instead of what: one line for each distinct one."""
    parts = ([reason.asked_by, reason.rule, reason.alternative] for reason in row.reasons)
    columns = zip(*parts, strict=True) if row.reasons else ((), (), ())
    asked, rules, others = ("\n".join(dict.fromkeys(filter(None, column))) for column in columns)
    return asked, rules, others
