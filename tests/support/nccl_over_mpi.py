"""A stand-in for `cupy.cuda.nccl` between MPI processes: the one between threads, with messages by MPI."""

from __future__ import annotations

import hashlib
from typing import Any

import nccl_stand_in as threads
from cupy_stand_in import current_device
from mpi4py import MPI
from nccl_stand_in import *  # noqa: F403
from nccl_stand_in import NcclError


def get_unique_id() -> bytes:
    """A name for a communicator that no other process makes."""
    return b"%064d" % MPI.COMM_WORLD.Get_rank() + threads.get_unique_id()[64:]


class NcclCommunicator(threads.NcclCommunicator):
    """One rank of a communicator. All processes of the job make theirs at the same time, or this waits for ever."""

    def __init__(self, ndev: int, commId: bytes, rank: int) -> None:
        color = int.from_bytes(hashlib.sha256(commId).digest()[:3], "big")
        self._comm = MPI.COMM_WORLD.Split(color, rank)
        self.rank, self.device, self.destroyed = rank, current_device(), False
        self._fabric = threads._Fabric(ndev)
        found = self._comm.allgather((commId, self.device))
        assert [name for name, _ in found] == [commId] * ndev
        if len({device for _, device in found}) < ndev:
            raise NcclError("NCCL_ERROR_INVALID_USAGE: Duplicate GPU detected")

    def post(self, data: Any, datatype: int, peer: int) -> None:
        self._comm.isend((datatype, data.copy()), peer)

    def fetch(self, target: Any, datatype: int, peer: int) -> None:
        sent, data = self._comm.recv(source=peer)
        if sent != datatype or data.shape != target.shape:
            raise NcclError(f"{data.size} of type {sent} were sent where {target.size} of type {datatype} are due")
        target[...] = data

    def _all(self, call: tuple[Any, ...], mine: Any, stream: int) -> list[Any]:
        self._alive()
        said = self._comm.allgather((call, mine))
        if any(other != call for other, _ in said):
            raise NcclError(f"NCCL_ERROR_INVALID_USAGE: ranks call {[other for other, _ in said]}")
        return [part for _, part in said]
