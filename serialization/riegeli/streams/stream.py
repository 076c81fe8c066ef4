"""Where a reader's bytes come from if they can be read only once, from the beginning on: pipes and the like."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from shardwright.serialization.riegeli.streams.source import read_into

UNKNOWN = 1 << 63
SKIP = 1 << 16


def is_special(path: str | os.PathLike[str]) -> bool:
    """
    Whether a path is a pipe or a device, which is read and written as a stream and never replaced.

    >>> is_special("/dev/null"), is_special("/"), is_special("/no such file")
    (True, False, False)
    """
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


class Stream:
    """
    A file object that cannot seek, with the interface of `Source`; no more is taken from it than is asked for.

    >>> import io
    >>> stream = Stream(io.BytesIO(b"abcdef"))
    >>> stream.read(1, 3), stream.read(2, 10), stream.size
    (b'bcd', b'cdef', 6)
    """

    seekable = False

    def __init__(self, file: Any, owned: bool = False) -> None:
        self.name = str(getattr(file, "name", "the stream"))
        self._file, self._owned, self._ended = file, owned, False
        self._place, self._window = 0, b""

    @property
    def size(self) -> int:
        """How many bytes there were; more than any file has while the end was not seen."""
        return self._place if self._ended else UNKNOWN

    @property
    def earliest(self) -> int:
        """From where on bytes can still be read."""
        return self._place - len(self._window)

    def read(self, begin: int, size: int) -> bytes:
        """Up to `size` bytes from a place, fewer only at the end; the last bytes that were read can be read again."""
        self._go_to(begin)
        if len(self._window) < size:
            self._window += self._take(size - len(self._window))
        return self._window[:size]

    def scatter(self, begin: int, views: Sequence[memoryview]) -> int:
        """Fill the views one after the other from a place; returns how many bytes there were."""
        self._go_to(begin)
        done = 0
        for view in views:
            kept = min(len(view), len(self._window))
            view[:kept], self._window = self._window[:kept], self._window[kept:]
            count = read_into(self._file, view[kept:]) if kept < len(view) else 0
            self._place += count
            done += kept + count
            if kept + count < len(view):
                self._ended = True
                break
        return done

    def close(self) -> None:
        """Let go of a file that was opened here."""
        if self._owned:
            self._file.close()

    def _go_to(self, begin: int) -> None:
        """Leave out what lies before a place."""
        assert begin >= self.earliest, "a stream was asked for bytes that went by"
        while begin > self._place and not self._ended:
            self._window = self._take(min(SKIP, begin - self._place))
        self._window = self._window[max(0, begin - self.earliest) :]

    def _take(self, size: int) -> bytes:
        data = bytearray(size)
        with memoryview(data) as view:
            count = read_into(self._file, view)
        self._ended = self._ended or count < size
        self._place += count
        return bytes(data[:count])
