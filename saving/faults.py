"""The coded errors of saved directories: what cannot be stored, what is not whole, what does not fit."""

from __future__ import annotations

from shardwright.diagnostics import Diagnostic, ShardwrightTypeError, ShardwrightValueError
from shardwright.diagnostics.registry import ENTRIES


class SavingError(ShardwrightValueError):
    """
    A fault in what shall be saved, or in a directory that shall be loaded.

    >>> print(SavingError("SW0868", "the asset '../x' leaves the directory", help="name it inside"))
    error[SW0868]: the asset '../x' leaves the directory
      help: name it inside
    """

    def __init__(self, code: str, message: str, *notes: str, help: str | None = None) -> None:
        super().__init__(Diagnostic(code, message, None, notes, help or ENTRIES[code].help))
        self.code, self.message = code, message


class CallError(ShardwrightTypeError):
    """A call that fits none of the programs that were saved."""

    def __init__(self, message: str, *notes: str, help: str | None = None) -> None:
        super().__init__(Diagnostic("SW0882", message, None, notes, help or ENTRIES["SW0882"].help))


def malformed(message: str) -> SavingError:
    """The error for a saved message whose parts do not fit together, as nobody's `save` writes it."""
    return SavingError("SW0871", message)
