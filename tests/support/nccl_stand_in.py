"""
A stand-in for `cupy.cuda.nccl` between threads, stricter than NCCL: what would hang there, or send wrong bytes, raises.

Messages go outside of no group, and meet their like: another number of elements or type, an address that is no memory
of the sender's device, two ranks on one device, and what nobody waits for are errors. As with NCCL maxima drop NaNs,
16-bit floats are rounded after each sum, and there is neither complex, bool, nor a bit-wise reduction.
"""

from __future__ import annotations

import itertools
import queue
import threading
from functools import reduce
from typing import Any

import ml_dtypes
import numpy as np
from cupy_stand_in import cupy, current_device, memory_at
from processes import Mail

SECONDS = 30
"""How long a rank waits for another."""

TYPES: dict[int, Any] = {
    0: np.int8,
    1: np.uint8,
    2: np.int32,
    3: np.uint32,
    4: np.int64,
    5: np.uint64,
    6: np.float16,
    7: np.float32,
    8: np.float64,
    9: ml_dtypes.bfloat16,
}
OPERATIONS: dict[int, Any] = {0: np.add, 1: np.multiply, 2: np.fmax, 3: np.fmin}

available = True
NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN = range(4)
NCCL_INT8, NCCL_UINT8, NCCL_INT32, NCCL_UINT32, NCCL_INT64, NCCL_UINT64 = range(6)
NCCL_FLOAT16, NCCL_FLOAT32, NCCL_FLOAT64, NCCL_BFLOAT16 = range(6, 10)


class NcclError(RuntimeError):
    """What NCCL says of a call that it refuses."""


class _Fabric:
    """What connects the ranks of one communicator."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.lock = threading.Lock()
        self.devices: dict[int, int] = {}
        self.barrier = threading.Barrier(size)
        self.mail = Mail()
        self.said: dict[int, Any] = {}


_fabrics: dict[bytes, _Fabric] = {}
_lock = threading.Lock()
_numbers = itertools.count(1)
_group = threading.local()
made: list[NcclCommunicator] = []
"""All communicators that were ever made."""


def get_unique_id() -> bytes:
    """A name for a communicator that nobody else has."""
    return b"%0128d" % next(_numbers)


def groupStart() -> None:
    """What follows, up to `groupEnd`, happens at once."""
    if getattr(_group, "calls", None) is not None:
        raise NcclError("NCCL_ERROR_INVALID_USAGE: a group inside of a group")
    _group.calls = []


def groupEnd() -> None:
    """Sends and receives what the group is of."""
    calls = getattr(_group, "calls", None)
    if calls is None:
        raise NcclError("NCCL_ERROR_INVALID_USAGE: no group was started")
    _group.calls = None
    for kind, comm, *rest in calls:
        if kind == "send":
            comm.post(*rest)
    for kind, comm, *rest in calls:
        if kind == "recv":
            comm.fetch(*rest)


def forget() -> None:
    """As if no communicator had ever been made."""
    _fabrics.clear()


def quiet() -> bool:
    """Whether all that was sent was received."""
    return all(box.empty() for fabric in _fabrics.values() for box in fabric.mail.values())


class NcclCommunicator:
    """One rank of a communicator; all ranks make it together."""

    def __init__(self, ndev: int, commId: bytes, rank: int) -> None:
        if len(commId) != 128:
            raise ValueError(f"commId length {len(commId)} != 128.")
        with _lock:
            self._fabric = _fabrics.setdefault(commId, _Fabric(ndev))
            made.append(self)
        fabric, self.rank, self.device, self.destroyed = self._fabric, rank, current_device(), False
        with fabric.lock:
            if ndev != fabric.size or rank in fabric.devices or not 0 <= rank < ndev:
                raise NcclError("NCCL_ERROR_INVALID_ARGUMENT: ranks disagree")
            fabric.devices[rank] = self.device
        self._meet()
        if len(set(fabric.devices.values())) < ndev:
            raise NcclError("NCCL_ERROR_INVALID_USAGE: Duplicate GPU detected")

    def send(self, sendbuf: int, count: int, datatype: int, peer: int, stream: int) -> None:
        self._in_group(("send", self, memory(sendbuf, count, datatype, self.device), datatype, peer), stream)

    def recv(self, recvbuf: int, count: int, datatype: int, peer: int, stream: int) -> None:
        self._in_group(("recv", self, memory(recvbuf, count, datatype, self.device), datatype, peer), stream)

    def post(self, data: Any, datatype: int, peer: int) -> None:
        self._fabric.mail[self.rank, peer].put((datatype, data.copy()))

    def fetch(self, target: Any, datatype: int, peer: int) -> None:
        try:
            sent, data = self._fabric.mail[peer, self.rank].get(timeout=SECONDS)
        except queue.Empty:
            raise NcclError(f"rank {self.rank} waits for {peer}, which sends nothing") from None
        if sent != datatype or data.shape != target.shape:
            raise NcclError(f"{data.size} of type {sent} were sent where {target.size} of type {datatype} are due")
        target[...] = data

    def allReduce(self, sendbuf: int, recvbuf: int, count: int, datatype: int, op: int, stream: int) -> None:
        parts = self._all(("all_reduce", count, datatype, op), memory(sendbuf, count, datatype, self.device), stream)
        memory(recvbuf, count, datatype, self.device)[...] = reduce(OPERATIONS[op], parts)

    def reduceScatter(self, sendbuf: int, recvbuf: int, recvcount: int, datatype: int, op: int, stream: int) -> None:
        size = recvcount * self._fabric.size
        parts = self._all(
            ("reduce_scatter", recvcount, datatype, op), memory(sendbuf, size, datatype, self.device), stream
        )
        own = [part[self.rank * recvcount : (self.rank + 1) * recvcount] for part in parts]
        memory(recvbuf, recvcount, datatype, self.device)[...] = reduce(OPERATIONS[op], own)

    def check_async_error(self) -> None:
        self._alive()

    def destroy(self) -> None:
        self.destroyed = True

    def _all(self, call: tuple[Any, ...], mine: Any, stream: int) -> list[Any]:
        """What all ranks bring to one collective, which has to be the same one."""
        if getattr(_group, "calls", None) is not None:
            raise NcclError("NCCL_ERROR_INVALID_USAGE: a collective inside of a group of messages")
        self._alive()
        assert stream == cupy.cuda.get_current_stream().ptr
        self._fabric.said[self.rank] = call, mine.copy()
        self._meet()
        said = [self._fabric.said[rank] for rank in range(self._fabric.size)]
        self._meet()
        if any(other != call for other, _ in said):
            raise NcclError(f"NCCL_ERROR_INVALID_USAGE: ranks call {[other for other, _ in said]}")
        return [part for _, part in said]

    def _meet(self) -> None:
        try:
            self._fabric.barrier.wait(SECONDS)
        except threading.BrokenBarrierError:
            raise NcclError(f"rank {self.rank} of {self._fabric.size} waits for others that do not come") from None

    def _in_group(self, call: tuple[Any, ...], stream: int) -> None:
        self._alive()
        assert stream == cupy.cuda.get_current_stream().ptr
        if getattr(_group, "calls", None) is None:
            raise NcclError("NCCL_ERROR_INVALID_USAGE: a message outside of a group waits for its peer")
        if call[-1] == self.rank or not 0 <= call[-1] < self._fabric.size:
            raise NcclError(f"NCCL_ERROR_INVALID_ARGUMENT: peer {call[-1]}")
        _group.calls.append(call)

    def _alive(self) -> None:
        if self.destroyed:
            raise NcclError("NCCL_ERROR_INVALID_ARGUMENT: the communicator is destroyed")
        if self.device != current_device():
            raise NcclError(f"a communicator of device {self.device} is used on device {current_device()}")


def memory(address: int, count: int, datatype: int, device: int) -> Any:
    """So many elements of a type at an address of the device."""
    if count < 1:
        raise NcclError("NCCL_ERROR_INVALID_ARGUMENT: nothing to send")
    kind = np.dtype(TYPES[datatype])
    try:
        return memory_at(address, count * kind.itemsize, device).view(kind)
    except ValueError as error:
        raise NcclError(f"NCCL_ERROR_INVALID_ARGUMENT: {error}") from None
