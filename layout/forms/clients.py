"""Which of several processes this one is: meshes that are distributed over clients ask here."""

from __future__ import annotations

import os
from dataclasses import dataclass

from shardwright.diagnostics import ShardwrightValueError
from shardwright.layout.faults import fault, whole

COUNT_VARIABLES = ("SHARDWRIGHT_NUM_CLIENTS", "DTENSOR_NUM_CLIENTS", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE")
"""
Environment variables that say how many processes run the program; the first one that is set counts.

The last ones are those of MPICH's and Open MPI's `mpiexec`, and of Slurm's `srun`.
"""

PLACE_VARIABLES = ("SHARDWRIGHT_CLIENT_ID", "DTENSOR_CLIENT_ID", "PMI_RANK", "OMPI_COMM_WORLD_RANK")
"""Environment variables that say which of them this one is, from 0 on."""


@dataclass(frozen=True)
class Clients:
    """
    How many processes there are, and which one this is.

    They are all that run the program, or a part of such a `job`: those from number `first` on. A process that is none
    of them has a place before the first or behind the last.
    """

    count: int = 1
    place: int = 0
    first: int = 0
    job: int = 0

    def __repr__(self) -> str:
        part = f", first={self.first}, job={self.job}" if self.job else ""
        return f"Clients(count={self.count}, place={self.place}{part})"

    @property
    def is_here(self) -> bool:
        """Whether this process is one of them."""
        return 0 <= self.place < self.count

    @property
    def everyone(self) -> Clients:
        """
        All processes of the job.

        >>> Clients(4, 3).part(2, 4), Clients(4, 3).part(2, 4).everyone
        (Clients(count=2, place=1, first=2, job=4), Clients(count=4, place=3))
        """
        return Clients(self.job, self.first + self.place) if self.job else self

    def part(self, start: int, stop: int) -> Clients:
        """Those from one place up to another."""
        job = self.job or self.count
        if stop - start == job:
            return self
        return Clients(stop - start, self.place - start, self.first + start, job)

    def place_of(self, number: int) -> int | None:
        """Where a process of the job, by its number, stands among them; what is of no job is on every process."""
        if self.everyone.count == 1:
            return 0
        place = number - self.first
        return place if 0 <= place < self.count else None

    @staticmethod
    def found(count: int | None = None, place: int | None = None) -> Clients:
        """
        What is given, else what the environment says, else the only process.

        Raises `ValueError` (SW0116) for a process that is not one of them, `TypeError` (SW0109) for no whole number.

        >>> Clients.found(4, 3)
        Clients(count=4, place=3)
        """
        clients = Clients(
            _from_environment(COUNT_VARIABLES, 1) if count is None else whole(count, "num_clients"),
            _from_environment(PLACE_VARIABLES, 0) if place is None else whole(place, "client_id"),
        )
        if not 0 <= clients.place < clients.count:
            raise _clients_error(f"client {clients.place} is none of {clients.count} clients")
        return clients


ALONE = Clients()
"""The one process that there is unless somebody says otherwise."""


def _from_environment(names: tuple[str, ...], otherwise: int) -> int:
    for name in names:
        text = os.environ.get(name, "").strip()
        if text:
            if not text.isdecimal():
                raise _clients_error(f"{name}={text!r} is no whole number")
            return int(text)
    return otherwise


def _clients_error(message: str) -> ShardwrightValueError:
    variables = f"{COUNT_VARIABLES[0]} and {PLACE_VARIABLES[0]}"
    return fault("SW0116", message, f"set {variables}, or give num_clients= and client_id= (from 0 on)")
