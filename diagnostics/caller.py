"""Where in the user's source something was asked for: the innermost line that is not Shardwright's own."""

from __future__ import annotations

import contextlib
import inspect
import runpy
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any

from shardwright.diagnostics.diagnostic import SourceLocation

_ROOT = Path(__file__).resolve().parent.parent
_OWN = tuple(
    [
        f"{_ROOT / room}/"
        for room in (
            "compiler",
            "dialects",
            "diagnostics",
            "engines",
            "frontends",
            "layout",
            "networks",
            "passes",
            "plugins",
            "proof",
            "rules",
            "runtime",
            "saving",
            "serialization",
            "tools",
            "views",
        )
    ]
    + [f"{_ROOT / name}" for name in ("__init__.py", "__main__.py", "_public.py", "dtensor.py")]
    + [f"{folder}/" for spec in [find_spec("numpy")] if spec for folder in spec.submodule_search_locations or ()]
    + [contextlib.__file__, runpy.__file__, "<frozen runpy>", f"{Path(sys.executable).parent}/"]
)
_JAX = "/jax/_src/"
"""Part of where JAX's own files lie, which calls the functions that it traces; it is not loaded to look where."""

# The repository's root is the package, so tests and examples lie under it; only these rooms are not the user's (and
# NumPy is not, when it calls back, nor what enters our contexts and starts programs, such as installed commands). An
# installation may reach them by a link, so a file counts by either of its names.
_OWN_LINKED = tuple(path.replace(str(_ROOT), str(Path(__file__).parent.parent), 1) for path in _OWN)


def caller() -> SourceLocation | None:
    """
    The innermost line of the call stack that is not Shardwright's own.

    >>> caller().line
    1
    """
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        if not is_own(frame.f_code.co_filename):
            return _place(frame.f_code.co_filename, frame.f_code, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back
    return None


def name_in_text(file: str) -> str:
    r"""
    The name of a file as programs and messages have it: bytes that are no UTF-8 are written out.

    >>> name_in_text("caf\udce9.py")
    'caf\\udce9.py'
    """
    return file.encode("utf-8", "backslashreplace").decode("utf-8")


def line_of(error: BaseException) -> SourceLocation | None:
    """
    The innermost line of an exception's traceback that is not Shardwright's own.

    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError as error:
    ...     line_of(error).line
    2
    """
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return SourceLocation(error.filename, error.lineno, error.offset or 1)
    found, trace = None, error.__traceback__
    while trace is not None:
        if is_users(trace.tb_frame.f_code.co_filename):
            found = place_of(trace)
        trace = trace.tb_next
    return found


def place_of(trace: TracebackType) -> SourceLocation:
    """The line of an entry of a traceback."""
    code = trace.tb_frame.f_code
    return _place(code.co_filename, code, trace.tb_lasti, trace.tb_lineno)


def is_users(file: str) -> bool:
    """
    Whether a file of a traceback may be the user's.

    >>> is_users("train.py"), is_users(__file__)
    (True, False)
    """
    return not is_own(file)


def defined_at(function: Callable[..., Any]) -> SourceLocation | None:
    """
    Where a function is defined; the line that asks for it, if no user wrote it or it is not written in Python.

    >>> defined_at(lambda: 0).line, defined_at(sum).line
    (1, 1)
    """
    plain = inspect.unwrap(function)
    plain = plain.func if isinstance(plain, partial) else plain
    code = getattr(plain, "__code__", None) or getattr(type(plain).__call__, "__code__", None)
    if code is None or is_own(code.co_filename):
        return caller()
    return SourceLocation(code.co_filename, code.co_firstlineno, 1)


@lru_cache(maxsize=4096)
def is_own(file: str) -> bool:
    """Whether a file is of this package, or of JAX: no place that a user wrote."""
    return file.startswith(_OWN) or file.startswith(_OWN_LINKED) or _JAX in file


@lru_cache(maxsize=4096)
def _place(file: str, code: CodeType, instruction: int, line: int) -> SourceLocation:
    # The file is an argument because equal code in two files is one key.
    start, _, column, _ = next(islice(code.co_positions(), instruction // 2, None), (line, None, None, None))
    return SourceLocation(file, start or line, (column or 0) + 1)
