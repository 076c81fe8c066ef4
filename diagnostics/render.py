"""A diagnostic as text for people: the message, the lines of source with what is meant underlined, notes and help."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from shardwright.diagnostics.diagnostic import Diagnostic, SourceLocation

WINDOW = 100
"""Longest piece of a source line that is shown: exported programs have lines of many thousand characters."""

MOST = 8
"""Diagnostics that are shown at once: one mistake may break every op of a program."""

STYLES = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "message": "\x1b[1m",
    "gutter": "\x1b[1;34m",
    "label": "\x1b[1;34m",
    "note": "\x1b[1m",
    "help": "\x1b[1;36m",
}
"""How a terminal is told to show each kind of words; what has no style is shown plain."""

_WORD = re.compile(r'"[^"\n]*"|[%@#!^]?[A-Za-z0-9_][\w.$]*|->|\S')
_GAP = "..."

Piece = tuple[str, str]
"""A style (a name of `STYLES`, or nothing) and words in it."""


@dataclass(frozen=True)
class Mark:
    """What is underlined in one line of a file: its columns count from 0; `main` is what the message is about."""

    file: str
    line: int
    start: int
    end: int
    text: str
    main: bool


def source_line(location: SourceLocation, sources: Mapping[str, str]) -> str | None:
    """The line at `location`, from `sources` (file name to text) or from disk; None where there is no such line."""
    text = sources.get(location.file)
    if text is None:
        text = _read(location.file)
    lines = text.split("\n") if text is not None else []
    return lines[location.line - 1].rstrip("\r") if 0 < location.line <= len(lines) else None


def underlined(line: str, location: SourceLocation) -> tuple[int, int]:
    """
    The columns, from 0, of what a location means: as much as it says, else the whole word that stands there.

    >>> underlined("  %0 = stablehlo.add %a, %b", SourceLocation("f.mlir", 1, 8))
    (7, 20)
    """
    start = min(max(location.column - 1, 0), len(line))
    word = _WORD.match(line, start)
    end = start + location.length if location.length else word.end() if word else start + 1
    return start, max(min(end, len(line)), start + 1)


def render(diagnostic: Diagnostic, sources: Mapping[str, str] | None = None, *, colour: bool = False) -> str:
    """
    The text of `diagnostic`, with the lines of the source that it means, where they can be found.

    With `colour` it has the marks by which terminals know colours.

    >>> location = SourceLocation("f.mlir", 1, 4)
    >>> print(render(Diagnostic("SW0203", "unknown op", location, help="mend it"), {"f.mlir": "%0 stablehlo.ad"}))
    f.mlir:1:4: error[SW0203]: unknown op
      1 | %0 stablehlo.ad
        |    ^^^^^^^^^^^^
      help: mend it
    """
    rows = [*_heading(diagnostic), *_drawing(diagnostic, sources or {}), *_ending(diagnostic, sources or {})]
    return "\n".join("".join(_painted(piece, colour) for piece in row).rstrip() for row in rows)


def render_all(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, str] | None = None, *, colour: bool = False
) -> str:
    """The text of the first `MOST` diagnostics, one after the other, and how many more there are."""
    every = list(diagnostics)
    texts = [render(diagnostic, sources, colour=colour) for diagnostic in every[:MOST]]
    if len(every) > MOST:
        texts.append(f"... and {len(every) - MOST} more")
    return "\n".join(texts)


def _painted(piece: Piece, colour: bool) -> str:
    style, text = piece
    return f"{STYLES[style]}{text}\x1b[0m" if colour and style and text.strip() else text


def _heading(diagnostic: Diagnostic) -> Iterator[list[Piece]]:
    where = f"{diagnostic.location}: " if diagnostic.location else ""
    severity = diagnostic.severity if diagnostic.severity in STYLES else "note"
    first, *rest = diagnostic.message.split("\n")
    yield [("", where), (severity, f"{diagnostic.severity}[{diagnostic.code}]"), ("message", f": {first}")]
    yield from ([("message", line)] for line in rest)


def _ending(diagnostic: Diagnostic, sources: Mapping[str, str]) -> Iterator[list[Piece]]:
    """Notes and help, and what labels say whose lines cannot be shown."""
    unseen = [label for label in diagnostic.labels if source_line(label.location, sources) is None]
    texts = [("note", str(label)) for label in unseen] + [("note", note) for note in diagnostic.notes]
    texts += [("help", diagnostic.help)] if diagnostic.help else []
    for kind, text in texts:
        first, *rest = text.split("\n")
        yield [("", "  "), (kind, f"{kind}:"), ("", f" {first}")]
        yield from ([("", line)] for line in rest)


def _drawing(diagnostic: Diagnostic, sources: Mapping[str, str]) -> Iterator[list[Piece]]:
    """The lines that are meant, in their order, each with what is underlined in it; what the message is about first."""
    marks = list(_marks(diagnostic, sources))
    width = max((len(str(mark.line)) for mark in marks), default=0)
    for file in dict.fromkeys(mark.file for mark in marks):
        here = [mark for mark in marks if mark.file == file]
        if diagnostic.location is None or file != diagnostic.location.file:
            yield [("gutter", " " * (width + 2) + "--> "), ("", file)]
        numbers = sorted({mark.line for mark in here})
        for before, number in pairwise([numbers[0], *numbers]):
            if number - before == 2:
                yield [*_gutter(before + 1, width), ("", _shown(file, before + 1, sources)[:WINDOW])]
            elif number - before > 2:
                yield [("gutter", "  " + _GAP)]
            line = _shown(file, number, sources)
            for together in _together([mark for mark in here if mark.line == number]):
                yield from _line(line, together, number, width)


def _marks(diagnostic: Diagnostic, sources: Mapping[str, str]) -> Iterator[Mark]:
    location = diagnostic.location
    if location is not None and (line := source_line(location, sources)) is not None:
        spans = _words(line, location, diagnostic.word)
        if diagnostic.earlier and len(spans) > 1:
            yield Mark(location.file, location.line, *spans.pop(0), diagnostic.earlier, False)
        yield Mark(location.file, location.line, *spans[0], "", True)
    for label in diagnostic.labels:
        if (line := source_line(label.location, sources)) is not None:
            yield Mark(label.location.file, label.location.line, *underlined(line, label.location), label.text, False)


def _words(line: str, location: SourceLocation, word: str) -> list[tuple[int, int]]:
    """Where a word stands in a line, from a location on; without the word, what the location means."""
    whole = re.compile(rf"(?<![\w.$]){re.escape(word)}(?![\w$])")
    found = whole.finditer(line, max(location.column - 1, 0)) if word else ()
    return [match.span() for match in found] or [underlined(line, location)]


def _together(marks: Sequence[Mark]) -> list[list[Mark]]:
    """The marks of a line in groups that can be shown at once: apart from each other, and within one window."""
    groups: list[list[Mark]] = []
    for mark in sorted(marks, key=lambda mark: mark.start):
        if groups and groups[-1][-1].end <= mark.start and mark.end - groups[-1][0].start <= WINDOW // 2:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return sorted(groups, key=lambda group: not any(mark.main for mark in group))


def _line(line: str, marks: Sequence[Mark], number: int, width: int) -> Iterator[list[Piece]]:
    """A line of the source, what is underlined, and what is said of it: the last mark's words stand beside it."""
    start = max(0, marks[0].start - WINDOW // 2) if len(line) > WINDOW else 0
    end = min(len(line), start + WINDOW)
    shift = (len(_GAP) if start else 0) - start
    shown = (_GAP if start else "") + line[start:end] + (_GAP if end < len(line) else "")
    yield [*_gutter(number, width), ("", shown)]
    row, at = _gutter(None, width), 0
    for mark in marks:
        first, last = mark.start + shift, min(mark.end, max(end, mark.start + 1)) + shift
        style, stroke = ("error", "^") if mark.main else ("label", "-")
        row += [("", " " * (first - at)), (style, stroke * (last - first))]
        at = last
    yield [*row, ("label", f" {marks[-1].text}")]
    for place in range(len(marks) - 2, -1, -1):
        if marks[place].text:
            bars = [mark.start + shift for mark in marks[:place] if mark.text]
            row = "".join("|" if column in bars else " " for column in range(marks[place].start + shift))
            yield [*_gutter(None, width), ("label", row + marks[place].text)]


def _gutter(number: int | None, width: int) -> list[Piece]:
    return [("gutter", f"  {'' if number is None else number:>{width}} |"), ("", " ")]


def _shown(file: str, number: int, sources: Mapping[str, str]) -> str:
    """A line of a file, one character for each of its own: no tabs, and nothing that a terminal would obey."""
    line = source_line(SourceLocation(file, number, 1), sources) or ""
    return "".join(" " if character == "\t" else character if character.isprintable() else "?" for character in line)


def _read(file: str) -> str | None:
    """The text of `file`; None where it is not a readable file (standard input, a traced function's string)."""
    try:
        return Path(file).read_text(encoding="utf-8") if Path(file).is_file() else None
    except (OSError, UnicodeDecodeError, ValueError):
        return None


_PLAIN = str.maketrans("─│┌┐└┘├┤┬┴┼…", "-|+++++++++~")


def in_letters_of(encoding: str, text: str) -> str:
    """
    A text for an output whose encoding may have few letters: lines are drawn with others, and what it lacks is escaped.

    >>> in_letters_of("ascii", "┌─┐ ü"), in_letters_of("utf-8", "┌─┐ ü")
    ('+-+ \\\\xfc', '┌─┐ ü')
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return text
