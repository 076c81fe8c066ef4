"""The processes that MPI started together, and what they have to agree on."""

from __future__ import annotations

import atexit
import hashlib
import os
import platform
import sys
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from shardwright._version import __version__
from shardwright.diagnostics import Diagnostic, ShardwrightValueError, SourceLocation
from shardwright.diagnostics.caller import caller
from shardwright.diagnostics.faults import value_error
from shardwright.diagnostics.render import render, render_all
from shardwright.engines.jobs.given import given_to
from shardwright.engines.jobs.job import Job
from shardwright.engines.mpi.board import own_board
from shardwright.engines.mpi.ending import end
from shardwright.engines.mpi.watch import starting, unwatched, watch
from shardwright.layout import Mesh
from shardwright.layout.forms.clients import Clients

_TEXT_BYTES = 600
"""What each process tells the others of itself where they disagree."""

_CALLS = count(1)

_END = hashlib.sha256(b"the end").digest()


class World(Job):
    """All processes of the job, or a part of them: which one this is, agreement among them, and short messages."""

    def __init__(self, mpi: Any, comm: Any, clients: Clients) -> None:
        self.mpi, self.comm, self.clients = mpi, comm, clients
        self._parts: dict[Clients, World] = {}

    def part(self, clients: Clients) -> World:
        """Some of the processes, which make it together when they first need it; this one is one of them."""
        if clients == self.clients:
            return self
        if clients not in self._parts:
            last = clients.first + clients.count - 1
            some = self.comm.Get_group().Range_incl([(clients.first, last, 1)])
            self._parts[clients] = World(self.mpi, self.comm.Create_group(some), clients)
        return self._parts[clients]

    def agree(self, what: str, digest: bytes, told: str, place: SourceLocation | None = None) -> None:
        """
        Returns where all processes give the same digest, and were given the same arrays.

        Raises `ValueError` (SW0902) on each of them where they do not; `told` is what the others are told.
        """
        where = caller() if place is None else place
        board = own_board()
        if board is not None:
            board.write_seen(self.clients.everyone.place, next(_CALLS), str(where or ""))
        check, given = given_to(self.clients).taken()
        with watch(told, self.clients):
            agreed = self._agreed(hashlib.sha256(digest + check).digest())
        if not agreed:
            raise self._disagreement(f"{what}, or on arrays given to it" if given else what, told + given, where)

    def leave(self) -> None:
        """
        Waits, at this process' end, until all come to theirs; ends the job where another wants to go on (SW0902).

        That wait may be long, while one process alone does its last work: nothing watches it.
        """
        if self.mpi.Is_finalized():
            return
        if hasattr(sys, "last_value"):  # an exception that nobody caught: the others wait in vain
            end(self.clients, _uncaught(), "", 1)
        if not self._agreed(_END):
            fault = self._disagreement("the program that runs next", "has come to its end", None)
            end(self.clients, render_all(fault.diagnostics), "", 1)
        unwatched(self.clients)

    def _agreed(self, digest: bytes) -> bool:
        """Whether all processes give the same digest."""
        number = int.from_bytes(digest[:7], "big")
        extremes = np.array([number, -number], np.int64)
        self.comm.Allreduce(self.mpi.IN_PLACE, extremes, self.mpi.MAX)
        return bool(extremes[0] == -extremes[1])

    def _disagreement(self, what: str, told: str, where: SourceLocation | None) -> ShardwrightValueError:
        """What each process is told of all: they have to make it together."""
        mine = np.frombuffer(told.encode()[:_TEXT_BYTES].ljust(_TEXT_BYTES), np.uint8)
        texts = np.empty((self.clients.count, _TEXT_BYTES), np.uint8)
        self.comm.Allgather(np.ascontiguousarray(mine), texts)
        told_by = enumerate(texts, self.clients.first)
        notes = [f"process {at}: {bytes(text).decode(errors='replace').strip()}" for at, text in told_by]
        return ShardwrightValueError(
            Diagnostic(
                "SW0902",
                f"the processes disagree on {what}",
                where,
                notes=tuple(dict.fromkeys(notes))[:8],
                help="let all processes do the same in the same order: nothing that is distributed may depend on the "
                "process",
            )
        )

    def gather(self, data: bytes, what: str) -> list[bytes]:
        sizes = np.empty(self.clients.count, np.int64)
        first = self.clients.place == 0
        with watch(what, self.clients):
            self.comm.Gather(np.array([len(data)], np.int64), sizes if first else None)
            if not first:
                self.comm.Gatherv([data, self.mpi.BYTE], None)
                return []
            ends = np.cumsum(sizes)
            whole = np.empty(int(ends[-1]), np.uint8)
            self.comm.Gatherv([data, self.mpi.BYTE], [whole, sizes, ends - sizes, self.mpi.BYTE])
        return [whole[end - size : end].tobytes() for size, end in zip(sizes, ends, strict=True)]

    def broadcast(self, data: bytes, what: str) -> bytes:
        size = np.array([len(data)], np.int64)
        with watch(what, self.clients):
            self.comm.Bcast(size)
            whole = np.frombuffer(data, np.uint8).copy() if self.clients.place == 0 else np.empty(size, np.uint8)
            self.comm.Bcast([whole, self.mpi.BYTE])
        return whole.tobytes()


@cache
def world() -> World:
    """
    The job's processes; they agree on the versions of what they run.

    Raises `ValueError` (SW0901) without mpi4py, and (SW0914) for a time to wait that is none.
    """
    try:
        with starting():
            from mpi4py import MPI
    except ImportError as error:
        raise value_error(
            "SW0901",
            f"a mesh over several processes needs mpi4py, which does not load: {error}",
            help="pip install 'shardwright[mpi]', then start the program with: shardwright launch -n 2 train.py",
        ) from error
    found = World(MPI, MPI.COMM_WORLD, Clients(MPI.COMM_WORLD.Get_size(), MPI.COMM_WORLD.Get_rank()))
    versions = f"shardwright {__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    found.agree("the versions that they run", hashlib.sha256(versions.encode()).digest(), versions)
    atexit.register(found.leave)
    return found


def joined(mesh: Mesh) -> World:
    """
    The processes of a mesh, of which this is one; they agree on it.

    Raises `ValueError` as `job_of_mesh` does.
    """
    part = job_of_mesh(mesh).part(mesh.clients)
    agree_on_mesh(part, mesh)
    return part


def job_of_mesh(mesh: Mesh) -> World:
    """
    The job's processes, where they are those of the mesh, or it lies on a part of them.

    Raises `ValueError` (SW0901) where they are not: a program on this mesh would wait for processes that are not there.
    """
    found, wanted = world(), mesh.clients.everyone
    if found.clients != wanted:
        raise value_error(
            "SW0901",
            f"{mesh!r} is spread over {wanted.count} processes, of which this is number {wanted.place}, but "
            f"MPI says that it is number {found.clients.place} of {found.clients.count}",
            help=f"start the program with: shardwright launch -n {wanted.count} {os.path.basename(_script())}",
        )
    return found


def _uncaught() -> str:
    return render(Diagnostic("SW0910", f"the program raised {type(sys.last_value).__name__}: {sys.last_value}"))


def _script() -> str:
    return getattr(sys.modules.get("__main__"), "__file__", None) or "train.py"


@cache
def agree_on_mesh(found: World, mesh: Mesh) -> None:
    """Once for each mesh and the processes that have to know it; raises `ValueError` (SW0902) where one has another."""
    text = f"{mesh!r} with {'no names of devices' if mesh.devices is None else ', '.join(mesh.devices)}"
    found.agree("the mesh", hashlib.sha256(text.encode()).digest(), text)
