"""The user's lines with the bytes that each device sends for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path, PurePath

from shardwright.compiler.report import CollectiveRow
from shardwright.diagnostics.cells import cell_name, cell_text
from shardwright.diagnostics.figures import exact_bytes, plain_number, readable_seconds

AROUND = 4
"""How many lines are shown before and after one for which something is sent."""

MOST_LINES = 600
"""How many lines of a file are shown at most."""

SOURCES = (".py", ".mlir")
"""What files of sources are called: a program may name any file as its source, and a report is passed on."""


@dataclass(frozen=True)
class SourceLine:
    """
    A line of a file.

    `bytes` says what is sent for it, `share` the part of what is sent for the dearest line, `seconds` what all that it
    asks for takes.
    """

    number: int
    text: str
    bytes: str = ""
    share: float = 0.0
    seconds: str = ""
    gap: bool = False


@dataclass(frozen=True)
class SourceFile:
    """The lines of a file around those for which something is sent; `place` is how questions call one of its lines."""

    name: str
    brief: str
    lines: tuple[SourceLine, ...]
    note: str = ""


@dataclass
class _Sent:
    """What is sent for a line: as far as that is known, and whether more is."""

    known: Fraction
    more: bool = False

    def __str__(self) -> str:
        return exact_bytes(plain_number(self.known)) + (" or more" if self.more else "")


Seconds = Mapping[tuple[str, int], float]
"""By file and line."""


def source_files(
    rows: Sequence[CollectiveRow], texts: Mapping[str, str], seconds: Seconds | None = None
) -> list[SourceFile]:
    """The files for whose lines something is sent, the dearest first; `texts` are those that are known already."""
    sent: dict[str, dict[int, _Sent]] = {}
    for row in rows:
        if row.sources:
            lines = sent.setdefault(row.sources[0].file, {})
            line = lines.setdefault(row.sources[0].line, _Sent(Fraction()))
            line.known += (row.bytes_per_device or 0) * row.repetition.times
            line.more |= row.bytes_per_device is None or bool(row.repetition.within)
    dearest = max((line.known for lines in sent.values() for line in lines.values()), default=Fraction())
    found = sorted(sent, key=lambda name: -sum(line.known for line in sent[name].values()))
    return [_file(name, _text(name, texts), sent[name], dearest, seconds or {}) for name in found]


def _text(name: str, texts: Mapping[str, str]) -> str | None:
    known = texts.get(name, cell_text(name))
    if known is not None or not name.endswith(SOURCES):
        return known
    try:
        return Path(name).read_text("utf-8", errors="replace")
    except OSError:
        return None


def _file(name: str, text: str | None, sent: Mapping[int, _Sent], dearest: Fraction, seconds: Seconds) -> SourceFile:
    written = [] if text is None else text.splitlines()
    near = {line + step for line in sent for step in range(-AROUND, AROUND + 1)} if written else set(sent)
    numbers = sorted(number for number in near if number in sent or 0 < number <= len(written))
    lines: list[SourceLine] = []
    for number in numbers[:MOST_LINES]:
        line = sent.get(number)
        share = float(line.known / dearest) if line and dearest else 0.0
        shown = written[number - 1] if number <= len(written) else ""
        gap = bool(lines) and lines[-1].number != number - 1
        takes = readable_seconds(known) if (known := seconds.get((name, number))) else ""
        lines.append(SourceLine(number, shown, str(line) if line else "", share, takes, gap))
    notes = ["the file's text is not here"] if text is None else []
    notes += [f"{len(numbers) - MOST_LINES} more lines are left out"] if len(numbers) > MOST_LINES else []
    cell = cell_name(name)
    return SourceFile(cell or name, cell or PurePath(name).name, tuple(lines), "; ".join(notes))
