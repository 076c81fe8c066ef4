"""The coded errors of directories and checkpoints: what cannot be stored, what is not whole, what does not fit."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from shardwright.diagnostics import ShardwrightError, ShardwrightTypeError, ShardwrightValueError
from shardwright.diagnostics.registry import coded


class SavingError(ShardwrightValueError):
    """
    A fault in what shall be saved, or in a directory or checkpoint that shall be loaded.

    >>> print(SavingError("SW0868", "the asset '../x' leaves the directory", help="name it inside"))
    error[SW0868]: the asset '../x' leaves the directory
      help: name it inside
    """

    def __init__(self, code: str, message: str, *notes: str, help: str | None = None) -> None:
        super().__init__(coded(code, message, *notes, help=help))
        self.code, self.message = code, message


class MissingPackageError(ShardwrightError, ImportError):
    """An `ImportError` with diagnostics."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(coded(code, f"{message}, which is not installed"))


def storage_library() -> Any:
    """The module tensorstore. Raises `ImportError` (SW0877) when it is not installed."""
    try:
        return import_module("tensorstore")
    except ImportError:
        raise MissingPackageError("SW0877", "what is stored there needs tensorstore") from None


def malformed(message: str) -> SavingError:
    """The error for a saved message whose parts do not fit together, as nobody's `save` writes it."""
    return SavingError("SW0871", message)


def no_place(target: Path, fault: str | OSError) -> SavingError:
    """Somewhere no checkpoint can be put, and why."""
    if isinstance(fault, OSError):
        fault = fault.strerror.lower() if fault.strerror else str(fault)
    return SavingError("SW0876", f"no checkpoint can be put at {str(target)!r}: {fault}")


def is_working_directory(target: Path) -> bool:
    """Whether paths that begin nowhere begin in a folder: what took its place would not be found by them."""
    try:
        return os.path.samefile(target, os.curdir)
    except OSError:
        return False


def wrong_option(message: str, help: str | None = None) -> ShardwrightTypeError:
    """An argument of the wrong kind."""
    return ShardwrightTypeError(coded("SW0878", message, help=help))


def checked_path(path: object, what: str = "checkpoint", help: str | None = None) -> str:
    """A path as text; TypeError (SW0878) for what is none."""
    found = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(found, str):
        raise wrong_option(f"a {what}'s path is a text or a pathlib.Path, not {path!r}", help)
    return found


def missing_package(error: ModuleNotFoundError) -> ImportError:
    """What to install, if it is protobuf that is not there (SW0884); else the error as it is."""
    if (error.name or "").partition(".")[0] != "google":
        return error
    return MissingPackageError("SW0884", "storage needs the package protobuf")
