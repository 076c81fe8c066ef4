"""
How a compiled program meets devices.

`one_mesh.executable` chooses: the devices of a mesh are in this process, in this one and others (`processes`, `mpi`),
or in the hands of whoever owns the mesh (`elsewhere`: `workers`, `cupy`).
"""

__all__: list[str] = []
