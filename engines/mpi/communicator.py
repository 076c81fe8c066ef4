"""What MPI does for a program of many processes: elements swapped from array to array, and sums."""

from __future__ import annotations

import atexit
import hashlib
import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from shardwright.diagnostics.caller import caller
from shardwright.engines.mpi.post import Post
from shardwright.engines.mpi.watch import watch
from shardwright.engines.mpi.world import World
from shardwright.runtime.processes.communicator import (
    Array,
    Communicator,
    all_reduce_elements,
    nothing,
    settled,
    travelling,
)
from shardwright.runtime.processes.crossing import Exchange, Group, Piece, Reduction

_OPERATIONS = {"sum": "SUM", "prod": "PROD", "max": "MAX", "min": "MIN", "and": "BAND", "or": "BOR"}

_INTEGERS = frozenset("bhilqBHILQ")
_FLOATS = frozenset("fdFD")

_TAG = 83

_SHORTEST_RUN = 4096
"""
Bytes of a run from which MPI gets a type that describes where a piece lies; a piece of shorter runs is packed by NumPy.

256 KB between two processes (MPICH 5.0.2, AMD EPYC, least of 150, microseconds; 38 without any packing) in runs of
16 bytes: 509 by the type, 284 packed on both sides; of 64: 195, 115; of 256: 522, 92; of 1 KB: 179, 77; of 4 KB: 72,
77; of 128 KB: 49, 56; element by element, transposed: 2,679, 166.
"""


class MpiCommunicator(Communicator):
    """Communicators are made for each group of processes once, and kept; so are the types that describe pieces."""

    def __init__(self, world: World) -> None:
        super().__init__(world.clients)
        self._world = world
        self._comms: dict[Any, Any] = {}

    @contextmanager
    def running(self, program: str) -> Generator[None]:
        place = caller()
        told = f"{program} at {place}"
        self._world.agree("the program that runs next", hashlib.sha256(program.encode()).digest(), told, place)
        with watch(told, self.clients):
            yield

    def post(self, plan: Exchange, array: Array, what: str) -> Array:
        found = np.empty(plan.shape, array.dtype)
        if plan.kept is not None:
            here, there = plan.kept
            found[there.selector] = array[here.selector]
        self.sent_bytes += sum(math.prod(piece.shape) for piece in plan.sends) * array.itemsize
        self._post.carry(plan, array, found, what)
        return found

    @cached_property
    def _post(self) -> Post:
        post = Post(self._world)
        atexit.register(post.end)
        return post

    def swap(
        self,
        group: Group,
        sends: Sequence[Piece],
        source: Array,
        receives: Sequence[Piece],
        target: Array,
        meanwhile: Callable[[], None] = nothing,
    ) -> None:
        comm, waits, came, packed = self._world.comm, list[Any](), list[tuple[Piece, Array]](), list[Array]()
        start = target.ctypes.data if receives else 0
        for piece in receives:
            message = self._message(piece, target, start)
            if message is None:
                came.append((piece, np.empty(piece.shape, target.dtype)))
                message = self._whole(came[-1][1])
            waits.append(comm.Irecv(message, group.member(piece.peer), _TAG))
        start = source.ctypes.data if sends else 0
        for piece in sends:
            message = self._message(piece, source, start)
            if message is None:
                packed.append(np.ascontiguousarray(source[piece.selector]))
                message = self._whole(packed[-1])
            waits.append(comm.Isend(message, group.member(piece.peer), _TAG))
        meanwhile()
        self._world.mpi.Request.Waitall(waits)
        for piece, array in came:
            target[piece.selector] = array

    def all_reduce(self, plan: Reduction, array: Array, out: Array | None = None) -> Array:
        if not _is_native(plan.kind, array.dtype):
            return super().all_reduce(plan, array, out)
        given = travelling(array, plan.order)
        whole = None if out is None else travelling(out, plan.order)
        result = whole if whole is not None and whole.flags.c_contiguous else np.empty(given.shape, given.dtype)
        np.copyto(result, given)
        self.sent_bytes += all_reduce_elements(result.size, plan.group) * result.itemsize
        operation = getattr(self._world.mpi, _OPERATIONS[plan.kind])
        self._comm(plan.group).Allreduce(self._world.mpi.IN_PLACE, result, operation)
        if whole is not None and result is not whole:
            np.copyto(whole, result)
        return settled(result, plan.order) if out is None else out

    def _comm(self, group: Group) -> Any:
        """The communicator of a group: the members alone make it, when they first need it."""
        key = group.first, group.sizes, group.steps
        if key not in self._comms:
            whole = self._world.comm
            members = [group.member(place) for place in range(group.count)]
            self._comms[key] = whole.Create_group(whole.Get_group().Incl(members))
        return self._comms[key]

    def _whole(self, array: Array) -> list[Any]:
        """All of a contiguous array, whatever its elements are, as MPI takes it."""
        return [array.reshape(-1).view(np.uint8), self._world.mpi.BYTE]

    def _message(self, piece: Piece, array: Array, address: int) -> list[Any] | None:
        """A piece where it lies in an array at an address, as MPI takes it; nothing where it is to be packed."""
        key = array.strides, array.itemsize
        if key not in piece.layouts:
            piece.layouts[key] = self._layout(piece, array)
        found = piece.layouts[key]
        if found is None:
            return None
        start, length, kind = found
        return [self._world.mpi.buffer.fromaddress(address + start, length), kind]

    def _layout(self, piece: Piece, array: Array) -> tuple[int, int, Any] | None:
        """
        How far from the start of the array a piece starts, how many bytes it spans, and the type of which it is one.

        What lies in one run is told as bytes, and what lies in short runs is to be packed.
        """
        block, outer = array.itemsize, list(zip(piece.index, array.strides, strict=True))
        start = sum(index.start * step for index, step in outer if isinstance(index, slice))
        while outer and isinstance(outer[-1][0], slice) and (outer[-1][1] == block or piece.shape[len(outer) - 1] == 1):
            block *= piece.shape[len(outer) - 1]
            outer.pop()
        if block == piece.size * array.itemsize and all(isinstance(index, slice) for index, _ in outer):
            return start, block, self._world.mpi.BYTE
        if block < _SHORTEST_RUN:
            return None
        found = self._type(block, outer)
        return start, found.Get_extent()[1], found

    def _type(self, block: int, outer: Sequence[tuple[Any, int]]) -> Any:
        """Blocks of so many bytes, at all indices along the dims around them."""
        found = self._world.mpi.BYTE.Create_contiguous(block)
        for index, step in reversed(outer):
            inner = found
            if isinstance(index, slice):
                found = inner.Create_hvector(index.stop - index.start, 1, step)
            else:
                found = inner.Create_hindexed_block(1, [int(at) * step for at in index])
            inner.Free()
        return found.Commit()


def _is_native(kind: str, dtype: np.dtype[Any]) -> bool:
    """Whether MPI combines such elements as NumPy does: it knows no bfloat16, is slow with float16, and drops NaNs."""
    if dtype.char in _FLOATS:
        return kind in ("sum", "prod")
    return dtype.char in _INTEGERS
