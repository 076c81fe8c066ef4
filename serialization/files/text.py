"""Texts in files, each in one step, with a coded error where the system does not let us write."""

from __future__ import annotations

import os
from pathlib import Path

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.serialization.files.atomic import AtomicFile


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """
    Put `text` at `path` in one step: readers see the old file or the whole new one.

    A link stays one: the file it leads to is replaced. What is no regular file (a pipe, a device) is written to.
    Raises `ShardwrightError` (SW0704) where it cannot be written.
    """
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text)
        else:
            _replace(Path(os.path.realpath(path)), text)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: str | os.PathLike[str], error: OSError) -> ShardwrightError:
    """The coded error for a file that the system does not let us write."""
    message = f"cannot write '{os.fspath(path)}': {error.strerror or error}"
    return ShardwrightError(Diagnostic("SW0704", message, help="check that the directory exists and can be written"))


def _replace(target: Path, text: str) -> None:
    """Write a file in one step, with the permissions of the one that it replaces."""
    with AtomicFile(target) as file, os.fdopen(file.descriptor, "w", encoding="utf-8", closefd=False) as stream:
        if target.exists():
            os.fchmod(file.descriptor, target.stat().st_mode & 0o777)
        stream.write(text)
