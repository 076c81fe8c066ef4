"""
One controller and its workers: processes that MPI connects, and to which this one sends programs and arrays.

`controller.Workers` is what users see. The controller needs no MPI: it talks to each worker
through a socket of its own.
"""

__all__: list[str] = []
