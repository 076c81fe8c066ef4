"""
What waits to be sent to the workers: one thread sends it, to each worker as fast as that one takes it.

Callers only put frames in line, which a Ctrl-C cannot tear apart: what is put there goes out whole, and to all workers.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Sequence

from shardwright.engines.workers.frames import Buffer

MOST_WAITING = 1 << 28
"""Bytes in line beyond which whoever wants to add more has to wait."""

MOST_BUFFERS = 10_000
"""Buffers in line for a worker beyond which whoever wants to add more has to wait."""

_AT_ONCE = 64
"""How many buffers go into one system call."""

_PAUSE = 0.001


class Outbox:
    """Frames in line, for each worker its own; all go to the same sockets in the same order."""

    def __init__(self, sockets: Sequence[socket.socket]) -> None:
        self._sockets = sockets
        self._new: deque[Sequence[Sequence[Buffer]]] = deque()
        self._lines: list[deque[memoryview]] = [deque() for _ in sockets]
        self._awake = False
        self._waiting = 0
        self._ended = False
        self._bell, self._ring = os.pipe()
        os.set_blocking(self._ring, False)
        self._thread = threading.Thread(target=self._send, name="shardwright outbox", daemon=True)
        self._thread.start()

    def put(self, buffers: Sequence[Sequence[Buffer]]) -> None:
        """Puts a frame for each worker in line; waits while too much is there."""
        while (self._waiting > MOST_WAITING or max(map(len, self._lines)) > MOST_BUFFERS) and not self._ended:
            time.sleep(_PAUSE)
        self._new.append(buffers)
        if not self._awake:
            self._wake()

    def end(self) -> None:
        """Sends nothing more."""
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        try:
            os.write(self._ring, b"!")
        except BlockingIOError:
            pass  # it has been rung often enough

    def _send(self) -> None:
        poll = select.poll()
        poll.register(self._bell, select.POLLIN)
        watched: set[int] = set()
        while not self._ended:
            self._awake = True
            self._take()
            full = {place for place, line in enumerate(self._lines) if line and not self._sent(place)}
            for place in full ^ watched:
                if place in full:
                    poll.register(self._sockets[place], select.POLLOUT)
                else:
                    poll.unregister(self._sockets[place])
            watched = full
            self._awake = False
            if not self._new:
                self._sleep(poll)

    def _sleep(self, poll: select.poll) -> None:
        """Until a frame is put in line, or a worker takes more."""
        for descriptor, _ in poll.poll():
            if descriptor == self._bell:
                os.read(self._bell, 1 << 16)

    def _take(self) -> None:
        """Adds what is new to the line of each worker."""
        while self._new:
            for line, buffers in zip(self._lines, self._new.popleft(), strict=True):
                views = [memoryview(buffer) for buffer in buffers]
                self._waiting += sum(view.nbytes for view in views)
                line.extend(views)

    def _sent(self, place: int) -> bool:
        """Whether a worker took all that was in line for it."""
        line = self._lines[place]
        while line:
            several = [line[at] for at in range(min(_AT_ONCE, len(line)))]
            try:
                count = self._sockets[place].sendmsg(several, (), socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            except OSError:  # the worker is gone, which who reads from it will tell
                line.clear()
                return True
            self._waiting -= count
            _drop(line, count)
        return True


def _drop(line: deque[memoryview], count: int) -> None:
    """Takes so many bytes from the front of a line."""
    while line and count >= line[0].nbytes:
        count -= line.popleft().nbytes
    if count:
        line[0] = line[0][count:]
