"""What MPI does for a program of many processes: elements swapped from array to array, and sums."""

from __future__ import annotations

import atexit
import hashlib
import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from shardwright.diagnostics.caller import caller
from shardwright.engines.mpi.post import Post
from shardwright.engines.mpi.watch import watch
from shardwright.engines.mpi.world import World
from shardwright.runtime.processes.communicator import Array, Communicator, Part
from shardwright.runtime.processes.crossing import Exchange, Group, Piece, Reduction

_OPERATIONS = {"sum": "SUM", "prod": "PROD", "max": "MAX", "min": "MIN", "and": "BAND", "or": "BOR"}

_INTEGERS = frozenset("bhilqBHILQ")
_FLOATS = frozenset("fdFD")


class MpiCommunicator(Communicator):
    """Communicators are made for each group of processes once, and kept; so are the types that describe pieces."""

    def __init__(self, world: World) -> None:
        super().__init__(world.clients)
        self._world = world
        self._comms: dict[tuple[int, ...], Any] = {}
        self._types: WeakKeyDictionary[Piece, dict[Any, Any]] = WeakKeyDictionary()

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

    def swap(self, group: Group, sends: Sequence[Part], receives: Sequence[Part]) -> None:
        count = len(group.members)
        outgoing = self._message(count, sends)
        incoming = self._message(count, receives)
        self._comm(group).Alltoallw(outgoing, incoming)

    def all_reduce(self, plan: Reduction, array: Array, out: Array | None = None) -> Array:
        if not _is_native(plan.kind, array.dtype):
            return super().all_reduce(plan, array, out)
        whole = out is not None and out.flags.c_contiguous
        result = out if whole and out is not None else np.empty(array.shape, array.dtype)
        np.copyto(result, array)
        self.sent_bytes += _all_reduce_elements(result.size, plan.group) * result.itemsize
        operation = getattr(self._world.mpi, _OPERATIONS[plan.kind])
        self._comm(plan.group).Allreduce(self._world.mpi.IN_PLACE, result, operation)
        if out is not None and not whole:
            np.copyto(out, result)
        return result

    def _comm(self, group: Group) -> Any:
        """The communicator of a group: the members alone make it, when they first need it."""
        if group.members not in self._comms:
            whole = self._world.comm
            everyone = whole.Get_group()
            self._comms[group.members] = whole.Create_group(everyone.Incl(list(group.members)))
        return self._comms[group.members]

    def _message(self, count: int, parts: Sequence[Part]) -> list[Any]:
        """A buffer and, for each member, how many elements of which type lie where in it."""
        mpi = self._world.mpi
        counts, places, types = [0] * count, [0] * count, [mpi.BYTE] * count
        for piece, array in parts:
            counts[piece.peer], places[piece.peer], types[piece.peer] = self._described(piece, array)
        if not parts:
            return [mpi.BOTTOM, counts, places, types]
        array = parts[0][1]
        return [mpi.buffer.fromaddress(array.ctypes.data, array.nbytes), counts, places, types]

    def _described(self, piece: Piece, array: Array) -> tuple[int, int, Any]:
        """How many elements of which type a piece is, and where in the array's memory it starts, in bytes."""
        block, outer = array.itemsize, list(zip(piece.index, array.strides, strict=True))
        start = sum(index.start * step for index, step in outer if isinstance(index, slice))
        while outer and isinstance(outer[-1][0], slice) and (outer[-1][1] == block or piece.shape[len(outer) - 1] == 1):
            block *= piece.shape[len(outer) - 1]
            outer.pop()
        if all(
            length == 1 and isinstance(index, slice) for (index, _), length in zip(outer, piece.shape, strict=False)
        ):
            return block, start, self._world.mpi.BYTE
        known = self._types.setdefault(piece, {})
        key = array.strides, array.itemsize
        if key not in known:
            known[key] = self._type(block, outer)
        return 1, start, known[key]

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


def _all_reduce_elements(size: int, group: Group) -> int:
    """
    What a member gives away of so many elements at the bound: to those who combine a part, and its own part to all.

    >>> [_all_reduce_elements(5, Group((0, 1, 2), place)) for place in range(3)]
    [6, 7, 7]
    """
    count = len(group.members)
    own = size * (group.place + 1) // count - size * group.place // count
    return size - own + (count - 1) * own


def _is_native(kind: str, dtype: np.dtype[Any]) -> bool:
    """Whether MPI combines such elements as NumPy does: it knows no bfloat16, is slow with float16, and drops NaNs."""
    if dtype.char in _FLOATS:
        return kind in ("sum", "prod")
    return dtype.char in _INTEGERS
