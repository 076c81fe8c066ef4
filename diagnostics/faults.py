"""The coded errors of the Python API, each at the user's line."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NoReturn

from shardwright.diagnostics import (
    Diagnostic,
    ShardwrightAttributeError,
    ShardwrightError,
    ShardwrightIndexError,
    ShardwrightInternalError,
    ShardwrightTypeError,
    ShardwrightValueError,
)
from shardwright.diagnostics.caller import caller, defined_at


def value_error(code: str, message: str, *notes: str, help: str | None = None) -> ShardwrightValueError:
    """The `ValueError` with this diagnostic; raise it."""
    return ShardwrightValueError(Diagnostic(code, message, caller(), notes, help))


def index_error(code: str, message: str, *notes: str, help: str | None = None) -> ShardwrightIndexError:
    """The `IndexError` (and `ValueError`) with this diagnostic; raise it."""
    return ShardwrightIndexError(Diagnostic(code, message, caller(), notes, help))


def type_error(code: str, message: str, *notes: str, help: str | None = None) -> ShardwrightTypeError:
    """The `TypeError` with this diagnostic; raise it."""
    return ShardwrightTypeError(Diagnostic(code, message, caller(), notes, help))


def attribute_error(code: str, message: str, *notes: str, help: str | None = None) -> ShardwrightAttributeError:
    """The `AttributeError` with this diagnostic; raise it."""
    return ShardwrightAttributeError(Diagnostic(code, message, caller(), notes, help))


@contextmanager
def noted(note: str) -> Generator[None]:
    """Gives the errors of a block another note: which of many things they are about."""
    try:
        yield
    except ShardwrightError as error:
        error.note(note)
        raise


@contextmanager
def placed_at(function: Callable[..., Any]) -> Generator[None]:
    """Lets the errors of a block that name no place point at a function of the user's; faults of our own do not."""
    try:
        yield
    except ShardwrightInternalError:
        raise
    except ShardwrightError as error:
        error.place(defined_at(function))
        raise


def no_pickle(what: str) -> NoReturn:
    """Refuses to pickle a program (SW0536): what is pickled is found by its name, and code is never a part of it."""
    raise type_error(
        "SW0536",
        f"{what} cannot be pickled",
        "functions are pickled by their names, so that no code travels; a program has none",
        help="shardwright.save(program, path) keeps it and shardwright.load(path) runs it; or pickle a function that "
        "its module has under its own name, and trace it again where it is loaded",
    )
