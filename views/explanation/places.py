"""Places of the user's source: read from a question, and as short as they can be in running text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from shardwright.diagnostics import SourceLocation
from shardwright.diagnostics.cells import cell_name

_PLACE = re.compile(r"(?P<file>[^\s:()]+\.\w+|In\[\d+\]):(?P<line>\d+)(?::\d+)?")
_ASKED = re.compile(r"(?:(?P<file>.*):)?(?P<line>\d+)")


@dataclass(frozen=True)
class Place:
    """A line of a file, which may be called by the end of its path; without a file, of any."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else f"line {self.line}"

    @classmethod
    def of(cls, text: str, file: str = "") -> Place | None:
        """
        What a question names, a line alone being one of `file`; None where it names no line.

        >>> print(Place.of("model.py:18"), Place.of("18"), Place.of("w1"))
        model.py:18 line 18 None
        """
        match = _ASKED.fullmatch(text)
        return None if match is None else cls(match["file"] or file, int(match["line"]))


def is_in(found: SourceLocation | None, file: str) -> bool:
    """Whether something was written in a file."""
    return found is not None and (file in ("", found.file, cell_name(found.file)) or found.file.endswith(f"/{file}"))


def is_at(found: SourceLocation | None, place: Place) -> bool:
    """Whether something was written at a place."""
    return found is not None and found.line == place.line and is_in(found, place.file)


def brief_places(text: str, file: str = "") -> str:
    """
    `text` with places in the program itself as line numbers, and others without folders and columns.

    >>> brief_places("stablehlo.add at model.mlir:12:5 needs what b.py:3 made", "model.mlir")
    'stablehlo.add at line 12 needs what b.py:3 made'
    >>> brief_places("stablehlo.add at /home/me/train.py:12:5 needs it")
    'stablehlo.add at train.py:12 needs it'
    """
    own = re.sub(rf"{re.escape(file)}:(\d+)(:\d+)?", r"line \1", text) if file else text
    return _PLACE.sub(lambda match: f"{PurePath(match['file']).name}:{match['line']}", own)
