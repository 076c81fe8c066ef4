"""`--verify-diagnostics`: comments in the program say which diagnostics it must cause, and on which lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from shardwright.diagnostics import Diagnostic, ShardwrightError, SourceLocation

_COMMENT = re.compile(
    r"//\s*expected-(?P<severity>error|warning|note|help)"
    r"\s*(?P<place>@(?:[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*?)\}\}"
)
ANYWHERE = 0
"""The line of an expectation with `@unknown`: the diagnostic has no location."""


@dataclass(frozen=True)
class Line:
    """A line of a diagnostic, as it was produced, or as a comment at `written` in the file expects it."""

    severity: str
    line: int
    text: str
    written: int = 0

    def __str__(self) -> str:
        return f'{self.severity} "{self.text}"'

    def meets(self, expectation: Line) -> bool:
        """Whether `expectation` asks for this."""
        same_place = (self.severity, self.line) == (expectation.severity, expectation.line)
        return same_place and expectation.text in self.text


def expectations(text: str) -> list[Line]:
    """
    The expectations in a program's comments.

    >>> [(e.line, e.text) for e in expectations("// expected-error @+1 {{bad}}\\n%0 = x")]
    [(2, 'bad')]
    """
    found: list[Line] = []
    for number, line in enumerate(text.split("\n"), start=1):
        for match in _COMMENT.finditer(line):
            found.append(Line(match["severity"], _target(match["place"], number), match["text"], number))
    return found


def check_expectations(file: str, text: str, diagnostics: Iterable[Diagnostic]) -> None:
    """
    Compare `diagnostics` with what the comments of `text` expect.

    Raises SW0708 that names each missing and each unexpected one. An error's notes and help may be expected but
    need not be.
    """
    produced = [item for diagnostic in diagnostics for item in _produced(diagnostic)]
    findings: list[Diagnostic] = []
    for expectation in expectations(text):
        met = next((item for item in produced if item.meets(expectation)), None)
        if met is None:
            where = "without a location" if expectation.line == ANYWHERE else f"on line {expectation.line}"
            message = f"expected {expectation} {where} was not produced"
            findings.append(_finding(file, expectation.written, message, "correct the comment, or the program"))
        else:
            produced.remove(met)
    for item in produced:
        if item.severity in ("error", "warning"):
            comment = f"// expected-{item.severity} @below {{{{{item.text}}}}}"
            findings.append(_finding(file, max(item.line, 1), f"unexpected {item}", f"if it is right, write {comment}"))
    if findings:
        raise ShardwrightError(findings)


def _target(place: str | None, number: int) -> int:
    if place is None:
        return number
    named = {"@above": number - 1, "@below": number + 1, "@unknown": ANYWHERE}
    return named[place] if place in named else number + int(place[1:])


def _produced(diagnostic: Diagnostic) -> list[Line]:
    line = diagnostic.location.line if diagnostic.location else ANYWHERE
    items = [Line(diagnostic.severity, line, f"{diagnostic.code}: {diagnostic.message}")]
    items += [Line("note", label.location.line, label.text) for label in diagnostic.labels]
    items += [Line("note", line, note) for note in diagnostic.notes]
    if diagnostic.help:
        items.append(Line("help", line, diagnostic.help))
    return items


def _finding(file: str, line: int, message: str, help: str) -> Diagnostic:
    return Diagnostic("SW0708", message, SourceLocation(file, line, 1), help=help)
