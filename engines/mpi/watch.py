"""No wait without end: a process that has waited too long says so and ends the job."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from functools import cache

from shardwright.diagnostics import Diagnostic
from shardwright.diagnostics.render import render
from shardwright.layout.forms.clients import Clients

SECONDS_VARIABLE = "SHARDWRIGHT_TIMEOUT"
"""The environment variable that says how many seconds a process waits for others in one call: 300 unless it is set."""

EXIT_CODE = 70
"""What a job exits with that was ended by a wait."""


class Watch:
    """One thread that looks several times a second whether what runs has run too long."""

    def __init__(self, clients: Clients, seconds: float) -> None:
        self._clients, self._seconds = clients, seconds
        self._running: tuple[float, str] | None = None
        threading.Thread(target=self._look, name="shardwright watch", daemon=True).start()

    @contextmanager
    def over(self, what: str) -> Generator[None]:
        """Watches what runs inside."""
        outer, self._running = self._running, (time.monotonic() + self._seconds, what)
        try:
            yield
        finally:
            self._running = outer

    def _look(self) -> None:
        while True:
            time.sleep(min(self._seconds / 4, 0.25))
            running = self._running
            if running is not None and time.monotonic() > running[0]:
                self._end(running[1])

    def _end(self, what: str) -> None:
        clients = self._clients
        fault = Diagnostic(
            "SW0904",
            f"process {clients.place} of {clients.count}, on {socket.gethostname()}, has waited {self._seconds:g} "
            f"seconds for the others in {what}",
            notes=("another process may have died, stopped, or taken another way",),
            help=f"look at what the other processes say; set {SECONDS_VARIABLE} for longer waits",
        )
        print(render(fault), file=sys.stderr, flush=True)
        os._exit(EXIT_CODE)


@cache
def _watch(clients: Clients) -> Watch:
    return Watch(clients, float(os.environ.get(SECONDS_VARIABLE, "300")))


def watch(what: str, clients: Clients) -> AbstractContextManager[None]:
    """Ends the job (SW0904) if what runs inside takes longer than the environment allows."""
    return _watch(clients).over(what)
