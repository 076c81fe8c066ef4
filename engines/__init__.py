"""
How a compiled program meets devices.

`one_mesh.executable` chooses: the devices of a mesh are in this process, in this one and others (`processes`, `mpi`),
or in the hands of whoever owns the mesh (`elsewhere`: `workers`, `cupy`).
"""

from shardwright.engines.owned.owners import add_engine
from shardwright.engines.owned.parts import Owner, Parts, Program

__all__ = ["Owner", "Parts", "Program", "add_engine"]
