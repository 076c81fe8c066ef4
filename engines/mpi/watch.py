"""No wait without end: a process that has waited too long says so and ends the job."""

from __future__ import annotations

import contextlib
import faulthandler
import math
import os
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path

from shardwright.diagnostics import Diagnostic
from shardwright.diagnostics.faults import value_error
from shardwright.diagnostics.render import render
from shardwright.engines.mpi.board import Board, own_board
from shardwright.engines.mpi.ending import end
from shardwright.layout.forms.clients import Clients

SECONDS_VARIABLE = "SHARDWRIGHT_TIMEOUT"
"""The environment variable that says how many seconds a process waits for others in one call: 300 unless it is set."""

EXIT_CODE = 70
"""What a job exits with that was ended by a wait."""

_TICK = 0.25
_SPARE = 2.0
"""Seconds that this thread may be late before Python's own watchdog ends the process: it needs no interpreter lock."""

STOPPED = "stopped"


class Watch:
    """One thread that looks several times a second whether what runs has run too long."""

    def __init__(self, clients: Clients, seconds: float) -> None:
        self._clients, self._seconds = clients, seconds
        self._running: tuple[float, str] | None = None
        self._guarding, self._is_over = threading.Lock(), False
        threading.Thread(target=self._look, name="shardwright watch", daemon=True).start()

    @contextmanager
    def over(self, what: str) -> Generator[None]:
        """Watches what runs inside."""
        outer, self._running = self._running, (time.monotonic() + self._seconds, what)
        try:
            yield
        finally:
            self._running = outer

    def finish(self) -> None:
        """
        Takes the guard away for good, as the interpreter ends.

        Its thread stops there, and Python's watchdog does not: it would end a process that takes long to give back
        its memory.
        """
        with self._guarding, contextlib.suppress(Exception):
            self._is_over = True
            faulthandler.cancel_dump_traceback_later()

    def _look(self) -> None:
        armed = False
        while True:
            time.sleep(min(self._seconds / 4, _TICK))
            running = self._running
            if running is not None and time.monotonic() > running[0]:
                self._end(running[1])
            armed = self._guard(running is not None, armed)

    def _guard(self, wanted: bool, armed: bool) -> bool:
        """Lets Python end the process where this thread does not come again: something keeps the interpreter lock."""
        # Standard error may be closed, and is no file in a notebook: then there is no such guard.
        with self._guarding, contextlib.suppress(Exception):
            if self._is_over:
                return False
            if wanted:
                faulthandler.dump_traceback_later(self._seconds + _SPARE, exit=True)
            elif armed:
                faulthandler.cancel_dump_traceback_later()
        return wanted

    def _end(self, what: str) -> None:
        notes = _missing(self._clients)
        fault = Diagnostic(
            "SW0904",
            f"the process has waited {self._seconds:g} seconds for the others in {what}",
            notes=notes or ("another process may have died, stopped, or taken another way",),
            help=f"look at what the other processes say; set {SECONDS_VARIABLE} for longer waits",
        )
        try:
            end(self._clients, render(fault), what.rpartition(" at ")[2], EXIT_CODE)
        finally:
            os._exit(EXIT_CODE)


def _missing(clients: Clients) -> tuple[str, ...]:
    """Which processes have not come as far as this one, as far as the job's board says."""
    board = own_board()
    if board is None:
        return ()
    mine = board.seen(clients.place)
    come = 0 if mine is None else mine.calls
    return tuple(_standing(board, place) for place in range(clients.count) if _calls(board, place) < come)[:8]


def _calls(board: Board, place: int) -> int:
    seen = board.seen(place)
    return 0 if seen is None else seen.calls


def _standing(board: Board, place: int) -> str:
    """What is known of a process that has not come."""
    seen = board.seen(place)
    if seen is None:
        return f"process {place} has come to no call yet"
    state = f", and is {state_of(seen.pid)}" if state_of(seen.pid) else ""
    return f"process {place} (pid {seen.pid}) was last seen at {seen}, {time.time() - seen.when:.0f} s ago{state}"


def state_of(pid: int) -> str:
    """What Linux says of a process that does not run; nothing elsewhere."""
    try:
        found = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
    except OSError:
        return ""
    return {"T": STOPPED, "t": "stopped by a debugger", "Z": "dead", "D": "waiting for a disk"}.get(found, "")


def seconds_to_wait(environment: Mapping[str, str] = os.environ) -> float:
    """
    How long a process waits for others in one call, as the environment says.

    Raises `ValueError` (SW0914) for what is no such number.

    >>> seconds_to_wait({}), seconds_to_wait({"SHARDWRIGHT_TIMEOUT": "2.5"})
    (300.0, 2.5)
    """
    text = environment.get(SECONDS_VARIABLE, "").strip() or "300"
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found < math.inf:
        raise value_error("SW0914", f"{SECONDS_VARIABLE}={text!r} is no number of seconds", help="give one such as 300")
    return found


@contextmanager
def starting() -> Generator[None]:
    """Around MPI's own start, which keeps the interpreter lock: Python ends the process if others do not come."""
    seconds = seconds_to_wait()
    with contextlib.suppress(Exception):
        faulthandler.dump_traceback_later(seconds + _SPARE, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@cache
def _watch(clients: Clients) -> Watch:
    return Watch(clients, seconds_to_wait())


def watch(what: str, clients: Clients) -> AbstractContextManager[None]:
    """Ends the job (SW0904) if what runs inside takes longer than the environment allows."""
    return _watch(clients.everyone).over(what)


def unwatched(clients: Clients) -> None:
    """Nothing that this process still does is watched: it has come to its end."""
    _watch(clients.everyone).finish()
