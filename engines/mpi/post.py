"""What processes send each other between programs: whoever sends goes on, and whoever wants it waits."""

from __future__ import annotations

import hashlib
from collections import deque
from typing import Any

import numpy as np

from shardwright.diagnostics.caller import caller
from shardwright.diagnostics.faults import value_error
from shardwright.engines.jobs.timeline import span
from shardwright.engines.mpi.watch import watch
from shardwright.engines.mpi.world import World
from shardwright.runtime.processes.communicator import Array
from shardwright.runtime.processes.crossing import Exchange, Piece

IN_FLIGHT_BYTES = 256 << 20
"""How much a process sends ahead of those who take it before it waits for them."""

_TAG = 1

_MARK = 16
"""Bytes before the elements that say what they are for."""


class Post:
    """Messages from process to process, in order, beside the collectives of programs."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._sent: deque[tuple[Any, Array]] = deque()
        self._sent_bytes = 0

    def carry(self, plan: Exchange, array: Array, out: Array, what: str) -> None:
        """Sends pieces of one array, and waits for those of the other; peers are numbers in the job."""
        told = f"{what} at {caller()}"
        mark = np.frombuffer(hashlib.sha256(what.encode()).digest()[:_MARK], np.uint8)
        with watch(told, self._world.clients):
            for piece in plan.sends:
                with span(f"to process {piece.peer}", "send"):
                    self._send(np.concatenate([mark, _bytes(array[piece.selector])]), piece.peer)
            for piece in plan.receives:
                with span(f"from process {piece.peer}", "wait"):
                    self._receive(piece, piece.peer, out, mark, what)

    def _send(self, message: Array, target: int) -> None:
        self._sent.append((self._world.comm.Isend([message, self._world.mpi.BYTE], target, _TAG), message))
        self._sent_bytes += message.nbytes
        while self._sent and (self._sent[0][0].Test() or self._sent_bytes > IN_FLIGHT_BYTES):
            request, first = self._sent.popleft()
            request.Wait()
            self._sent_bytes -= first.nbytes

    def _receive(self, piece: Piece, source: int, out: Array, mark: Array, what: str) -> None:
        status = self._world.mpi.Status()
        waiting = self._world.comm.Mprobe(source, _TAG, status)
        message = np.empty(status.Get_count(self._world.mpi.BYTE), np.uint8)
        waiting.Recv([message, self._world.mpi.BYTE])
        part = np.empty(piece.shape, out.dtype)
        if len(message) != _MARK + part.nbytes or message[:_MARK].tobytes() != mark.tobytes():
            raise value_error(
                "SW0902",
                f"the processes disagree on what goes from one mesh to another: process {source} sent something else "
                f"than {what}",
                help="let all processes do the same in the same order: nothing that is distributed may depend on the "
                "process",
            )
        out[piece.selector] = message[_MARK:].view(out.dtype).reshape(piece.shape)

    def end(self) -> None:
        """Waits until all is taken that was sent."""
        with watch("what it has sent", self._world.clients):
            while self._sent:
                self._sent.popleft()[0].Wait()


def _bytes(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
