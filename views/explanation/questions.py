"""`--why`: what a question names, and the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shardwright.compiler.report import ValueRow
from shardwright.diagnostics import Diagnostic, ShardwrightError, SourceLocation
from shardwright.diagnostics.suggestions import close_names
from shardwright.views.explanation.data import collective_data, value_data
from shardwright.views.explanation.entries import Collective, Entry
from shardwright.views.explanation.places import Place, brief_places, is_at, is_in

_COLLECTIVE = re.compile(r"#(?P<number>\d+)")
_NUMBERED = re.compile(r"%\d+")


@dataclass(frozen=True)
class Answer:
    """The values and the collectives that a question is about."""

    question: str
    values: tuple[ValueRow, ...]
    collectives: tuple[Collective, ...]
    file: str = ""

    def __str__(self) -> str:
        lines: list[str] = []
        for value in self.values:
            called = f" ({value.name})" if value.name else ""
            place = f"{value.source}: " if value.source is not None else ""
            lines.append(f"{place}{value.op} gives {value.layout}{called}")
            lines += [f"  {reason}" for reason in value.chain]
        for each in self.collectives:
            lines.append(f"#{each.number} {Entry((each,)).heading}")
            lines += [f"  {name}: {text}" for name, text in Entry((each,)).facts(len(each.row.reasons) + 1)]
        return brief_places("\n".join(lines), self.file)

    __repr__ = __str__

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "question": self.question,
            "values": list(map(value_data, self.values)),
            "collectives": list(map(collective_data, self.collectives)),
        }


def answer(values: Sequence[ValueRow], collectives: Sequence[Collective], question: object, file: str) -> Answer:
    """What a question is about; SW0714 with what comes nearest where that is nothing."""
    if not isinstance(question, str):
        help_text = "ask by a text: a line ('12', 'model.py:18'), an argument, a value, or '#1'"
        raise _unknown(f"{question!r} is no question", help_text, None)
    if match := _COLLECTIVE.fullmatch(question):
        found = [each for each in collectives if each.number == int(match["number"])]
        if found:
            return Answer(question, (), tuple(found), file)
        raise _unknown(f"there is no collective {question}", f"there are {len(collectives)}, from #1 on", None)
    if place := Place.of(question, file):
        return _at_line(values, collectives, place, Answer(question, (), (), file))
    named = [value for value in values if value.name and value.name.lstrip("%") == question.lstrip("%")]
    if not named and _NUMBERED.fullmatch(question):
        return _numbered(values, collectives, Answer(question, (), (), file))
    if not named:
        names = dict.fromkeys(value.name for value in values if value.name)
        close = close_names(question, names)[:3]
        help_text = f"did you mean {', '.join(close)}?" if close else "ask for a line, an argument, a value, or '#1'"
        raise _unknown(f"no value is called '{question}'", help_text, None)
    touched = [each for each in collectives if any(_brings(each, value) for value in named)]
    return Answer(question, tuple(named), tuple(touched), file)


def _numbered(values: Sequence[ValueRow], collectives: Sequence[Collective], empty: Answer) -> Answer:
    """What is called by a number, which is no name: it means the lines of the program's text that define it."""
    text = Path(empty.file).read_text(errors="replace") if Path(empty.file).is_file() else ""
    written = re.compile(rf"\s*{empty.question}(:\d+)?\s*=")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if written.match(line)]
    if not lines:
        help_text = "numbers come from printing: ask for the line that defines the value, an argument, or '#1'"
        raise _unknown(f"no value is called '{empty.question}'", help_text, None)
    found = [_at_line(values, collectives, Place(empty.file, line), empty) for line in lines]
    collected = dict.fromkeys(value for each in found for value in each.values)
    touched = dict.fromkeys(one for each in found for one in each.collectives)
    return Answer(empty.question, tuple(collected), tuple(touched), empty.file)


def _brings(collective: Collective, value: ValueRow) -> bool:
    """Whether a collective moves a value, which is known by where it is made."""
    return bool(value.chain) and collective.moved == value.chain and value.source in collective.row.sources


def _at_line(values: Sequence[ValueRow], collectives: Sequence[Collective], place: Place, empty: Answer) -> Answer:
    found = tuple(value for value in values if is_at(value.source, place))
    touched = tuple(each for each in collectives if any(is_at(source, place) for source in each.row.sources))
    if found or touched:
        return Answer(empty.question, found, touched, empty.file)
    sources = [value.source for value in values if value.source is not None]
    lines = {source.line for source in sources if is_in(source, place.file)}
    if sources and not lines:
        files = ", ".join(dict.fromkeys(source.file for source in sources))
        raise _unknown(f"nothing of the program was written in '{place.file}'", f"it was written in {files}", None)
    close = ", ".join(map(str, sorted(sorted(lines, key=lambda number: abs(number - place.line))[:4])))
    help_text = f"lines nearby that define values: {close}" if close else "the program defines no values"
    message = f"line {place.line} defines no value in the partitioned program"
    notes = ("values that nothing uses, and duplicates of others, are removed before partitioning",)
    raise _unknown(message, help_text, SourceLocation(place.file, place.line, 1), notes)


def _unknown(message: str, help_text: str, place: SourceLocation | None, notes: Iterable[str] = ()) -> ShardwrightError:
    return ShardwrightError(Diagnostic("SW0714", message, place, tuple(notes), help_text))
