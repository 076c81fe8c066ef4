"""Progress bars for long work: on standard error, for people, and only when the work takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

PATIENCE = 0.5
"""Seconds after which people want to see that something happens."""


@contextmanager
def progress(what: str, quiet: bool = False) -> Generator[Callable[[int, int], None] | None]:
    """
    A function of the bytes that are done and the bytes in all, which shows a bar; None where nobody would see it.

    >>> with progress("writing") as tell:  # standard error is no terminal here
    ...     tell is None
    True
    """
    if quiet or not sys.stderr or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn(what), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=None)
    begun, shown = time.monotonic(), False

    def tell(done: int, total: int) -> None:
        nonlocal shown
        if not shown and time.monotonic() - begun > PATIENCE:
            bar.start()
            shown = True
        bar.update(task, completed=done, total=total)

    try:
        yield tell
    finally:
        if shown:
            bar.stop()
