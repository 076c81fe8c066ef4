"""Which processes run a program: this one alone, or those of its mesh."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from shardwright.engines.jobs.job import Alone, Job
from shardwright.layout import Mesh
from shardwright.runtime.processes.communicator import Communicator

if TYPE_CHECKING:
    from shardwright.engines.mpi.world import World


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

    return _communicator(joined(mesh))


def communicator_of_all(mesh: Mesh) -> Communicator:
    """
    What connects all processes of the job, of which those of the mesh are a part.

    Raises `ValueError` as `communicator_of` does.
    """
    from shardwright.engines.mpi.world import job_of_mesh

    return _communicator(job_of_mesh(mesh))


def job_of(meshes: Iterable[Mesh]) -> Job:
    """
    The processes of the job over which, or over a part of which, meshes are spread; this one alone if none is.

    Raises `ValueError` as `communicator_of` does, for each mesh.

    >>> job_of([Mesh(x=2)]).clients
    Clients(count=1, place=0)
    """
    found: Job = Alone()
    for mesh in dict.fromkeys(meshes):
        if mesh.clients.everyone.count > 1:
            from shardwright.engines.mpi.world import agree_on_mesh, job_of_mesh

            found = world = job_of_mesh(mesh)
            agree_on_mesh(world, mesh)
    return found


@cache
def _communicator(world: World) -> Communicator:
    from shardwright.engines.mpi.communicator import MpiCommunicator

    return MpiCommunicator(world)
