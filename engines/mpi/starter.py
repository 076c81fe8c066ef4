"""
A job in a process of its own: `python -m shardwright.engines.mpi.starter COUNT COMMAND...` starts so many processes.

They find each other without a port (see `wireup`) where MPI is of MPICH's kin, else by `mpiexec`.
"""

from __future__ import annotations

import os
import sys

from shardwright.diagnostics import ShardwrightError
from shardwright.engines.mpi.job import Job
from shardwright.engines.mpi.launching import SHARED_MEMORY, Start, mpiexec, wires_up


def main(count: str, *command: str) -> int:
    """Runs the job; returns what to exit with, and says on standard error what went wrong."""
    import mpi4py

    mpi4py.rc.initialize = False
    from mpi4py import MPI

    library = MPI.Get_library_version()
    if not wires_up(library):
        more = ["--oversubscribe"] if "Open MPI" in library else []
        os.execv(mpiexec(), [mpiexec(), *more, "-n", count, *command])
    try:
        outcome = Job(Start(command, SHARED_MEMORY, int(count))).run()
    except ShardwrightError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(outcome.texts), file=sys.stderr)
    return outcome.code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
