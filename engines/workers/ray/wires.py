"""
What actors say beside what they are asked for: to MPI when it starts, to people who read it, and what they run.

MPI's own launcher would listen on every network of every machine. Here each worker comes to the controller, with its
token, and what MPICH asks for (`engines.mpi.wireup`) is answered over that connection. A second one is the worker's
output, which outlives it here, with marks in it that say what it runs.
"""

from __future__ import annotations

import re
import selectors
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from shardwright.engines.mpi.wireup import Wireup

WIRE, VOICE = b"SWP1", b"SWV1"
"""How a worker greets with the connection on which MPI asks, and with the one for its output."""

_MARK = re.compile(rb"\0(\d{1,20}) ([^\n\0]*)\n")

_PAUSE = 0.02
"""Seconds between two looks at what workers run: each says so twice for each call."""

_KEPT = 1 << 14
"""The bytes of a worker's output that are kept: the last ones."""

_LONGEST = 1 << 16
"""Bytes without an end after which a line is none."""


def progress_mark(call: int, at: str) -> bytes:
    """
    What stands in a worker's output when it runs a call.

    >>> progress_mark(7, "train.py:3:1")
    b'\\x007 train.py:3:1\\n'
    """
    return f"\0{call} {at}".replace("\n", " ").encode(errors="replace") + b"\n"


@dataclass
class Voice:
    """
    What a worker has said: which call it runs, at which place of the user's source, and the end of its output.

    >>> voice = Voice()
    >>> voice.hear(b"so far " + progress_mark(7, "train.py:3:1")[:5])
    >>> voice.hear(progress_mark(7, "train.py:3:1")[5:] + b"so good")
    >>> voice.call, voice.at, voice.output
    (7, 'train.py:3:1', b'so far so good')
    """

    call: int = 0
    at: str = ""
    output: bytes = b""
    _begun: bytes = b""

    def hear(self, data: bytes) -> None:
        """Takes what came next."""
        text = self._begun + data
        start = text.rfind(b"\0")
        whole = start < 0 or b"\n" in text[start:] or len(text) - start > _LONGEST
        text, self._begun = (text, b"") if whole else (text[:start], text[start:])
        for call, at in _MARK.findall(text)[-1:]:
            self.call, self.at = int(call), at.decode(errors="replace")
        self.output = (self.output + _MARK.sub(b"", text))[-_KEPT:]


class Wires:
    """Both connections of each worker, heard by a thread until `close`; `machines` numbers where each of them is."""

    def __init__(
        self, wires: Sequence[socket.socket], voices: Sequence[socket.socket], machines: Sequence[int]
    ) -> None:
        self._wires, self._sockets = wires, voices
        self._wireup = Wireup(len(wires), machines)
        self._asked = [b""] * len(wires)
        self._voices = [Voice() for _ in voices]
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="shardwright wires", daemon=True)
        self._thread.start()

    def voice(self, place: int) -> Voice:
        """What a worker has said by now, also after its end."""
        while self._hear(place):
            pass
        return self._voices[place]

    def close(self) -> None:
        """Hears nothing more, and ends the connections."""
        self._over.set()
        for each in (*self._wires, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for each in (*self._wires, *self._sockets):
            each.close()

    def _listen(self) -> None:
        with selectors.DefaultSelector() as selector:
            for place, (wire, voice) in enumerate(zip(self._wires, self._sockets, strict=True)):
                selector.register(wire, selectors.EVENT_READ, (self._answer, place))
                selector.register(voice, selectors.EVENT_READ, (self._hear, place))
            while not self._over.is_set() and selector.get_map():
                ready = [key for key, _ in selector.select()]
                for key in ready:
                    take, place = key.data
                    if take(place) is None:
                        selector.unregister(key.fileobj)
                if all(key.data[0] == self._hear for key in ready):
                    self._over.wait(_PAUSE)

    def _hear(self, place: int) -> bool | None:
        """Takes what a worker has put out; whether there was any, or nothing when no more will come."""
        with self._lock:
            data = _received(self._sockets[place])
            if data:
                self._voices[place].hear(data)
        return None if data == b"" else bool(data)

    def _answer(self, place: int) -> bool | None:
        """Answers what MPI asks for; nothing when no more will come."""
        data = _received(self._wires[place])
        if data == b"" or len(self._asked[place]) > _LONGEST:
            return None
        *lines, self._asked[place] = (self._asked[place] + (data or b"")).split(b"\n")
        for line in lines:
            for to, text in self._wireup.answer(place, line.decode(errors="replace")):
                with suppress(OSError):  # who has died needs no answer
                    self._wires[to].sendall(text.encode() + b"\n")
        return True


def _received(connection: socket.socket) -> bytes | None:
    """What has come over a connection: nothing (`None`) as yet, or no bytes at its end."""
    try:
        return connection.recv(1 << 16, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:
        return b""
