"""What cannot be split, and where in the message."""

from __future__ import annotations

from shardwright.diagnostics import Diagnostic, ShardwrightTypeError, ShardwrightValueError
from shardwright.diagnostics.registry import ENTRIES


class SplitError(ShardwrightValueError):
    """
    A message, or a call, that a splitter refuses; `path` says which part of the message.

    >>> print(SplitError("SW0814", "a message is nested too deeply", path="node[3]", help="nest it less"))
    error[SW0814]: node[3]: a message is nested too deeply
      help: nest it less
    """

    def __init__(self, code: str, message: str, *, path: str = "", help: str = "") -> None:
        where = f"{path}: " if path else ""
        super().__init__(Diagnostic(code, where + message, help=help or ENTRIES[code].help))
        self.code, self.message, self.path = code, message, path


class SplitTypeError(ShardwrightTypeError):
    """A message of a type that a splitter is not for, or a chunk that is none."""

    def __init__(self, message: str) -> None:
        super().__init__(Diagnostic("SW0816", message, help=ENTRIES["SW0816"].help))
        self.code = "SW0816"
