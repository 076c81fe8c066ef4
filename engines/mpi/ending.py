"""How a process of a job ends that cannot go on: it says why, and where, and takes the others with it."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from collections.abc import Sequence

from shardwright.engines.jobs.timeline import finish
from shardwright.engines.mpi.board import Report, own_board
from shardwright.layout.forms.clients import Clients

_TO_BE_READ = 0.25
"""Seconds before an abort: `mpiexec` may drop what it has not read by then."""


def on_processes(places: Sequence[int], count: int) -> str:
    """
    The note that says which processes of a job a text is from.

    >>> on_processes([1], 4).split(",")[0], on_processes([0, 2], 4).split(" of ")[0]
    ('  note: on process 1 of 4', '  note: on processes 0, 2')
    """
    shown = ", ".join(map(str, places[:8])) + (f" and {len(places) - 8} more" if len(places) > 8 else "")
    return f"  note: on process{'es' if len(places) > 1 else ''} {shown} of {count}, on {socket.gethostname()}"


def tell(clients: Clients, text: str, where: str) -> None:
    """
    Says why this process ends: to the launcher, which has one text from all that say the same, else on standard error.

    Whoever ends has to end, also where nobody can read why: no fault of the stream is one of the program.
    """
    board = own_board()
    if board is not None:
        board.write_report(clients.place, Report(where, text))
        return
    # A stream may be missing, closed, full, or anything that the program put there.
    with contextlib.suppress(Exception):
        print(f"{text}\n{on_processes([clients.place], clients.count)}", file=sys.stderr, flush=True)


def end(clients: Clients, text: str, where: str, code: int) -> None:
    """Says why, and ends this process and with it the job; returns only where MPI has not begun."""
    tell(clients, text, where)
    with contextlib.suppress(Exception):
        finish()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not mpi.Is_initialized() or mpi.Is_finalized():
        return
    if own_board() is None:
        time.sleep(_TO_BE_READ)
        mpi.COMM_WORLD.Abort(code)
    # The launcher ends the others, and without a word of MPI's between ours.
    os._exit(code)
