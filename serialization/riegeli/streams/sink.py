"""Where a writer's bytes go: many small pieces are gathered, large ones are handed to the system as they are."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Any, Protocol

from shardwright.serialization.riegeli.chunks.codecs import Buffer
from shardwright.serialization.riegeli.streams.source import after

GATHER_BYTES = 1 << 25
GATHER_PIECES = 1024
LARGE_PIECE = 4096
WORTH_STARTING = 1 << 20
START_WRITING = 2


class Writable(Protocol):
    """A binary file, as far as a writer needs it."""

    def write(self, data: Buffer, /) -> object:
        """Take all the bytes."""
        ...


class Sink:
    """Pieces in order, to a descriptor or to a file object."""

    def __init__(self, target: int | Writable) -> None:
        self._target = target
        self._pieces: list[Buffer] = []
        self._bytes = self._handed = 0

    def put(self, piece: Buffer) -> None:
        """Take a piece; it is not copied, so it must stay as it is until `flush`."""
        self._pieces.append(piece)
        self._bytes += len(piece)
        if self._bytes >= GATHER_BYTES or len(self._pieces) >= GATHER_PIECES:
            self.flush()

    def flush(self) -> None:
        """Hand over all that was put."""
        pieces, size, self._pieces, self._bytes = self._pieces, self._bytes, [], 0
        if isinstance(self._target, int):
            _write_all(self._target, pieces)
            if size >= WORTH_STARTING:
                _start_writing(self._target, self._handed, size)
            self._handed += size
        else:
            for piece in pieces if size > LARGE_PIECE * len(pieces) else [b"".join(pieces)]:
                _give(self._target, piece)


@cache
def _sync_file_range() -> Any:
    """Linux's function of that name, or None."""
    return getattr(ctypes.CDLL(None), "sync_file_range", None) if sys.platform == "linux" else None


def _start_writing(descriptor: int, begin: int, size: int) -> None:
    """Have the system begin to bring a part of a file to the disk, so that less is left to wait for at the end."""
    function = _sync_file_range()
    if function is not None:
        function(descriptor, ctypes.c_int64(begin), ctypes.c_int64(size), START_WRITING)


def _give(target: Writable, piece: Buffer) -> None:
    """Write a piece; unbuffered files may take a part of it and say so."""
    view = memoryview(piece)
    while isinstance(taken := target.write(view), int) and taken < len(view):
        view = view[taken:]


def _write_all(descriptor: int, pieces: list[Buffer]) -> None:
    """`os.writev`, again until all is written: it may stop early."""
    left = list(map(memoryview, pieces))
    while left:
        left = after(left, os.writev(descriptor, left))
