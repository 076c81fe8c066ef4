"""A job of worker processes, wherever they are: what the controller needs of it, and who may come in."""

from __future__ import annotations

import socket
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from hmac import compare_digest

from shardwright.engines.workers.starting.door import GREETING, MARK

_GREETING_SECONDS = 5.0
"""How long whoever connects has to say who it is."""

_LONGEST_FOLDER = 60
"""The path of a socket has at most about a hundred characters."""


class Job(ABC):
    """The processes of one job, and what connects this one with each of them."""

    def __init__(self) -> None:
        self.sockets: list[socket.socket] = []
        self.process_ids: list[int] = []
        self.hosts: list[str] = []

    def connect(self, found: Sequence[tuple[socket.socket, int]], hosts: Sequence[str]) -> None:
        """Notes who has come in, in the order of the workers, and where they are."""
        self.sockets, self.process_ids = [each for each, _ in found], [number for _, number in found]
        self.hosts = [*hosts]

    def hang_up(self) -> None:
        """Ends all connections."""
        for each in self.sockets:
            # Who reads from it in another thread comes to its end; closed by another, its number could be used again.
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    @abstractmethod
    def progress(self, place: int) -> tuple[int, str]:
        """The number of the call that a worker runs, or 0, and its place in the user's source; also after its death."""

    @abstractmethod
    def epitaph(self) -> list[str]:
        """Waits a few seconds for what is known of the end of a job of which a worker is gone."""

    @abstractmethod
    def wait(self, seconds: float) -> None:
        """Waits until all processes have ended, or for this time."""

    @abstractmethod
    def end(self) -> None:
        """Ends all processes, whatever they do."""


def welcome(
    listener: socket.socket, token: str, count: int, check: Callable[[], None]
) -> list[tuple[socket.socket, int]]:
    """
    The connections and process numbers of all workers, in their order; whoever lacks the token is sent away.

    `check` is called now and then, and raises when there is no more to wait for.
    """
    return welcome_each(listener, token, count, check, (MARK,))[0]


def welcome_each(
    listener: socket.socket, token: str, count: int, check: Callable[[], None], marks: Sequence[bytes]
) -> list[list[tuple[socket.socket, int]]]:
    """The same for each of several marks, with which each worker comes once."""
    found: dict[tuple[bytes, int], tuple[socket.socket, int]] = {}
    listener.settimeout(0.05)
    while len(found) < count * len(marks):
        check()
        with suppress(TimeoutError):
            stranger, _ = listener.accept()
            greeted = _greeted(stranger, token, count)
            if greeted is None or greeted[0] not in marks or greeted[:2] in found:
                stranger.close()
            else:
                found[greeted[:2]] = stranger, greeted[2]
    return [[found[mark, place] for place in range(count)] for mark in marks]


def _greeted(stranger: socket.socket, token: str, count: int) -> tuple[bytes, int, int] | None:
    """With which mark which worker has come in, if it is one, and its process."""
    stranger.settimeout(_GREETING_SECONDS)
    came = b""
    while len(came) < GREETING.size:
        try:
            part = stranger.recv(GREETING.size - len(came))
        except OSError:
            return None
        if not part:
            return None
        came += part
    stranger.settimeout(None)
    mark, given, workers, place, process = GREETING.unpack(came)
    if not compare_digest(given, token.encode()) or workers != count or place >= count:
        return None
    return mark, place, process


def short_folder() -> str | None:
    """Where folders for sockets are made: where all temporary ones are, unless paths there are too long."""
    return None if len(tempfile.gettempdir()) <= _LONGEST_FOLDER else "/tmp"
