"""
Processes that share JAX's devices look whether the others are there.

JAX notices a process that is gone after 100 seconds, and one without its coordinator ends at once; both end by abort,
which no code of Python sees. So each process says every two seconds that it is there, in the store of JAX's
coordinator, and a child of each, which does nothing but wait, says what happened when the process is cut off.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
import time
from functools import cache
from importlib import import_module
from typing import Any

from shardwright.diagnostics import Diagnostic
from shardwright.diagnostics.render import render
from shardwright.engines.jax.internals import Store

PAUSE = 2.0
"""Seconds between two signs of a process that it is there."""

GONE_SECONDS = 20.0
"""Seconds without a sign after which a process is gone."""

EXIT_CODE = 70
"""What a process exits with that others have left alone."""

_ENDED = "ended"

_CHILD = "import sys; sys.stdin.buffer.read() or print(sys.argv[1], file=sys.stderr)"


@cache
def watch() -> None:
    """Looks from now on whether all processes of JAX are there; ends this one (SW0905) where one is not."""
    Watch().start()


class Watch:
    """One thread, and one child that tells of the end of this process where the process cannot."""

    def __init__(self) -> None:
        jax: Any = import_module("jax")
        self._own, self._count = jax.process_index(), jax.process_count()
        self._store = Store()
        self._leaving = threading.Event()
        fault = self._fault(
            f"process {self._own} of {self._count} was ended before its time",
            "JAX ends a process whose coordinator is gone, and its words, if it had any, stand above",
        )
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _CHILD, fault],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def start(self) -> None:
        """Begins; the end of Python is the end of it."""
        atexit.register(self._leave)
        self._store.put(_name(self._own), "0")
        threading.Thread(target=self._look, name="shardwright watch", daemon=True).start()

    def _look(self) -> None:
        seen: dict[int, tuple[str, float]] = {place: ("", 0.0) for place in range(self._count) if place != self._own}
        sign = 0
        while not self._leaving.wait(PAUSE):
            sign += 1
            self._store.put(_name(self._own), str(sign))
            for place, (last, since) in list(seen.items()):
                found = self._store.get(_name(place))
                if found == _ENDED:
                    del seen[place]
                elif found is not None and found != last:
                    seen[place] = found, time.monotonic()
                elif last and time.monotonic() - since > GONE_SECONDS:
                    self._end(f"process {place} of {self._count} is gone: no sign of it for {GONE_SECONDS:g} seconds")

    def _leave(self) -> None:
        self._leaving.set()
        self._store.put(_name(self._own), _ENDED)
        self._dismiss()

    def _dismiss(self) -> None:
        """The child has nothing to tell."""
        with contextlib.suppress(OSError):
            self._child.communicate(b"bye", timeout=PAUSE)

    def _end(self, what: str) -> None:
        """Says why, and ends this process, which may wait for the other one inside of XLA."""
        with contextlib.suppress(Exception):  # standard error may be closed, or anything that the program put there
            print(self._fault(what, "it was killed, has stopped, or its machine is gone"), file=sys.stderr, flush=True)
        try:
            self._dismiss()
        finally:
            os._exit(EXIT_CODE)

    def _fault(self, what: str, note: str) -> str:
        help_text = "look at what the other processes say, and start all of them again from the last checkpoint"
        return render(Diagnostic("SW0905", what, None, (note,), help_text))


def _name(place: int) -> str:
    return f"shardwright/there/{place}"
