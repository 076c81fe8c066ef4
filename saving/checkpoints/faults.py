"""What is wrong with a checkpoint, or with what shall be saved: exceptions with codes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from shardwright.diagnostics import Diagnostic, ShardwrightError, ShardwrightTypeError, ShardwrightValueError
from shardwright.diagnostics.registry import ENTRIES


def checkpoint_error(code: str, message: str, notes: Sequence[str] = ()) -> ShardwrightValueError:
    """A `ValueError` with the help of its code."""
    return ShardwrightValueError(Diagnostic(code, message, notes=tuple(notes), help=ENTRIES[code].help))


def not_a_checkpoint(folder: Path) -> ShardwrightValueError:
    """A folder without a manifest, or none at all."""
    there = "is no checkpoint: it has no manifest" if os.path.isdir(folder) else "does not exist"
    if os.path.isfile(folder):
        there = "is no checkpoint: it is a file"
    return checkpoint_error("SW0872", f"{os.fspath(folder)!r} {there}")


def checked_path(path: object) -> Path:
    """A path as it was given; TypeError (SW0878) for what is none."""
    found = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(found, str):
        raise wrong_option(f"a checkpoint's path is a text or a pathlib.Path, not {path!r}")
    return Path(found)


def no_place(target: Path, fault: str) -> ShardwrightValueError:
    """Somewhere no checkpoint can be put, and why."""
    return checkpoint_error("SW0876", f"no checkpoint can be put at {str(target)!r}: {fault}")


def damaged(message: str, notes: Sequence[str] = ()) -> ShardwrightValueError:
    """Bytes, or files, that are not what was written."""
    return checkpoint_error("SW0873", message, notes)


def malformed(path: Path, message: str) -> ShardwrightValueError:
    """A manifest whose hash is right and whose contents are not."""
    return checkpoint_error("SW0874", f"{path} {message}")


class MissingPackageError(ShardwrightError, ImportError):
    """An `ImportError` with diagnostics."""


def no_tensorstore() -> MissingPackageError:
    """The package that stores arrays is not there."""
    help = ENTRIES["SW0877"].help
    return MissingPackageError(Diagnostic("SW0877", "checkpoints need tensorstore, which is not installed", help=help))


def missing_package(error: ModuleNotFoundError) -> ImportError:
    """What to install, if it is protobuf that is not there (SW0884); else the error as it is."""
    if (error.name or "").partition(".")[0] != "google":
        return error
    message = "storage needs the package protobuf, which is not installed"
    return MissingPackageError(Diagnostic("SW0884", message, help=ENTRIES["SW0884"].help))


def wrong_option(message: str) -> ShardwrightTypeError:
    """An argument of the wrong kind."""
    return ShardwrightTypeError(Diagnostic("SW0878", message, help=ENTRIES["SW0878"].help))
