"""What went wrong, where, why, and what to do: the data of a diagnostic and the exceptions that carry it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from shardwright.diagnostics.cells import cell_name


@dataclass(frozen=True)
class SourceLocation:
    """
    A place in the user's source: 1-based line and column, and the number of characters that are meant.

    A length of 0 means the word that stands there, whatever its length. Places are equal where they begin.
    """

    file: str
    line: int
    column: int
    length: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{cell_name(self.file) or self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Label:
    """Another place that an error is about, and what is to be said of it: the first use, the other operand."""

    location: SourceLocation
    text: str

    def __str__(self) -> str:
        return f"{self.location}: {self.text}"


@dataclass(frozen=True)
class Diagnostic:
    """
    One finding about the user's input.

    `code` is an entry of `diagnostics.registry`; `message` says what is wrong, `location` where, each of
    `notes` why, and `help` what to do about it. `labels` are other places that it is about.
    Where an op stands at `location` and one word of its line is wrong, that is `word`; where the word stands there
    twice, and the second time is what is wrong, `earlier` is what to say of the first.

    >>> print(Diagnostic("SW0201", "axis 'x' splits two dims", SourceLocation("f.mlir", 3, 7), help="drop one"))
    f.mlir:3:7: error[SW0201]: axis 'x' splits two dims
      help: drop one
    """

    code: str
    message: str
    location: SourceLocation | None = None
    notes: tuple[str, ...] = ()
    help: str | None = None
    severity: str = "error"
    labels: tuple[Label, ...] = ()
    word: str = ""
    earlier: str = ""

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location else ""
        lines = [f"{where}{self.severity}[{self.code}]: {self.message}"]
        lines += [f"  note: {note}" for note in (*self.labels, *self.notes)]
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)


class ShardwrightError(Exception):
    """A user's mistake: carries one or more `Diagnostic`s and prints as their text."""

    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        self.diagnostics = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))

    def rename(self, old: str, new: str) -> None:
        """
        Let the messages and notes call something by another name.

        >>> error = ShardwrightError(Diagnostic("SW0701", "/proc/self/fd/3/a does not exist"))
        >>> error.rename("/proc/self/fd/3", "place")
        >>> print(error)
        error[SW0701]: place/a does not exist
        """
        ShardwrightError.__init__(self, [_renamed(diagnostic, old, new) for diagnostic in self.diagnostics])
        texts = {name: value.replace(old, new) for name, value in vars(self).items() if isinstance(value, str)}
        vars(self).update(texts)

    def note(self, text: str) -> None:
        """
        Let each message have another note.

        >>> error = ShardwrightError(Diagnostic("SW0701", "place does not exist"))
        >>> error.note("it was named on the command line")
        >>> print(error)
        error[SW0701]: place does not exist
          note: it was named on the command line
        """
        ShardwrightError.__init__(self, [replace(one, notes=(*one.notes, text)) for one in self.diagnostics])

    def place(self, location: SourceLocation | None) -> None:
        """
        Let each message that names no place point at one.

        >>> error = ShardwrightError(Diagnostic("SW0469", "no layouts fit"))
        >>> error.place(SourceLocation("train.py", 3, 1))
        >>> print(error)
        train.py:3:1: error[SW0469]: no layouts fit
        """
        placed = [replace(one, location=one.location or location) for one in self.diagnostics]
        ShardwrightError.__init__(self, placed)


def _renamed(diagnostic: Diagnostic, old: str, new: str) -> Diagnostic:
    notes = tuple(note.replace(old, new) for note in diagnostic.notes)
    labels = tuple(replace(label, text=label.text.replace(old, new)) for label in diagnostic.labels)
    return replace(diagnostic, message=diagnostic.message.replace(old, new), notes=notes, labels=labels)


class ShardwrightValueError(ShardwrightError, ValueError):
    """A `ValueError` (as the RFC names it) with diagnostics."""


class ShardwrightIndexError(ShardwrightValueError, IndexError):
    """An `IndexError`, as for sequences, and a `ValueError`, with diagnostics: a place or a dim that there is not."""


class ShardwrightAttributeError(ShardwrightError, AttributeError):
    """An `AttributeError` with diagnostics."""


class ShardwrightBufferError(ShardwrightError, BufferError):
    """A `BufferError` (as DLPack asks for) with diagnostics."""


class ShardwrightTypeError(ShardwrightError, TypeError):
    """A `TypeError` (as the RFC names it) with diagnostics."""


class ShardwrightProcessError(ShardwrightError, RuntimeError):
    """Other processes, which this one needs, failed or are gone: a `RuntimeError` with diagnostics."""


class ShardwrightInternalError(ShardwrightError, RuntimeError):
    """A fault of Shardwright's own, which no user can mend: what it made did not stand its own checks."""
