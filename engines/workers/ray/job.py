"""Workers that are actors: how they are placed, how they become one MPI world, and how they end."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shardwright.diagnostics import ShardwrightProcessError
from shardwright.diagnostics.caller import caller
from shardwright.engines.mpi.launching import SHARED_MEMORY
from shardwright.engines.workers.faults import process_error
from shardwright.engines.workers.ray.actor import Actor, Address, keep_alive, machine
from shardwright.engines.workers.ray.cluster import INSTALL, TOLD_LINES, bounded, join, leave, lines_of
from shardwright.engines.workers.ray.wires import VOICE, WIRE, Wires
from shardwright.engines.workers.starting.door import TOKEN_LENGTH
from shardwright.engines.workers.starting.job import Job, short_folder, welcome, welcome_each
from shardwright.layout.forms.clients import COUNT_VARIABLES, PLACE_VARIABLES

_ENDING_SECONDS = 2.0
"""How long Ray has to say how actors have ended, and to end them."""


@dataclass(frozen=True)
class Wanted:
    """How many actors are wanted, of which cluster, where they come to, and how long that may take."""

    count: int
    address: str | None
    listen: str | None
    cpus: float
    seconds: float

    @property
    def cores(self) -> float:
        """The cores that all of them need."""
        return self.count * self.cpus


class RayJob(Job):
    """Actors of a cluster. They end when their connection does; Ray is asked to end them as well."""

    def __init__(self, ray: Any, actors: list[Any]) -> None:
        super().__init__()
        self._ray, self.actors = ray, actors
        self.served: list[Any] = []
        self.wires: Wires | None = None

    def progress(self, place: int) -> tuple[int, str]:
        if self.wires is None:
            return 0, ""
        voice = self.wires.voice(place)
        return voice.call, voice.at

    def told(self) -> list[str]:
        """The last lines that the workers wrote."""
        places = range(len(self.actors)) if self.wires is not None else ()
        written = b"\n".join(self.wires.voice(place).output for place in places if self.wires is not None)
        lines = written.decode(errors="replace").splitlines()
        return [line for line in lines if line.strip()][-TOLD_LINES:]

    def why(self, seconds: float) -> list[str]:
        """Why the first actor that has ended has, as Ray says it, if one has by then."""
        ready, _ = self._ray.wait(self.served, timeout=seconds) if self.served else ([], [])
        for each in ready:
            try:
                self._ray.get(each)
            except Exception as error:  # also those of what the actor ran, whatever they are
                return lines_of(error)
        return []

    def epitaph(self) -> list[str]:
        found: list[str] = []
        bounded(lambda: found.extend(self.why(_ENDING_SECONDS)), _ENDING_SECONDS + 1)
        return [*found[-1:], *self.told()]

    def wait(self, seconds: float) -> None:
        if self.served:
            bounded(lambda: self._ray.wait(self.served, num_returns=len(self.served), timeout=seconds), seconds)

    def end(self) -> None:
        # Ray takes an end that it was not asked for as a fault, and says so. Where the cluster is gone, it may wait.
        bounded(self._kill, _ENDING_SECONDS)
        self.hang_up()
        if self.wires is not None:
            self.wires.close()
        leave(self._ray)

    def _kill(self) -> None:
        for actor in self.actors:
            self._ray.kill(actor)
        self.wait(_ENDING_SECONDS)


def start(wanted: Wanted) -> Job:
    """
    Starts so many workers, and returns when each has come in.

    Raises `RuntimeError` where Ray is missing or cannot be joined (SW0923), and when the workers do not come in time or
    cannot (SW0920).
    """
    until = time.monotonic() + wanted.seconds
    ray = join(wanted.address, wanted.cores)
    job = RayJob(ray, [])
    try:
        _check_room(ray, wanted)
        # They are of this process: they end with it.
        kind = ray.remote(num_cpus=wanted.cpus, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD")(Actor)
        job.actors = [kind.remote() for _ in range(wanted.count)]
        _connect(ray, job, wanted, until)
    except BaseException:
        job.end()
        raise
    return job


def _connect(ray: Any, job: RayJob, wanted: Wanted, until: float) -> None:
    """Makes the actors one MPI world, and lets them come in."""
    places = _places(ray, job, wanted, until)
    hosts = [host for _, host in places]
    machines = list(dict.fromkeys(found for found, _ in places))
    if wanted.listen is None and machines != [machine()]:
        names = ", ".join(dict.fromkeys(hosts))
        raise _cannot_start(
            f"those on {names} cannot come to {socket.gethostname()}, which does not listen on a network",
            help="say where they reach this machine: Workers.ray(..., listen='its address')",
        )
    token = secrets.token_hex(TOKEN_LENGTH // 2)
    threads, variables = max(1, int(wanted.cpus)), _variables(len(machines))
    with _listening(wanted.listen, wanted.count) as (listener, address):
        job.served = [
            actor.serve.remote(address, token, place, wanted.count, threads, variables)
            for place, actor in enumerate(job.actors)
        ]

        def check() -> None:
            _check(job, until)

        came = welcome_each(listener, token, wanted.count, check, (WIRE, VOICE))
        wires, voices = ([each for each, _ in found] for found in came)
        job.wires = Wires(wires, voices, [machines.index(found) for found, _ in places])
        job.connect(welcome(listener, token, wanted.count, check), hosts)
    for each in (*wires, *voices, *job.sockets):
        keep_alive(each)


def _check_room(ray: Any, wanted: Wanted) -> None:
    """Refuses what the cluster can never hold, without waiting."""
    cores = ray.cluster_resources().get("CPU", 0)
    if cores < wanted.cores:
        raise _cannot_start(
            f"{wanted.count} of them take {wanted.cores:g} cores, and the Ray cluster has {cores:g}",
            help=f"start fewer, or give each less than {wanted.cpus:g}: cpus=",
        )


def _places(ray: Any, job: RayJob, wanted: Wanted, until: float) -> list[tuple[str, str]]:
    """The machine of each actor and its name; from here on the actors stand in an order in which those of one meet."""
    asked = [actor.about.remote() for actor in job.actors]
    try:
        said: list[tuple[str, str]] = ray.get(asked, timeout=max(0.0, until - time.monotonic()))
    except ray.exceptions.GetTimeoutError as error:
        free = ray.available_resources().get("CPU", 0)
        raise _cannot_start(
            f"Ray has not placed all {wanted.count} within {wanted.seconds:g} seconds",
            help=f"each takes {wanted.cpus:g} cores of one node, and {free:g} are free: others may have the rest",
        ) from error
    except ray.exceptions.RayError as error:
        raise _cannot_start(
            "Ray does not start them",
            *lines_of(error),
            help="install shardwright, in one version, on all machines of the cluster",
        ) from error
    first = {found: place for place, (found, _) in reversed([*enumerate(said)])}
    order = sorted(range(wanted.count), key=lambda place: first[said[place][0]])
    job.actors = [job.actors[place] for place in order]
    return [said[place] for place in order]


def _check(job: RayJob, until: float) -> None:
    why = job.why(0)
    if why:
        raise _cannot_start("one of them has ended", *why, *job.told(), help=f"on all machines: {INSTALL}")
    if time.monotonic() > until:
        raise _cannot_start("they did not come in time", *job.told(), help="is the cluster overloaded?")


def _cannot_start(why: str, *notes: str, help: str) -> ShardwrightProcessError:
    return process_error("SW0920", f"the workers cannot start: {why}", caller(), *notes[-TOLD_LINES:], help=help)


def _variables(machines: int) -> dict[str, str]:
    """What the environment of the workers has of ours, which Ray does not give them."""
    foreign = (*COUNT_VARIABLES, *PLACE_VARIABLES)
    ours = [name for name in os.environ if name.startswith("SHARDWRIGHT_") and name not in foreign]
    # Workers that wait for others leave the cores to those. Without a network nothing of MPI listens.
    return (
        {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"}
        | (SHARED_MEMORY if machines == 1 else {})
        | {name: os.environ[name] for name in ours}
    )


@contextmanager
def _listening(listen: str | None, count: int) -> Generator[tuple[socket.socket, Address]]:
    """Where workers come to until all are there: a socket in a folder of this user's, or a port of one address."""
    if listen is None:
        with _in_folder(count) as found:
            yield found
        return
    try:
        family = socket.getaddrinfo(listen, 0, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((listen, 0), family=family, backlog=3 * count)
    except OSError as error:
        raise _cannot_start(
            f"this machine cannot listen on {listen!r}: {error.strerror or error}",
            help="give an address of this machine by which the others reach it",
        ) from error
    with listener:
        yield listener, (listen, listener.getsockname()[1])


@contextmanager
def _in_folder(count: int) -> Generator[tuple[socket.socket, str]]:
    folder = Path(tempfile.mkdtemp(prefix="shardwright-", dir=short_folder()))
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(folder / "door"))
            listener.listen(3 * count)
            yield listener, str(folder / "door")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
