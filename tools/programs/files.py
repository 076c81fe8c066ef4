"""Reading programs, with coded errors."""

from __future__ import annotations

import sys
from pathlib import Path

from shardwright.compiler.bytecode import payload, text_of
from shardwright.diagnostics import Diagnostic, ShardwrightError, SourceLocation

STANDARD_INPUT = "-"


def read_bytes(path: str) -> bytes:
    """The bytes of `path`; `-` is standard input."""
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        usual: dict[type[Exception], str] = {
            FileNotFoundError: "it does not exist",
            IsADirectoryError: "it is a directory",
        }
        why = usual.get(type(error)) or getattr(error, "strerror", None) or str(error)
        location = SourceLocation(display_name(path), 1, 1)
        help_text = "check the path; '-' reads standard input"
        diagnostic = Diagnostic("SW0702", f"cannot read '{path}': {why}", location, help=help_text)
        raise ShardwrightError(diagnostic) from error


def read_text(path: str) -> str:
    """
    The program at `path` as text: UTF-8, or MLIR bytecode where jaxlib is installed; `-` is standard input.

    >>> read_text("missing.mlir")
    Traceback (most recent call last):
        ...
    shardwright.diagnostics.diagnostic.ShardwrightError: missing.mlir:1:1: error[SW0702]: cannot read 'missing.mlir': \
it does not exist
      help: check the path; '-' reads standard input
    """
    data = read_bytes(path)
    bytecode = payload(data)
    if bytecode is not None:
        return text_of(bytecode, display_name(path))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_text(path, data, error.start) from error
    if "\0" in text:
        raise _not_text(path, data, data.index(b"\0"))
    # Some editors start a file with a byte order mark, which is no part of its text.
    return text.removeprefix("\ufeff")


def display_name(path: str) -> str:
    """The name of a file in messages: standard input has none of its own."""
    return "<stdin>" if path == STANDARD_INPUT else path


def _not_text(path: str, data: bytes, offset: int) -> ShardwrightError:
    line = data.count(b"\n", 0, offset) + 1
    column = offset - (data.rfind(b"\n", 0, offset) + 1) + 1
    location = SourceLocation(display_name(path), line, column)
    what = f"byte 0x{data[offset]:02x}" if data[offset] else "a NUL byte"
    message = f"'{path}' is not UTF-8 text: {what} at offset {offset}"
    help_text = "give a program as StableHLO text or MLIR bytecode"
    return ShardwrightError(Diagnostic("SW0703", message, location, help=help_text))
