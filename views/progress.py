"""Progress bars for long work: on standard error, on terminals, and only when the work takes long."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, TextIO

from shardwright.diagnostics.figures import readable_bytes
from shardwright.diagnostics.telling import LISTENER, Step

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

PATIENCE = 0.5
"""Seconds after which people want to see that something happens."""


@contextmanager
def progress() -> Generator[None]:
    """
    Shows how far work inside has come: compiling, certifying, saving and loading.

    A bar appears on standard error where that is a terminal, when something takes longer than half a second, and is
    gone when that is done. Commands have it of themselves. Nothing is raised, and nothing is shown elsewhere.

    >>> import shardwright
    >>> with shardwright.progress():  # standard error is no terminal here
    ...     print(shardwright.function(lambda x: x + 1)(shardwright.zeros(2)))
    [1. 1.]
    """
    stream: TextIO | None = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    token = LISTENER.set(Bars(PATIENCE))
    try:
        yield
    finally:
        LISTENER.reset(token)


class Bars:
    """
    A listener that draws a bar for each work that lasts, those inside of others below them.

    Nothing is drawn before `patience`, in seconds, is over, nor between works: what else is written stays whole.
    """

    def __init__(self, patience: float, console: Console | None = None) -> None:
        self._patience, self._console = patience, console
        self._open: Progress | None = None

    @contextmanager
    def __call__(self, what: str, unit: str) -> Generator[Step]:
        if self._open is not None:
            yield self._row(self._open, what, unit)
            return
        self._open = bars = self._new()
        waiting = Timer(self._patience, bars.start)
        waiting.daemon = True
        waiting.start()
        try:
            yield self._row(bars, what, unit)
        finally:
            waiting.cancel()
            waiting.join()
            bars.stop()
            self._open = None

    def _new(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        amount = TextColumn("{task.fields[amount]}")
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), amount, TimeElapsedColumn())
        console = self._console or Console(stderr=True)
        return Progress(*columns, console=console, transient=True, redirect_stdout=False, refresh_per_second=5)

    @staticmethod
    def _row(bars: Progress, what: str, unit: str) -> Step:
        task = bars.add_task(what, total=None, amount="")
        shown = readable_bytes if unit == "bytes" else str

        def step(done: int, total: int) -> None:
            bars.update(task, completed=done, total=total, amount=f"{shown(done)} of {shown(total)}")

        return step
