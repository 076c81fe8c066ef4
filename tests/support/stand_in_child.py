"""`gpu_child` under MPI, on the stand-ins: every process sees the same devices of one machine."""

from __future__ import annotations

import sys

import cupy_stand_in
import nccl_over_mpi
from cupy_stand_in import cupy

SEEN = (4, 7, 5, 6)


def main() -> None:
    """The programs that the arguments name."""
    sys.modules.update({"cupy": cupy, "cupy.cuda": cupy.cuda, "cupy.cuda.nccl": nccl_over_mpi})
    cupy_stand_in.PLACE.seen = SEEN
    import gpu_child

    gpu_child.main(sys.argv[1:])


if __name__ == "__main__":
    main()
