"""Worker processes on this machine: how they are started, and how they end."""

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
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from shardwright.diagnostics.caller import caller
from shardwright.engines.mpi import starter
from shardwright.engines.workers.faults import process_error
from shardwright.engines.workers.starting import door
from shardwright.engines.workers.starting.door import TOKEN_VARIABLE
from shardwright.engines.workers.starting.job import Job, short_folder, welcome
from shardwright.engines.workers.starting.progress import SLOT, progress_of
from shardwright.layout.forms.clients import COUNT_VARIABLES, PLACE_VARIABLES

INSTALL = "pip install 'shardwright[mpi]'"

_TOLD_LINES = 8

_ENDING_SECONDS = 3.0
"""How long the processes' starter has to end them before it is killed with them."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class LocalJob(Job):
    """The processes of one job on this machine, under the starter that ends them."""

    def __init__(self, process: subprocess.Popen[bytes], memory: mmap.mmap, output: IO[bytes]) -> None:
        super().__init__()
        self.process, self._memory, self._output = process, memory, output

    def progress(self, place: int) -> tuple[int, str]:
        return progress_of(self._memory, place)

    def told(self) -> list[str]:
        """The last lines that the processes wrote."""
        self._output.seek(0)
        lines = self._output.read().decode(errors="replace").splitlines()
        return [line for line in lines if line.strip()][-_TOLD_LINES:]

    def epitaph(self) -> list[str]:
        code = self._exit_code(_ENDING_SECONDS)
        return [*([f"the job ended with code {code}"] if code is not None else []), *self.told()]

    def wait(self, seconds: float) -> None:
        self._exit_code(seconds)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        if self._exit_code(_ENDING_SECONDS) is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.hang_up()

    def _exit_code(self, seconds: float) -> int | None:
        """What the job ended with, if it ends within this time."""
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(seconds)
        return None


def start(count: int, seconds: float) -> LocalJob:
    """
    Starts so many workers, and returns when each has come in.

    Raises `RuntimeError` (SW0920) where there is no MPI, and when they have not come within this time.
    """
    _check_mpi()
    folder = Path(tempfile.mkdtemp(prefix="shardwright-", dir=short_folder()))
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
            job = LocalJob(process, progress, output)
            job.connect(welcome(listener, token, count, lambda: _check(job, until)), [socket.gethostname()] * count)
            return job
    except BaseException:
        if process is not None:
            LocalJob(process, mmap.mmap(-1, 1), output).end()
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


def _check(job: LocalJob, until: float) -> None:
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
