"""Reading programs, with coded errors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Protocol

from shardwright.compiler.reading.bytecode import MAGIC, payload, text_of
from shardwright.diagnostics import Diagnostic, ShardwrightError, SourceLocation
from shardwright.diagnostics.caller import name_in_text

STANDARD_INPUT = "-"

SEPARATOR = "// -----"
"""The line between the programs of one file."""

STREAM_LIMIT, CHUNK = 1 << 30, 1 << 20
"""Bytes of a program that are taken from a pipe, a terminal or a device at most, and at a time."""


def read_bytes(path: str, *, program: bool = False) -> bytes:
    """
    The bytes of `path`; `-` is standard input.

    A regular file may have any size. What may never end is read up to `STREAM_LIMIT` (SW0702), and as a `program` no
    further than a NUL, which none has as text.
    """
    if path == STANDARD_INPUT:
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            help_text = "give a file, or a program on standard input"
            raise ShardwrightError(Diagnostic("SW0702", "cannot read standard input: it is closed", help=help_text))
        return _read_stream(sys.stdin.buffer, path, program)
    try:
        if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
            with open(path, "rb", buffering=0) as stream:
                return _read_stream(stream, path, program)
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        usual: dict[type[Exception], str] = {
            FileNotFoundError: "it does not exist",
            IsADirectoryError: "it is a directory",
        }
        why = usual.get(type(error)) or getattr(error, "strerror", None) or str(error)
        location = SourceLocation(display_name(path), 1, 1)
        help_text = "check the path; '-' reads standard input"
        diagnostic = Diagnostic("SW0702", f"cannot read '{display_name(path)}': {why}", location, help=help_text)
        raise ShardwrightError(diagnostic) from error


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


def _read_stream(stream: _Readable, path: str, program: bool) -> bytes:
    """All of a stream that ends in time; of what is no program as much as shows it."""
    data = bytearray()
    while chunk := stream.read(CHUNK):
        data += chunk
        if len(data) > STREAM_LIMIT:
            message = f"'{display_name(path)}' has no end: {STREAM_LIMIT:,} bytes were read"
            help_text = "write a program that large to a file, and give that"
            raise ShardwrightError(Diagnostic("SW0702", message, help=help_text))
        if program and b"\0" in chunk and MAGIC not in data:
            break
    return bytes(data)


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
    data = read_bytes(path, program=True)
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
    return "<stdin>" if path == STANDARD_INPUT else name_in_text(path)


def _not_text(path: str, data: bytes, offset: int) -> ShardwrightError:
    line = data.count(b"\n", 0, offset) + 1
    column = offset - (data.rfind(b"\n", 0, offset) + 1) + 1
    location = SourceLocation(display_name(path), line, column)
    what = f"byte 0x{data[offset]:02x}" if data[offset] else "a NUL byte"
    message = f"'{display_name(path)}' is not UTF-8 text: {what} at offset {offset}"
    help_text = "give a program as StableHLO text or MLIR bytecode"
    return ShardwrightError(Diagnostic("SW0703", message, location, help=help_text))
