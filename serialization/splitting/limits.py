"""How large chunks may be and should be."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from shardwright.serialization.errors import SplitError

MAX_SIZE = 1 << 30
CHUNK_SIZE = 1 << 22
MOST = (1 << 31) - 1
"""Protobuf holds fewer than 2 GiB in one field, and reads no larger message."""


@dataclass(frozen=True, slots=True)
class Limits:
    """
    `max_size` is the most that a message chunk has, and a message that is not split; `chunk_size` is what the message
    chunks of a message that is split should have. In bytes. Raises SW0818.
    """

    max_size: int = MAX_SIZE
    chunk_size: int = CHUNK_SIZE

    def __post_init__(self) -> None:
        for name, value in (("max_size", self.max_size), ("chunk_size", self.chunk_size)):
            if type(value) is not int or not 1 <= value <= MOST:
                raise SplitError("SW0818", f"{name} is a number of bytes from 1 to {MOST}, not {value!r}")

    @property
    def small(self) -> int:
        """The most that a message or a string has which is never a chunk of its own."""
        return self.chunk_size // 3


USUAL = Limits()
DEFAULTS: ContextVar[Limits] = ContextVar("limits", default=USUAL)


def limits_of(max_size: int | None, chunk_size: int | None, base: Limits | None = None) -> Limits:
    """
    The limits that were asked for, the others as usual; a chunk is never meant to be larger than it may be.

    >>> limits_of(1000, None)
    Limits(max_size=1000, chunk_size=1000)
    """
    base = base or DEFAULTS.get()
    most = base.max_size if max_size is None else max_size
    wanted = base.chunk_size if chunk_size is None else chunk_size
    return replace(Limits(most, wanted), chunk_size=min(wanted, most))


@contextmanager
def default_sizes(max_size: int | None = None, chunk_size: int | None = None) -> Generator[None]:
    """
    The sizes of splitters that are made inside of the block and are not told others, in bytes. Raises SW0818.

    >>> with default_sizes(max_size=500):
    ...     limits_of(None, None).max_size
    500
    """
    token = DEFAULTS.set(limits_of(max_size, chunk_size))
    try:
        yield
    finally:
        DEFAULTS.reset(token)
