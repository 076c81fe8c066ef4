"""What goes wrong on workers, as they tell it and as the controller raises it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from shardwright.diagnostics import Diagnostic, ShardwrightError, ShardwrightProcessError, SourceLocation


@dataclass(frozen=True)
class Fault:
    """
    One call that failed on one worker: where it was asked for (`file:line:column`, or nothing), and what was said.

    `steps` is how often the worker had communicated with others by then: where all have the same number, they have
    failed at the same point, and go on together.
    """

    call: int
    place: int
    host: str
    what: str
    at: str
    steps: int

    def record(self) -> dict[str, Any]:
        """The fault as a part of a header."""
        return asdict(self)

    @staticmethod
    def of_record(record: Any) -> Fault:
        """The fault that a header tells of; raises `TypeError` or `ValueError` for anything else."""
        fault = Fault(**record)
        numbers = int(fault.call), int(fault.place), int(fault.steps)
        return Fault(numbers[0], numbers[1], str(fault.host), str(fault.what), str(fault.at), numbers[2])

    @property
    def location(self) -> SourceLocation | None:
        """The user's line."""
        return place_of(self.at)

    def error(self, count: int, *notes: str) -> ShardwrightProcessError:
        """The error that the controller raises, one of so many workers having failed."""
        what, *more = self.what.splitlines()
        return ShardwrightProcessError(
            Diagnostic(
                "SW0921",
                f"worker {self.place} of {count}, on {self.host}, could not run this: {what}",
                self.location,
                (*(line.strip() for line in more), *notes),
                "results of the call, and of calls behind it, are lost; what was there before can still be used",
            )
        )


def what_of(error: Exception) -> str:
    """
    What an error says, without a place: the user's line is the controller's to name.

    >>> what_of(KeyError("x")), what_of(ValueError())
    ("KeyError: 'x'", 'ValueError')
    """
    if isinstance(error, ShardwrightError) and error.diagnostics:
        first = error.diagnostics[0]
        return "\n".join([f"{first.code}: {first.message}", *first.notes, *([first.help] if first.help else [])])
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def place_of(text: str) -> SourceLocation | None:
    """
    The place in the user's source that a text names, if it names one.

    >>> place_of("a:b.py:3:7"), place_of("")
    (SourceLocation(file='a:b.py', line=3, column=7, length=0), None)
    """
    parts = text.rsplit(":", 2)
    if len(parts) < 3 or not (parts[1].isdecimal() and parts[2].isdecimal()):
        return None
    return SourceLocation(parts[0], int(parts[1]), int(parts[2]))


def process_error(
    code: str, message: str, at: SourceLocation | None, *notes: str, help: str
) -> ShardwrightProcessError:
    """The error about processes with this diagnostic; raise it."""
    return ShardwrightProcessError(Diagnostic(code, message, at, notes, help))
