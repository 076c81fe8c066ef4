"""A network that is not there: what one process of many would tell MPI, counted, with the time that a model gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shardwright.engines.mpi.communicator import MpiCommunicator
from shardwright.engines.mpi.world import World
from shardwright.layout.forms.clients import Clients

LATENCY = 2e-6
"""Seconds that a message takes whatever its length: what an MPI over a fast network needs."""

SECONDS_PER_BYTE = 1 / 12.5e9
"""What each byte adds: 100 Gbit/s."""


@dataclass
class Counts:
    """
    What one process told MPI: messages that it sent, bytes in them, and the seconds that they take.

    A process sends one message after the other, and receives others meanwhile: each takes the latency and its bytes'
    time. An all-reduce over `p` processes is halved and doubled: `2 log2(p)` messages of `2 (p - 1) / p` of its bytes.
    """

    messages: int = 0
    bytes: int = 0
    seconds: float = 0.0
    partners: set[int] = field(default_factory=set[int])

    def message(self, target: int, length: int) -> None:
        """A message to one process."""
        self.partners.add(target)
        self._note(1, length)

    def all_reduce(self, count: int, length: int) -> None:
        """An all-reduce among so many."""
        self._note(2 * math.ceil(math.log2(count)), 2 * (count - 1) * length // count)

    def _note(self, messages: int, length: int) -> None:
        self.messages += messages
        self.bytes += length
        self.seconds += messages * LATENCY + length * SECONDS_PER_BYTE


class Kind:
    """A type of so many bytes, in a span of memory."""

    def __init__(self, size: int, span: int) -> None:
        self.size, self.span = size, span

    def Create_contiguous(self, count: int) -> Kind:
        """So many of these, one behind the other."""
        return Kind(self.size * count, self.span * count)

    def Create_hvector(self, count: int, _: int, step: int) -> Kind:
        """So many of these, each so far behind the one before."""
        return Kind(self.size * count, abs(step) * (count - 1) + self.span)

    def Create_hindexed_block(self, _: int, starts: Sequence[int]) -> Kind:
        """One of these at each start."""
        return Kind(self.size * len(starts), max(starts) - min(starts) + self.span)

    def Commit(self) -> Kind:
        """The same, ready."""
        return self

    def Free(self) -> None:
        """Nothing is kept."""

    def Get_extent(self) -> tuple[int, int]:
        """Where it starts, and its span."""
        return 0, self.span


class Members:
    """Processes that may communicate: of these only their number counts."""

    def __init__(self, counts: Counts, count: int, place: int) -> None:
        self._counts, self._count, self._place = counts, count, place

    def Get_size(self) -> int:
        """How many there are."""
        return self._count

    def Get_rank(self) -> int:
        """Which of them this is."""
        return self._place

    def Get_group(self) -> Members:
        """All of them."""
        return self

    def Incl(self, members: Sequence[int]) -> Members:
        """Some of them."""
        return Members(self._counts, len(members), self._place)

    def Create_group(self, group: Members) -> Members:
        """Those, connected."""
        return group

    def Isend(self, message: Sequence[Any], target: int, _: int) -> None:
        """Counts a message: one element of its type, or as many bytes as it spans."""
        memory, kind = message
        span = memory if isinstance(memory, int) else memory.nbytes
        self._counts.message(target, span // kind.span * kind.size)

    def Irecv(self, message: Sequence[Any], source: int, _: int) -> None:
        """Nothing comes."""

    def Allreduce(self, _: object, array: np.ndarray[Any, Any], operation: object) -> None:
        """Counts what it would take; the array stays as it is."""
        self._counts.all_reduce(self._count, array.nbytes)


class Network:
    """Stands for mpi4py's module to one of so many processes; nothing is sent, and nothing comes."""

    IN_PLACE = SUM = PROD = MAX = MIN = BAND = BOR = None

    def __init__(self, clients: Clients) -> None:
        self.counts = Counts()
        self.COMM_WORLD = Members(self.counts, clients.count, clients.place)
        self.BYTE = Kind(1, 1)
        self.buffer = self.Request = self

    def fromaddress(self, _: int, length: int) -> int:
        """Of memory only its length counts."""
        return length

    def Waitall(self, requests: Sequence[None]) -> None:
        """There is nothing to wait for."""


def one_of_many(clients: Clients) -> tuple[MpiCommunicator, Counts]:
    """
    The communicator that this process would have, and what it tells its network.

    >>> import numpy as np
    >>> from shardwright.runtime.processes.crossing import Group, Reduction
    >>> communicator, counts = one_of_many(Clients(1024, 3))
    >>> _ = communicator.all_reduce(Reduction(Group.of_all(communicator.clients), "sum"), np.zeros(1024, np.float32))
    >>> counts.messages, counts.bytes
    (20, 8184)
    """
    network = Network(clients)
    return MpiCommunicator(World(network, network.COMM_WORLD, clients)), network.counts
