"""What has to be started, and with which environment, so that so many processes run one program."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.figures import readable_bytes
from shardwright.engines.jobs.timeline import VARIABLE as TRACE_VARIABLE
from shardwright.engines.mpi.runner import OUTPUT_VARIABLE
from shardwright.engines.mpi.watch import SECONDS_VARIABLE, seconds_to_wait
from shardwright.runtime.codegen.arena import machine_bytes
from shardwright.runtime.codegen.crew import THREADS_VARIABLE

_RUNNER = "shardwright.engines.mpi.runner"
_INSTALL = "pip install 'shardwright[mpi]'"
_PROBE = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"
_ONE_WIRE = ("MPICH", "Intel(R) MPI", "MVAPICH", "CRAY")
"""MPIs of MPICH's kin, whose processes ask by one protocol how to find each other."""

SHARED_MEMORY = {"UCX_TLS": "self,sm"}
"""Memory that they share is all that processes of one machine need: without this, MPI opens ports on every network."""

_LEAST = 16 << 20
"""The bytes that a process has for itself at least: of Python, NumPy and MPI, before it has computed anything."""

_OUR_FILES = 32
"""The files that are ours besides those of the processes."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", THREADS_VARIABLE)


@dataclass(frozen=True)
class Wanted:
    """What somebody wants to run, and how: a program is `(file, *arguments)` or `("-m", module, *arguments)`."""

    program: tuple[str, ...]
    count: int
    hosts: str | None = None
    seconds: float | None = None
    threads: int | None = None
    output: str = "first"
    trace: str | None = None


@dataclass(frozen=True)
class Start:
    """
    What to start: the command once for each process of this machine (`by_us`), or once where it starts them itself.

    `environment` is added to ours; `seconds` is how long a process may make others wait.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]
    count: int
    by_us: bool = True
    seconds: float = 300.0
    labelled: bool = False


def start_of(wanted: Wanted, environment: Mapping[str, str]) -> Start:
    """
    What has to be started.

    Raises `ShardwrightError` (SW0913) where MPI is missing, (SW0914) for a time to wait that is none, and (SW0702) for
    a file of hosts that is none.
    """
    library = _library()
    by_us = wanted.hosts is None and wires_up(library)
    added = _environment(wanted, environment, usable_cores(), by_us)
    before: tuple[str, ...] = ()
    if "Open MPI" in library:
        before = _open_mpiexec(wanted, [*added, *({"PYTHONPATH"} & set(environment))])
    elif not by_us:
        before = _mpiexec(wanted)
    command = (*before, sys.executable, "-P", "-m", _RUNNER, *wanted.program)
    seconds = seconds_to_wait({**environment, **added})
    return Start(command, added, wanted.count, by_us, seconds, by_us and wanted.output == "labelled")


def check_room(start: Start) -> None:
    """Raises `ShardwrightError` (SW0913) where this machine cannot hold all processes that we would start on it."""
    most, why = min(_limits(3 if start.labelled else 1))
    if start.by_us and start.count > most:
        many = f"{start.count:,} processes are more than this machine can hold: {why}"
        help_text = f"start {most:,} at most, or give more machines with --hosts"
        raise ShardwrightError(Diagnostic("SW0913", many, help=help_text))


def _limits(files: int) -> Iterator[tuple[int, str]]:
    """How many processes there may be, and why; we keep so many files open for each."""
    memory = machine_bytes()
    takes, has = readable_bytes(_LEAST), readable_bytes(memory)
    yield memory // _LEAST, f"each takes {takes} before the program begins, and there are {has}"
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed != resource.RLIM_INFINITY:
        most = max(0, allowed - _OUR_FILES) // files
        yield most, f"of {allowed:,} files that may be open (ulimit -n) each takes {files}"


def wires_up(library: str) -> bool:
    """Whether processes of an MPI that says so of itself find each other by `wireup`."""
    return any(name in library for name in _ONE_WIRE)


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _environment(wanted: Wanted, given: Mapping[str, str], cores: int, local: bool) -> dict[str, str]:
    """
    What the environment of the processes has that ours has not; what is set already stays unless an option says more.

    >>> found = _environment(Wanted(("train.py",), 4), {"OMP_NUM_THREADS": "3"}, 2, True)
    >>> found["OPENBLAS_NUM_THREADS"], found["MPIR_CVAR_ENABLE_HEAVY_YIELD"], "OMP_NUM_THREADS" in found
    ('1', '1', False)
    """
    # How many cores the processes of other hosts share is not known here.
    threads = wanted.threads or (max(1, cores // wanted.count) if local else 1)
    added = {name: str(threads) for name in _THREADS if wanted.threads or name not in given}
    defaults = {"PYTHONFAULTHANDLER": "1"}
    if wanted.count > cores:
        # Processes that wait would keep those that work from the cores.
        defaults["MPIR_CVAR_ENABLE_HEAVY_YIELD"] = "1"
    if local:
        defaults |= SHARED_MEMORY
    if wanted.output == "labelled":
        defaults["PYTHONUNBUFFERED"] = "1"
    added |= {name: value for name, value in defaults.items() if name not in given}
    added[OUTPUT_VARIABLE] = wanted.output
    if wanted.trace is not None:
        added[TRACE_VARIABLE] = os.path.abspath(wanted.trace)
    if wanted.seconds is not None:
        added[SECONDS_VARIABLE] = f"{wanted.seconds:g}"
    return added


def _library() -> str:
    """What MPI says that it is: asked in another process, for it can be loaded but once."""
    ran = subprocess.run([sys.executable, "-P", "-c", _PROBE], capture_output=True, text=True, check=False)
    if ran.returncode == 0:
        return ran.stdout
    why = (ran.stderr.strip().split("\n") or [""])[-1] or f"exit code {ran.returncode}"
    raise ShardwrightError(
        Diagnostic("SW0913", f"several processes need mpi4py and MPI, which do not load: {why}", help=_INSTALL)
    )


def mpiexec() -> str:
    """MPI's own command: that of this Python's environment, else that of the path; raises (SW0913) without one."""
    beside = Path(sys.executable).parent / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        nowhere = f"there is no mpiexec beside {sys.executable} or on PATH"
        raise ShardwrightError(Diagnostic("SW0913", nowhere, help=_INSTALL))
    return found


def _mpiexec(wanted: Wanted) -> tuple[str, ...]:
    """The start of a command for other hosts, which have the environment that it has."""
    hosts: tuple[str, ...] = ()
    if wanted.hosts is not None:
        places(wanted.hosts)  # mpiexec refuses nothing
        hosts = ("-f", wanted.hosts)
    label = ("-prepend-rank",) if wanted.output == "labelled" else ()
    return (mpiexec(), *hosts, *label, "-n", str(wanted.count))


def _open_mpiexec(wanted: Wanted, names: Sequence[str]) -> tuple[str, ...]:
    """The same for Open MPI: it counts cores unless told otherwise, and other hosts get these variables alone."""
    hosts = () if wanted.hosts is None else ("--host", ",".join(places(wanted.hosts)))
    exported = [word for name in sorted(names) for word in ("-x", name)] if hosts else []
    label = ("--tag-output",) if wanted.output == "labelled" else ()
    return (mpiexec(), *hosts, "--oversubscribe", *exported, *label, "-n", str(wanted.count))


_HOST = re.compile(r"(?:[\w.-]+@)?(?![-.])[\w.-]+(?P<count>:[1-9]\d*)?", re.ASCII)
"""A machine's name or address; a user's name may stand before it, and a number of processes behind it."""


def places(file: str) -> list[str]:
    """
    Each host of a file with its number of processes; raises (SW0702) for a line that is no host.

    mpiexec would take such a line as it is, and hand one that begins with a hyphen to ssh as an option.
    """
    try:
        lines = [line.partition("#")[0].strip() for line in Path(file).read_text().splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise ShardwrightError(Diagnostic("SW0702", f"cannot read '{file}': {error}")) from None
    found: list[str] = []
    for number, host in enumerate(lines, 1):
        match = _HOST.fullmatch(host)
        if host and (match is None or host.startswith("-")):
            raise ShardwrightError(Diagnostic("SW0702", f"cannot read '{file}': {_no_host(number, host)}", help=_LINES))
        if match is not None:
            found.append(host if match["count"] else f"{host}:1")
    if not found:
        raise ShardwrightError(Diagnostic("SW0702", f"cannot read '{file}': it names no host", help=_LINES))
    return found


_LINES = "write a line for each machine, as HOST or HOST:COUNT"


def _no_host(number: int, text: str) -> str:
    return f"line {number}, {text!r}, is no host"
