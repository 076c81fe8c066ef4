"""Which processes run a program: this one alone, or those of its mesh."""

from __future__ import annotations

from functools import cache

from shardwright.layout import Mesh
from shardwright.runtime.processes.communicator import Communicator


def communicator_of(mesh: Mesh) -> Communicator | None:
    """
    What connects the processes of a mesh; nothing where there is one.

    Raises `ValueError` where this process is not one of the mesh's (SW0901), or the processes disagree (SW0902).

    >>> communicator_of(Mesh(x=2)) is None
    True
    """
    if mesh.num_clients == 1:
        return None
    from shardwright.engines.mpi.world import joined

    joined(mesh)
    return _communicator()


@cache
def _communicator() -> Communicator:
    from shardwright.engines.mpi.communicator import MpiCommunicator
    from shardwright.engines.mpi.world import world

    return MpiCommunicator(world())
