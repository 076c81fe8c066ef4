"""What processes that run one program tell each other beside its arrays: short messages, to and from the first."""

from __future__ import annotations

from abc import ABC, abstractmethod

from shardwright.layout.forms.clients import ALONE, Clients


class Job(ABC):
    """
    The processes that run one program, and which of them this one is.

    Every process calls the same methods in the same order; `what` says what for, to whoever waits too long.
    """

    clients: Clients

    @abstractmethod
    def gather(self, data: bytes, what: str) -> list[bytes]:
        """The bytes of each process, of any length, in their order, on the first process; nothing on the others."""

    @abstractmethod
    def broadcast(self, data: bytes, what: str) -> bytes:
        """The bytes that the first process gives, on every process."""


class Alone(Job):
    """
    The job of one process.

    >>> Alone().gather(b"here", "a test"), Alone().broadcast(b"there", "a test")
    ([b'here'], b'there')
    """

    clients = ALONE

    def gather(self, data: bytes, what: str) -> list[bytes]:
        return [data]

    def broadcast(self, data: bytes, what: str) -> bytes:
        return data
