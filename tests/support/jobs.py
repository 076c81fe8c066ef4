"""Jobs of several processes in tests: what they came to, and that nothing of them is left."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from signal import SIGTERM

from shardwright.engines.mpi.job import Job, Outcome
from shardwright.engines.mpi.launching import Start, Wanted, start_of

PROGRAM = Path(__file__).parent / "faulty.py"

LONGEST = 120
"""Seconds after which a job hangs, on a machine that has much else to do."""

MARK = "SHARDWRIGHT_TEST_JOB"


def line_of(kind: str) -> int:
    """The line of `faulty.py` that follows the question for this kind of fault."""
    return line_with(f'KIND == "{kind}"') + 1 + (kind in ("mute", "oom"))


def line_with(text: str) -> int:
    """The first line of `faulty.py` that says this."""
    return next(number for number, line in enumerate(PROGRAM.read_text().split("\n"), 1) if text in line)


@cache
def _start(count: int) -> Start:
    return start_of(Wanted(("-",), count, output="first"), os.environ)


def outcome_of(count: int, *program: str, seconds: float = 30, job_seconds: float | None = None) -> Outcome:
    """Runs a program on so many processes, which wait so long for each other, and the job for them; none is left."""
    start = _start(count)
    mark = secrets.token_hex(8)
    start = replace(
        start,
        command=(*start.command[:-1], *program),
        environment={**start.environment, "SHARDWRIGHT_TIMEOUT": str(seconds), MARK: mark},
        seconds=seconds if job_seconds is None else job_seconds,
    )
    job = Job(start)
    guard = threading.Timer(LONGEST, job.interrupt, [SIGTERM])
    guard.start()
    try:
        outcome = job.run()
    finally:
        guard.cancel()
    assert left_of(mark) == []
    return outcome


def left_of(mark: str) -> list[int]:
    """The processes whose environment has the mark of a job."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@contextmanager
def launched(count: int, *program: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command `shardwright launch` with a program, and the mark of its processes; killed at the end."""
    mark = secrets.token_hex(8)
    command = (sys.executable, "-m", "shardwright.tools.main", "launch", "-n", str(count), *program)
    environment = {**os.environ, MARK: mark}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True) as launcher:
        guard = threading.Timer(LONGEST, launcher.kill)
        guard.start()
        try:
            yield launcher, mark
        finally:
            guard.cancel()
            launcher.kill()


def gone(mark: str) -> bool:
    """Whether all processes of a job end, now or soon."""
    for _ in range(200):
        if not left_of(mark):
            return True
        time.sleep(0.1)
    return False
