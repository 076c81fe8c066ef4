"""An actor of Ray that is a worker: it says where it is, and serves the controller once all are placed."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from shardwright.engines.workers.ray.wires import VOICE, WIRE, progress_mark
from shardwright.engines.workers.starting.door import GREETING, MARK
from shardwright.layout.forms.clients import COUNT_VARIABLES, PLACE_VARIABLES

Address: TypeAlias = "str | tuple[str, int]"
"""A path on this machine, or a host and a port."""

ABANDONED = 73
"""What a worker exits with whose node of Ray is gone."""

_REACH_SECONDS, _LOOK_SECONDS = 10, 0.5
_IDLE_SECONDS, _PROBES, _UNANSWERED_MILLISECONDS = 2, 3, 6000


class Actor:
    """A worker of a controller, as Ray starts it. Ray hands it plain text and numbers."""

    def about(self) -> tuple[str, str]:
        """The machine, and the name that it has."""
        return machine(), socket.gethostname()

    def serve(
        self, address: Address, token: str, place: int, count: int, threads: int, variables: dict[str, str]
    ) -> None:
        """Becomes one of so many processes of an MPI world, and does what the controller asks for to the end."""

        def came(mark: bytes) -> socket.socket:
            found = connected(address)
            found.sendall(GREETING.pack(mark, token.encode(), count, place, os.getpid()))
            return found

        voice, wire = came(VOICE), came(WIRE)
        for stream in (1, 2):
            os.dup2(voice.fileno(), stream)
        threading.Thread(target=_end_with, args=(os.getppid(),), name="shardwright node", daemon=True).start()
        own = {"PMI_FD": str(wire.fileno()), "PMI_RANK": str(place), "PMI_SIZE": str(count)}
        _replace_environment(variables | own)

        from mpi4py import MPI

        _forget_shared_memory(MPI)

        from shardwright.engines.mpi.world import world
        from shardwright.engines.workers.serving import serve

        controller = came(MARK)
        serve(controller, lambda call, at: voice.sendall(progress_mark(call, at)), threads)
        world().leave()
        MPI.Finalize()


def machine() -> str:
    """What tells this machine, as far as its memory can be shared, from others: its start, and its shared memory."""
    found: list[str] = []
    with suppress(OSError):
        found.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with suppress(OSError):
        status = os.stat("/dev/shm")
        found.append(f"{status.st_dev}.{status.st_ino}")
    return " ".join(found) or socket.gethostname()


def connected(address: Address) -> socket.socket:
    """
    A connection with the controller.

    Raises `OSError` where it cannot be reached.
    """
    if isinstance(address, str):
        found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        found.connect(address)
        return found
    found = socket.create_connection(address, timeout=_REACH_SECONDS)
    found.settimeout(None)
    keep_alive(found)
    return found


def keep_alive(connection: socket.socket) -> None:
    """Lets a connection over a network end within eight seconds when the other machine is gone, and send at once."""
    if connection.family == socket.AF_UNIX:
        return
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", _IDLE_SECONDS),
        ("TCP_KEEPINTVL", _IDLE_SECONDS),
        ("TCP_KEEPCNT", _PROBES),
        ("TCP_USER_TIMEOUT", _UNANSWERED_MILLISECONDS),
    ):
        if hasattr(socket, name):  # not every system has each
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _end_with(node: int) -> None:
    """Ends this process soon after that which started it, its node of Ray: Ray itself may take a minute."""
    while os.getppid() == node:
        time.sleep(_LOOK_SECONDS)
    print("the node of Ray that this worker was on has ended", file=sys.stderr, flush=True)
    os._exit(ABANDONED)


def _replace_environment(variables: Mapping[str, str]) -> None:
    """Takes what others have said of processes, and adds what is said here."""
    foreign = (*COUNT_VARIABLES, *PLACE_VARIABLES)
    for name in [name for name in os.environ if name in foreign or name.startswith(("PMI", "OMPI_"))]:
        del os.environ[name]
    os.environ.update(variables)


def _forget_shared_memory(mpi: Any) -> None:
    """
    Takes the names of the memory that workers share, once all have it.

    Who is killed would leave them behind, and on another machine nobody could take them away.
    """
    mpi.COMM_WORLD.Barrier()
    lines = Path("/proc/self/maps").read_text().splitlines() if sys.platform.startswith("linux") else []
    for file in {line[line.index("/dev/shm/") :] for line in lines if "/dev/shm/mpich_shm_" in line}:
        with suppress(OSError):  # all who share it take it away
            os.unlink(file)
