"""A job of worker processes: how it is started, who may come in, and how it ends."""

from __future__ import annotations

import mmap
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hmac import compare_digest
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from shardwright.diagnostics.caller import caller
from shardwright.engines.mpi import starter
from shardwright.engines.workers import door
from shardwright.engines.workers.door import GREETING, MARK, TOKEN_VARIABLE
from shardwright.engines.workers.faults import process_error
from shardwright.engines.workers.progress import SLOT
from shardwright.layout.forms.clients import COUNT_VARIABLES, PLACE_VARIABLES

INSTALL = "pip install 'shardwright[mpi]'"

_GREETING_SECONDS = 5.0
"""How long whoever connects has to say who it is."""

_TOLD_LINES = 8

_ENDING_SECONDS = 3.0
"""How long the processes' starter has to end them before it is killed with them."""

_LONGEST_FOLDER = 60
"""The path of a socket has at most about a hundred characters."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass
class Job:
    """The processes of one job, and what connects this one with each of them."""

    process: subprocess.Popen[bytes]
    sockets: list[socket.socket]
    process_ids: list[int]
    progress: mmap.mmap
    output: IO[bytes]

    def told(self) -> list[str]:
        """The last lines that the processes wrote."""
        self.output.seek(0)
        lines = self.output.read().decode(errors="replace").splitlines()
        return [line for line in lines if line.strip()][-_TOLD_LINES:]

    def exit_code(self, seconds: float) -> int | None:
        """What the job ended with, if it ends within this time."""
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(seconds)
        return None

    def end(self) -> None:
        """Ends all processes, whatever they do: their starter sees to it, and they die with it."""
        if self.process.poll() is None:
            self.process.terminate()
        if self.exit_code(_ENDING_SECONDS) is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for each in self.sockets:
            # Who reads from it in another thread comes to its end; closed by another, its number could be used again.
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


def start(count: int, seconds: float) -> Job:
    """
    Starts so many workers, and returns when each has come in.

    Raises `RuntimeError` (SW0920) where there is no MPI, and when they have not come within this time.
    """
    _check_mpi()
    folder = Path(tempfile.mkdtemp(prefix="shardwright-", dir=_short_folder()))
    output = tempfile.TemporaryFile()  # noqa: SIM115  (it lasts as long as the job)
    until = time.monotonic() + seconds
    token = secrets.token_hex(door.TOKEN_LENGTH // 2)
    process: subprocess.Popen[bytes] | None = None
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(folder / "door"))
            listener.listen(count)
            progress = _progress(folder / "progress", count)
            worker = [sys.executable, "-P", "-m", "mpi4py", door.__file__]
            command = [sys.executable, "-P", "-m", starter.__name__, str(count), *worker]
            process = _started([*command, str(folder / "door"), str(folder / "progress")], output, token, count)
            job = Job(process, [], [], progress, output)
            found = welcome(listener, token, count, lambda: _check(job, until))
            job.sockets, job.process_ids = [each for each, _ in found], [number for _, number in found]
            return job
    except BaseException:
        if process is not None:
            Job(process, [], [], mmap.mmap(-1, 1), output).end()
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(command: list[str], output: IO[bytes], token: str, count: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=_environment(token, count),
            start_new_session=True,  # a Ctrl-C at the terminal is for the controller
        )
    except OSError as error:
        why = f"{command[0]} cannot be started: {error.strerror or error}"
        raise process_error("SW0920", why, caller(), help="workers run with the Python of this process") from error


def welcome(
    listener: socket.socket, token: str, count: int, check: Callable[[], None]
) -> list[tuple[socket.socket, int]]:
    """
    The connections and process numbers of all workers, in their order; whoever lacks the token is sent away.

    `check` is called now and then, and raises when there is no more to wait for.
    """
    found: dict[int, tuple[socket.socket, int]] = {}
    listener.settimeout(0.05)
    while len(found) < count:
        check()
        with suppress(TimeoutError):
            stranger, _ = listener.accept()
            greeted = _greeted(stranger, token, count)
            if greeted is None or greeted[0] in found:
                stranger.close()
            else:
                found[greeted[0]] = stranger, greeted[1]
    return [found[place] for place in range(count)]


def _greeted(stranger: socket.socket, token: str, count: int) -> tuple[int, int] | None:
    """Which worker has come in, if it is one, and its process."""
    stranger.settimeout(_GREETING_SECONDS)
    came = b""
    while len(came) < GREETING.size:
        try:
            part = stranger.recv(GREETING.size - len(came))
        except OSError:
            return None
        if not part:
            return None
        came += part
    stranger.settimeout(None)
    mark, given, workers, place, process = GREETING.unpack(came)
    if mark != MARK or not compare_digest(given, token.encode()) or workers != count or place >= count:
        return None
    return place, process


def _check(job: Job, until: float) -> None:
    code = job.process.poll()
    if code is not None:
        told = job.told()
        raise process_error(
            "SW0920", f"the workers ended with code {code} at their start", caller(), *told, help=INSTALL
        )
    if time.monotonic() > until:
        raise process_error(
            "SW0920", "the workers did not come in time", caller(), *job.told(), help="is the machine overloaded?"
        )


def _check_mpi() -> None:
    if find_spec("mpi4py") is None:
        raise process_error("SW0920", "workers need MPI, and mpi4py is not installed", caller(), help=INSTALL)


def _short_folder() -> str | None:
    """Where folders for sockets are made: where all temporary ones are, unless paths there are too long."""
    return None if len(tempfile.gettempdir()) <= _LONGEST_FOLDER else "/tmp"


def _progress(path: Path, count: int) -> mmap.mmap:
    path.write_bytes(bytes(SLOT * count))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), 0)


def _environment(token: str, count: int) -> dict[str, str]:
    """What workers find in their environment: this process's own, and modules where it finds them."""
    foreign = (*COUNT_VARIABLES, *PLACE_VARIABLES)
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in foreign and not name.startswith(("PMI", "OMPI_"))
    }
    threads = str(max(1, len(os.sched_getaffinity(0)) // count))
    own: dict[str, Any] = {
        TOKEN_VARIABLE: token,
        "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
        # Workers that wait for others leave the cores to those.
        "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
    }
    return dict.fromkeys(_THREADS, threads) | kept | own
