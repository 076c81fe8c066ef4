"""
Where a worker process comes in: a script, so that it says who it is before it loads the rest.

Loading Shardwright takes longer than starting MPI does, and the controller has its own things to do meanwhile.
"""

import mmap
import os
import socket
import struct
import sys
from functools import partial

TOKEN_VARIABLE = "SHARDWRIGHT_WORKERS_TOKEN"

TOKEN_LENGTH = 64

GREETING = struct.Struct(f"!4s{TOKEN_LENGTH}sIII")
"""The first that a worker sends: a mark, the token, how many workers there are, which one it is, its process."""

MARK = b"SWW1"


def main() -> None:
    """
    Goes to the controller at the address that is the first argument, and serves it to the end.

    The second argument is the file in which it says what it runs; both are gone when all workers are there.
    """
    from mpi4py import MPI

    token = os.environ.pop(TOKEN_VARIABLE)
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != here]  # a script's own folder comes first, but is a room
    with open(sys.argv[2], "r+b") as file:
        progress = mmap.mmap(file.fileno(), 0)
    comm = MPI.COMM_WORLD
    controller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    controller.connect(sys.argv[1])
    controller.sendall(GREETING.pack(MARK, token.encode(), comm.Get_size(), comm.Get_rank(), os.getpid()))

    from shardwright.engines.workers.serving import serve
    from shardwright.engines.workers.starting.progress import note_progress

    threads = max(1, len(os.sched_getaffinity(0)) // comm.Get_size())
    serve(controller, partial(note_progress, progress, comm.Get_rank()), threads)


if __name__ == "__main__":
    main()
