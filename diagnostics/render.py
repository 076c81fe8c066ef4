"""A diagnostic as text for people: the message, the source line with a caret, notes and help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from shardwright.diagnostics.diagnostic import Diagnostic, SourceLocation

WINDOW = 100
"""Longest piece of a source line that is shown: exported programs have lines of many thousand characters."""


MOST = 8
"""Diagnostics that are shown at once: one mistake may break every op of a program."""


def source_line(location: SourceLocation, sources: Mapping[str, str]) -> str | None:
    """The line at `location`, from `sources` (file name to text) or from disk; None where there is no such line."""
    text = sources.get(location.file)
    if text is None:
        text = _read(location.file)
    lines = text.split("\n") if text is not None else []
    return lines[location.line - 1].rstrip("\r") if 0 < location.line <= len(lines) else None


def excerpt(line: str, column: int) -> tuple[str, str]:
    """
    The part of `line` around the 1-based `column`, and a caret line that points at it.

    >>> excerpt("  %0 = stablehlo.add %a, %b", 3)
    ('  %0 = stablehlo.add %a, %b', '  ^')
    >>> text, caret = excerpt("x" * 500, 300)
    >>> len(text), caret.index("^")
    (106, 53)
    """
    line = "".join(" " if character == "\t" else character if character.isprintable() else "?" for character in line)
    at = min(max(column - 1, 0), len(line))
    start = max(0, at - WINDOW // 2) if len(line) > WINDOW else 0
    end = min(len(line), start + WINDOW)
    prefix = "..." if start else ""
    suffix = "..." if end < len(line) else ""
    return prefix + line[start:end] + suffix, " " * (len(prefix) + at - start) + "^"


def render(diagnostic: Diagnostic, sources: Mapping[str, str] | None = None) -> str:
    """
    The text of `diagnostic`, with its source line where that can be found.

    >>> location = SourceLocation("f.mlir", 1, 5)
    >>> print(render(Diagnostic("SW0201", "expected '='", location, help="write one"), {"f.mlir": "%0 stablehlo.add"}))
    f.mlir:1:5: error[SW0201]: expected '='
      | %0 stablehlo.add
      |     ^
      help: write one
    """
    first, *rest = str(diagnostic).split("\n")
    shown = source_line(diagnostic.location, sources or {}) if diagnostic.location else None
    if shown is None or diagnostic.location is None:
        return "\n".join([first, *rest])
    text, caret = excerpt(shown, diagnostic.location.column)
    return "\n".join([first, f"  | {text}", f"  | {caret}", *rest])


def render_all(diagnostics: Iterable[Diagnostic], sources: Mapping[str, str] | None = None) -> str:
    """The text of the first `MOST` diagnostics, one after the other, and how many more there are."""
    every = list(diagnostics)
    texts = [render(diagnostic, sources) for diagnostic in every[:MOST]]
    if len(every) > MOST:
        texts.append(f"... and {len(every) - MOST} more")
    return "\n".join(texts)


def _read(file: str) -> str | None:
    """The text of `file`; None where it is not a readable file (standard input, a traced function's string)."""
    try:
        return Path(file).read_text(encoding="utf-8") if Path(file).is_file() else None
    except (OSError, UnicodeDecodeError, ValueError):
        return None
