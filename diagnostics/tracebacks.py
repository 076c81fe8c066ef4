"""Tracebacks of a user's mistakes: the frames that are the user's, and none of ours."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from shardwright.diagnostics.caller import is_users
from shardwright.diagnostics.cells import shell
from shardwright.diagnostics.diagnostic import ShardwrightError, ShardwrightInternalError

VARIABLE = "SHARDWRIGHT_TRACEBACK"
"""The environment's word on it: `full` leaves all frames."""

NOTE = f"frames inside of Shardwright are left out; {VARIABLE}=full shows them"


def show_users_frames() -> None:
    """Has Python, and IPython where this runs in it, show errors of ours so; others are shown as before."""
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        shown = trimmed(error, trace)
        previous(kind, error.with_traceback(shown), shown)

    sys.excepthook = hook
    around = shell()
    if around is not None:
        around.set_custom_exc((ShardwrightError,), _show_in_ipython)


def trimmed(error: BaseException, trace: TracebackType | None) -> TracebackType | None:
    """
    The frames of a traceback that are the user's, for a mistake of the user's; all frames else.

    What is left out is said in a note. Of what it was raised from, an error keeps what the user's own code raised.

    >>> trimmed(ValueError("not ours"), None) is None
    True
    """
    if not isinstance(error, ShardwrightError) or isinstance(error, ShardwrightInternalError):
        return trace
    if os.environ.get(VARIABLE) == "full":
        return trace
    frames = list(_frames(trace))
    kept = [frame for frame in frames if is_users(frame.tb_frame.f_code.co_filename)]
    if not kept or len(kept) == len(frames):
        return trace
    if NOTE not in getattr(error, "__notes__", ()):
        error.add_note(NOTE)
    error.__cause__ = None if _is_ours(error.__cause__) else error.__cause__
    error.__suppress_context__ = True
    found: TracebackType | None = None
    for frame in reversed(kept):
        found = TracebackType(found, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return found


def _frames(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_ours(error: BaseException | None) -> bool:
    """Whether an error was raised in a frame that is not the user's."""
    last = None if error is None else next(iter(reversed(list(_frames(error.__traceback__)))), None)
    return last is None or not is_users(last.tb_frame.f_code.co_filename)


def _show_in_ipython(shell: Any, kind: Any, error: BaseException, trace: Any, tb_offset: int | None = None) -> Any:
    lines = shell.InteractiveTB.structured_traceback(kind, error, trimmed(error, trace), tb_offset=tb_offset)
    shell._showtraceback(kind, error, lines)
    return lines
