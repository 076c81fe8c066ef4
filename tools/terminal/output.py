"""Data on standard output and talk on standard error: whole or not at all, also where nobody can take it."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from shutil import get_terminal_size
from typing import Any, TextIO, TypedDict

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.render import in_letters_of
from shardwright.serialization.files.text import write_atomically

STANDARD_OUTPUT = "-"


def write_data(text: str, *, document: bool = False) -> None:
    """
    Put `text` and a newline, where it has none at its end, on standard output.

    Letters that its encoding lacks (`LC_ALL=C`) are escaped; a `document`, which programs read, is UTF-8 then, as in a
    file. Raises SW0704 when it is closed or full. A reader who left is a `BrokenPipeError`, which `guarded` takes
    quietly.

    >>> write_data("ok")
    ok
    """
    # Python has no stream at all where the shell closed it (`>&-`), whatever its type says.
    stream: TextIO | None = sys.stdout
    if stream is None:
        raise _no_output("it is closed")
    try:
        _put(stream, text if text.endswith("\n") or not text else text + "\n", document)
        stream.flush()
    except OSError as error:
        # What could not be written stays in the stream: Python must not try again at exit.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        if isinstance(error, BrokenPipeError):
            raise
        raise _no_output(error.strerror or str(error)) from error


def _put(stream: TextIO, text: str, document: bool) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:
        if document:
            stream.buffer.write(text.encode("utf-8"))
            return
        stream.write(in_letters_of(stream.encoding, text))


def write_output(path: str | None, text: str) -> None:
    """Put `text` into a file, in one step; without a path, or with `-`, on standard output."""
    if path is None or path == STANDARD_OUTPUT:
        write_data(text, document=True)
    else:
        write_atomically(path, text)


def write_report(data: Any, text: str | None = None) -> None:
    """Put what a command found out on standard output: as the text for people, or without one as JSON."""
    write_data(json.dumps(data, indent=2) if text is None else text)


class Fitted(TypedDict):
    """What a text is fitted to: columns, where standard output is a terminal, and whether there are colours."""

    width: int | None
    colour: bool


def fitted() -> Fitted:
    """How texts for standard output are written."""
    stream: TextIO | None = sys.stdout
    terminal = stream is not None and stream.isatty()
    return {"width": get_terminal_size().columns if terminal else None, "colour": terminal}


def write_talk(text: str) -> None:
    """Put `text` on standard error; where that is closed or full, the exit code alone has to say it."""
    stream: TextIO | None = sys.stderr
    if stream is not None:
        with contextlib.suppress(OSError):
            print(text, file=stream, flush=True)


def talks_to_a_terminal() -> bool:
    """Whether somebody reads standard error as it comes."""
    stream: TextIO | None = sys.stderr
    return stream is not None and stream.isatty()


def talks_in_colour() -> bool:
    """Whether standard error is a terminal that shows colours, and nobody asked for none (`NO_COLOR`)."""
    return talks_to_a_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _no_output(why: str) -> ShardwrightError:
    help_text = "check where standard output goes: a full disk, or a closed stream"
    return ShardwrightError(Diagnostic("SW0704", f"cannot write to standard output: {why}", help=help_text))
