"""Which rows of a global batch a process reads, and on which part of the mesh they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from shardwright.diagnostics.faults import value_error
from shardwright.layout import Layout, Mesh


@dataclass(frozen=True)
class Part:
    """
    The share of one process: the coordinates `[start, stop)` of the batch axis, and the mesh of its devices.

    Batches lie on the mesh of all processes, of which each makes its part, where that is given as `whole`.

    >>> part = part_of(Mesh(batch=4, model=2), "batch", num_processes=2, process_id=1)
    >>> part.mesh, part.rows(64)
    (Mesh(batch=2, model=2), (32, 64))
    """

    mesh: Mesh
    start: int
    stop: int
    count: int
    whole: Mesh | None = None

    def rows(self, total: int) -> tuple[int, int]:
        """The rows of a global batch of `total` rows that the process reads."""
        return total * self.start // self.count, total * self.stop // self.count

    def layout(self, layout: Layout) -> Layout:
        """A layout of the whole mesh on the mesh of the process."""
        return layout if layout.mesh is self.mesh else layout.on(self.mesh)

    @property
    def own(self) -> Part:
        """The part where a process gives only the rows of its own devices: all that it gives."""
        return Part(self.mesh, 0, 1, 1, self.whole)


def part_of(
    mesh: Mesh, batch_dimension: str | None, num_processes: int | None = None, process_id: int | None = None
) -> Part:
    """
    The share of one of `num_processes` processes; both numbers are the mesh's own unless they are given.

    Processes hold the mesh's devices in row-major order, equally many each. Raises `ValueError` (SW0552) when the
    devices of a process are no run of coordinates of the batch axis with all that lies there. Of a mesh's own processes
    each then reads all rows.
    """
    joined = num_processes is None and process_id is None and mesh.num_clients > 1
    if joined and (mesh.axis_names[0] != batch_dimension or mesh.shape[0] % mesh.num_clients):
        return Part(mesh, 0, 1, 1)
    processes = mesh.num_clients if num_processes is None else num_processes
    process = mesh.local_device_ids[0] * processes // mesh.size if process_id is None else process_id
    count = 1 if batch_dimension is None else mesh.dim_size(batch_dimension)
    if not 0 <= process < processes or mesh.size % processes:
        raise _processes_error(f"process {process} of {processes} holds no equal part of {mesh!r}")
    if processes == 1:
        return Part(mesh, 0, count, count)
    if batch_dimension is None or mesh.axis_names[0] != batch_dimension or count % processes:
        raise _processes_error(f"{processes} processes do not share out the axis {batch_dimension!r} of {mesh!r}")
    start, stop = count * process // processes, count * (process + 1) // processes
    return Part(mesh.submesh({batch_dimension: slice(start, stop)}), start, stop, count, mesh if joined else None)


def shares(sizes: Sequence[int], start: int, stop: int) -> list[tuple[int, int]]:
    """
    The rows `[first, last)` of each element that lie in `[start, stop)` of their concatenation.

    >>> shares([4, 4, 4], 6, 12)
    [(0, 0), (2, 4), (0, 4)]
    """
    starts = accumulate(sizes, initial=0)
    bounds = [(max(start - at, 0), min(stop - at, size)) for size, at in zip(sizes, starts, strict=False)]
    return [(first, last) if first < last else (0, 0) for first, last in bounds]


def _processes_error(message: str) -> Exception:
    return value_error(
        "SW0552",
        message,
        help="let the batch axis be the mesh's first, with a multiple of the number of processes as its size",
    )
