"""What NCCL does for a program of many processes, each with one GPU: elements sent in groups, and sums."""

from __future__ import annotations

import socket
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from shardwright.diagnostics import Diagnostic, ShardwrightProcessError
from shardwright.diagnostics.caller import caller
from shardwright.engines.cupy import namespace
from shardwright.runtime.processes.communicator import (
    Array,
    Communicator,
    all_reduce_elements,
    nothing,
    settled,
    travelling,
)
from shardwright.runtime.processes.crossing import Group, Piece, Reduction

LIMIT = 16
"""Communicators that are kept at once: each takes memory of its device."""

ID_BYTES = 128

_BOOLEANS = {"and": "MIN", "or": "MAX", "min": "MIN", "max": "MAX"}
_INTEGERS = {"sum": "SUM", "prod": "PROD", "max": "MAX", "min": "MIN"}
_FLOATS = {"sum": "SUM", "prod": "PROD"}
_COMPLEX = {"sum": "SUM"}


class NcclCommunicator(Communicator):
    """
    Moves arrays from device to device; `host` connects the same processes otherwise, and starts NCCL's communicators.

    One is made for each group of processes, by its members, when they first need it. All processes run the same
    program, so all keep the same groups, and forget the one that was not used for longest.
    """

    def __init__(self, host: Communicator, nccl: Any) -> None:
        super().__init__(host.clients, namespace)
        self._host, self._nccl = host, nccl
        self._comms: OrderedDict[Any, Any] = OrderedDict()
        self._selectors: WeakKeyDictionary[Piece, tuple[Any, ...]] = WeakKeyDictionary()

    @contextmanager
    def running(self, program: str) -> Generator[None]:
        """What the host's communicator says; the wait for the device is inside, so that it has an end."""
        with self._host.running(program):
            yield
            with self._named("the program that ran"):
                namespace.library().cuda.get_current_stream().synchronize()
                for comm in self._comms.values():
                    comm.check_async_error()

    def swap(
        self,
        group: Group,
        sends: Sequence[Piece],
        source: Array,
        receives: Sequence[Piece],
        target: Array,
        meanwhile: Callable[[], None] = nothing,
    ) -> None:
        with self._named("an exchange"):
            comm, stream = self._comm(group), self._stream()
            outgoing = [(piece.peer, self._packed(piece, source)) for piece in sends]
            incoming = [(piece, self._landing(piece, target)) for piece in receives]
            kind = self._nccl.NCCL_UINT8  # bytes: what moves is not looked at
            self._nccl.groupStart()
            for peer, part in outgoing:
                comm.send(part.data.ptr, part.nbytes, kind, peer, stream)
            for piece, part in incoming:
                comm.recv(part.data.ptr, part.nbytes, kind, piece.peer, stream)
            self._nccl.groupEnd()
            meanwhile()
            for piece, part in incoming:
                if not _is_in_place(piece, target):
                    target[self._selector(piece)] = part

    def all_reduce(self, plan: Reduction, array: Array, out: Array | None = None) -> Array:
        kind = native(plan.kind, array.dtype)
        if kind is None or not array.size:
            return super().all_reduce(plan, array, out)
        source = self._xp.ascontiguousarray(travelling(array, plan.order))
        result = self._xp.empty(source.shape, source.dtype)
        with self._named("a reduction"):
            self._comm(plan.group).allReduce(
                source.data.ptr, result.data.ptr, source.size * kind[2], *self._numbers(kind), self._stream()
            )
        self.sent_bytes += all_reduce_elements(result.size, plan.group) * result.itemsize
        return settled(result, plan.order)

    def reduce_scatter(self, plan: Reduction, array: Array, out: Array | None = None) -> Array:
        kind = native(plan.kind, array.dtype)
        if kind is None or not array.size:
            return super().reduce_scatter(plan, array, out)
        order = (0, *(dim + 1 for dim in plan.order)) if plan.order else ()
        source = self._xp.ascontiguousarray(travelling(array, order))
        result = self._xp.empty(source.shape[1:], source.dtype)
        with self._named("a reduction"):
            self._comm(plan.group).reduceScatter(
                source.data.ptr, result.data.ptr, result.size * kind[2], *self._numbers(kind), self._stream()
            )
        self.sent_bytes += (plan.group.count - 1) * result.nbytes
        return settled(result, plan.order)

    def _selector(self, piece: Piece) -> tuple[Any, ...]:
        """Indices that are arrays are brought to the device once."""
        if piece not in self._selectors:
            found = tuple(self._xp.asarray(i) if isinstance(i, np.ndarray) else i for i in piece.selector)
            self._selectors[piece] = found
        return self._selectors[piece]

    def _packed(self, piece: Piece, array: Array) -> Any:
        """A piece in one piece of memory."""
        return self._xp.ascontiguousarray(array[self._selector(piece)])

    def _landing(self, piece: Piece, array: Array) -> Any:
        """Where a piece comes in: where it belongs, if that is one piece of memory."""
        if _is_in_place(piece, array):
            return array[piece.selector]
        return self._xp.empty(piece.shape, array.dtype)

    def _comm(self, group: Group) -> Any:
        """The communicator of a group."""
        key = group.first, group.sizes, group.steps
        if key in self._comms:
            self._comms.move_to_end(key)
            return self._comms[key]
        while len(self._comms) >= LIMIT:
            namespace.library().cuda.get_current_stream().synchronize()
            self._comms.popitem(last=False)[1].destroy()
        self._comms[key] = self._nccl.NcclCommunicator(group.count, self._id(group), group.place)
        return self._comms[key]

    def _id(self, group: Group) -> bytes:
        """A name for the group's communicator: its first member's, which the host brings to all."""
        name, whole = np.zeros(ID_BYTES, np.uint8), (slice(0, ID_BYTES),)
        if group.place:
            self._host.swap(group, [], name, [Piece(0, whole)], name)
        else:
            name[:] = np.frombuffer(self._nccl.get_unique_id(), np.uint8)
            self._host.swap(group, [Piece(peer, whole) for peer in range(1, group.count)], name, [], name)
        return name.tobytes()

    def _numbers(self, kind: tuple[str, str, int]) -> tuple[int, int]:
        return getattr(self._nccl, f"NCCL_{kind[0]}"), getattr(self._nccl, f"NCCL_{kind[1]}")

    def _stream(self) -> int:
        return namespace.library().cuda.get_current_stream().ptr

    @contextmanager
    def _named(self, what: str) -> Generator[None]:
        """What NCCL refuses, with the process and its host."""
        try:
            yield
        except self._nccl.NcclError as error:
            place, host = self.clients.place, socket.gethostname()
            raise ShardwrightProcessError(
                Diagnostic(
                    "SW0932",
                    f"NCCL failed in {what} on process {place} ({host}): {error}",
                    caller(),
                    help="NCCL_DEBUG=WARN prints why; another process may have failed first",
                )
            ) from error


def native(kind: str, dtype: np.dtype[Any]) -> tuple[str, str, int] | None:
    """
    NCCL's type and operation for a reduction, and how many of the type an element is; nothing where NCCL has none that
    gives what NumPy does.

    It has no 16-bit integers and no bit-wise operations. Its maxima of floats lose NaNs. It rounds 16-bit floats after
    each addition, where one process rounds the sum once.

    >>> native("sum", np.dtype("complex64")), native("or", np.dtype("bool")), native("max", np.dtype("float32"))
    (('FLOAT32', 'SUM', 2), ('UINT8', 'MAX', 1), None)
    """
    size = dtype.itemsize
    match dtype.kind:
        case "b":
            return ("UINT8", _BOOLEANS[kind], 1) if kind in _BOOLEANS else None
        case "i" | "u" if size != 2 and kind in _INTEGERS:
            return f"{'U' if dtype.kind == 'u' else ''}INT{8 * size}", _INTEGERS[kind], 1
        case "f" if size in (4, 8) and kind in _FLOATS:
            return f"FLOAT{8 * size}", _FLOATS[kind], 1
        case "c" if kind in _COMPLEX:
            return f"FLOAT{4 * size}", _COMPLEX[kind], 2
        case _:
            return None


def _is_in_place(piece: Piece, array: Array) -> bool:
    """Whether a piece lies side by side in an array."""
    slices = all(isinstance(index, slice) for index in piece.index)
    return slices and bool(array[piece.index].flags.c_contiguous)
