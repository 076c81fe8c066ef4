"""
One thread that carries frames to the workers, to each as fast as it takes them, and brings what they say.

Callers only put frames in line, which a Ctrl-C cannot tear apart: what is put there goes out whole, and to all workers.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from shardwright.engines.workers.frames import Array, Buffer, FrameError, Header, read_frame

MOST_WAITING = 1 << 28
"""Bytes in line beyond which whoever wants to add more has to wait."""

MOST_BUFFERS = 10_000
"""Buffers in line for a worker beyond which whoever wants to add more has to wait."""

Hear = Callable[[int, Header, "list[Array]"], None]
"""Takes what a worker says."""

Lose = Callable[[int, str], None]
"""Is told that nothing more will come of a worker, and why."""

_AT_ONCE = 64
"""How many buffers go into one system call."""

_TAKEN = 1 << 13
"""How many bytes are taken from a socket at once, if there are so many: some answers."""

_PAUSE = 0.001


class Courier:
    """Frames in line, for each worker its own, all in one order; `hear` and `lose` are called in the thread."""

    def __init__(self, sockets: Sequence[socket.socket], hear: Hear, lose: Lose) -> None:
        self._sockets, self._hear, self._lose = sockets, hear, lose
        self._streams = [Stream(each) for each in sockets]
        self._places = {each.fileno(): place for place, each in enumerate(sockets)}
        self._new: deque[Sequence[Sequence[Buffer]]] = deque()
        self._lines: list[deque[memoryview]] = [deque() for _ in sockets]
        self._awake = False
        self._turn, self._rung = 0, -1
        """How often the thread has heard the bell, and the turn in which it was rung: once is enough until then."""
        self._waiting = 0
        self._ended = False
        self._bell, self._rope = os.pipe()
        os.set_blocking(self._rope, False)
        self._poll = select.poll()
        self._full: set[int] = set()
        threading.Thread(target=self._carry, name="shardwright workers", daemon=True).start()

    def put(self, buffers: Sequence[Sequence[Buffer]]) -> None:
        """Puts a frame for each worker in line; waits while too much is there."""
        while (self._waiting > MOST_WAITING or max(map(len, self._lines)) > MOST_BUFFERS) and not self._ended:
            time.sleep(_PAUSE)
        self.add(buffers)

    def add(self, buffers: Sequence[Sequence[Buffer]]) -> None:
        """Puts a frame for each worker in line, however much is there: the thread that makes room must not wait."""
        self._new.append(buffers)
        turn = self._turn
        if not self._awake and self._rung != turn:
            self._ring()
            self._rung = turn  # after it: an interrupt in between means no more than another ring

    def end(self) -> None:
        """Sends and hears nothing more."""
        self._ended = True
        self._ring()

    def _ring(self) -> None:
        with suppress(OSError):  # it has been rung often enough, or nobody is there any more
            os.write(self._rope, b"!")

    def _carry(self) -> None:
        for descriptor in (self._bell, *self._places):
            self._poll.register(descriptor, select.POLLIN)
        while not self._ended:
            self._awake = True
            self._take()
            self._watch({place for place, line in enumerate(self._lines) if line and not self._sent(place)})
            self._awake = False
            if not self._new:
                self._sleep()
        os.close(self._bell)
        os.close(self._rope)

    def _sleep(self) -> None:
        """Until a frame is put in line, or a worker takes more or says something."""
        for descriptor, event in self._poll.poll():
            if descriptor == self._bell:
                os.read(self._bell, 1 << 16)
                self._turn += 1
            elif event & ~select.POLLOUT:
                self._listen(self._places[descriptor])

    def _listen(self, place: int) -> None:
        """Takes the frames of a worker that are there, all of each, or notes that there are no more."""
        stream = self._streams[place]
        try:
            while (found := read_frame(stream)) is not None:
                self._hear(place, *found)
                if not stream.held:
                    return
            why = "it has ended"
        except OSError:
            why = "it has ended"
        except (FrameError, KeyError, TypeError, ValueError) as error:
            why = f"it said what is no frame: {error}"
        self._poll.unregister(self._sockets[place])
        self._full.discard(place)
        self._lines[place].clear()
        self._lose(place, why)

    def _watch(self, full: set[int]) -> None:
        """Waits, from now on, for room with these workers."""
        for place in full ^ self._full:
            events = select.POLLIN | select.POLLOUT if place in full else select.POLLIN
            with suppress(OSError):
                self._poll.modify(self._sockets[place], events)
        self._full = full

    def _take(self) -> None:
        """Adds what is new to the line of each worker; commands without arrays, the same for all, in one piece."""
        commands: list[Buffer] = []
        while self._new:
            buffers = self._new.popleft()
            if len(buffers[0]) == 1 and all(each is buffers[0] for each in buffers):
                commands += buffers[0]
                continue
            self._line_up([[*commands, *each] for each in buffers])
            commands = []
        if commands:
            self._line_up([[b"".join(commands)]] * len(self._lines))

    def _line_up(self, buffers: Sequence[Sequence[Buffer]]) -> None:
        for line, each in zip(self._lines, buffers, strict=True):
            views = [memoryview(buffer) for buffer in each]
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
            except OSError:  # the worker is gone, which its end of the connection will tell
                count = sum(view.nbytes for view in line)
            self._waiting -= count
            _drop(line, count)
        return True


class Stream:
    """What comes from a socket, taken in as few calls as there can be; what was taken and not yet read is `held`."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.held = bytearray()

    def read(self, size: int) -> bytes:
        """So many bytes, or less at the end."""
        while len(self.held) < size:
            came = self._connection.recv(max(_TAKEN, size - len(self.held)))
            if not came:
                break
            self.held += came
        found = bytes(memoryview(self.held)[:size])
        del self.held[:size]
        return found

    def readinto(self, target: Any) -> int:
        """Fills a buffer; how many bytes there were, less only at the end."""
        view = memoryview(target)
        filled = min(view.nbytes, len(self.held))
        view[:filled] = memoryview(self.held)[:filled]
        del self.held[:filled]
        while filled < view.nbytes:
            count = self._connection.recv_into(view[filled:], 0, socket.MSG_WAITALL)
            if not count:
                break
            filled += count
        return filled


def _drop(line: deque[memoryview], count: int) -> None:
    """Takes so many bytes from the front of a line."""
    while line and count >= line[0].nbytes:
        count -= line.popleft().nbytes
    if count:
        line[0] = line[0][count:]
