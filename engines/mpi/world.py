"""The processes that MPI started together, and what they have to agree on."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from functools import cache
from typing import Any

import numpy as np

from shardwright._version import __version__
from shardwright.diagnostics import Diagnostic, ShardwrightValueError, SourceLocation
from shardwright.diagnostics.caller import caller
from shardwright.diagnostics.faults import value_error
from shardwright.engines.mpi.watch import watch
from shardwright.layout import Mesh
from shardwright.layout.forms.clients import Clients

_TEXT_BYTES = 400
"""What each process tells the others of itself where they disagree."""


class World:
    """All processes of the job: how many, which one this is, and agreement among them."""

    def __init__(self, mpi: Any) -> None:
        self.mpi = mpi
        self.comm = mpi.COMM_WORLD
        self.clients = Clients(self.comm.Get_size(), self.comm.Get_rank())

    def agree(self, what: str, digest: bytes, told: str, place: SourceLocation | None = None) -> None:
        """
        Returns where all processes give the same digest (of at least eight bytes).

        Raises `ValueError` (SW0902) on each of them where they do not; `told` is what the others are told.
        """
        number = int.from_bytes(digest[:7], "big")
        extremes = np.array([number, -number], np.int64)
        with watch(told, self.clients):
            self.comm.Allreduce(self.mpi.IN_PLACE, extremes, self.mpi.MAX)
        if extremes[0] == -extremes[1]:
            return
        mine = np.frombuffer(told.encode()[:_TEXT_BYTES].ljust(_TEXT_BYTES), np.uint8)
        texts = np.empty((self.clients.count, _TEXT_BYTES), np.uint8)
        self.comm.Allgather(np.ascontiguousarray(mine), texts)
        notes = [f"process {at}: {bytes(text).decode(errors='replace').strip()}" for at, text in enumerate(texts)]
        raise ShardwrightValueError(
            Diagnostic(
                "SW0902",
                f"the processes disagree on {what}",
                caller() if place is None else place,
                notes=tuple(dict.fromkeys(notes))[:8],
                help="let all processes do the same in the same order: nothing that is distributed may depend on the "
                "process",
            )
        )


@cache
def world() -> World:
    """
    The job's processes; they agree on the versions of what they run.

    Raises `ValueError` (SW0901) without mpi4py.
    """
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise value_error(
            "SW0901",
            f"a mesh over several processes needs mpi4py, which does not load: {error}",
            help="pip install 'shardwright[mpi]', then start the program with: shardwright launch -n 2 train.py",
        ) from error
    found = World(MPI)
    versions = f"shardwright {__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    found.agree("the versions that they run", hashlib.sha256(versions.encode()).digest(), versions)
    return found


def joined(mesh: Mesh) -> World:
    """
    The job's processes, where they are those of the mesh.

    Raises `ValueError` (SW0901) where they are not: a program on this mesh would wait for processes that are not there.
    """
    found = world()
    if found.clients != mesh.clients:
        raise value_error(
            "SW0901",
            f"{mesh!r} is spread over {mesh.num_clients} processes, of which this is number {mesh.clients.place}, but "
            f"MPI says that it is number {found.clients.place} of {found.clients.count}",
            help=f"start the program with: shardwright launch -n {mesh.num_clients} {os.path.basename(_script())}",
        )
    _agree_on_mesh(found, mesh)
    return found


def _script() -> str:
    return getattr(sys.modules.get("__main__"), "__file__", None) or "train.py"


@cache
def _agree_on_mesh(found: World, mesh: Mesh) -> None:
    text = f"{mesh!r} with {'no names of devices' if mesh.devices is None else ', '.join(mesh.devices)}"
    found.agree("the mesh", hashlib.sha256(text.encode()).digest(), text)
