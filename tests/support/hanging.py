"""Tests that wait for ever end."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def no_longer_than(seconds: int) -> Generator[None]:
    """What runs inside fails after so long, wherever it waits."""

    def stop(*_: object) -> None:
        raise AssertionError(f"still waiting after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
