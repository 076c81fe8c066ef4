"""Where a reader's bytes come from: any place, into any buffers, with a window that serves small pieces."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from typing import Any

WINDOW = 1 << 18
VIEWS_AT_ONCE = 512
MAPPED_FROM = 1 << 22


class Source:
    """A path or a file object that can seek, read by position."""

    seekable, earliest = True, 0

    def __init__(self, file: Any) -> None:
        self._owned = isinstance(file, str | os.PathLike)
        self.name = os.fspath(file) if self._owned else str(getattr(file, "name", "the file"))
        self._descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)) if self._owned else -1
        self._file = file
        self._window, self._window_begin = b"", 0
        self._told = not self._owned or not hasattr(os, "posix_fadvise")

    @property
    def size(self) -> int:
        """How many bytes there are now."""
        if self._owned:
            return os.fstat(self._descriptor).st_size
        return self._file.seek(0, os.SEEK_END)

    def read(self, begin: int, size: int) -> bytes:
        """Up to `size` bytes from a place, fewer only at the end; for small pieces."""
        offset = begin - self._window_begin
        if not 0 <= offset <= offset + size <= len(self._window):
            self._window, self._window_begin, offset = self._fetch(begin, max(size, WINDOW)), begin, 0
        return self._window[offset : offset + size]

    def scatter(self, begin: int, views: Sequence[memoryview]) -> int:
        """Fill the views one after the other from a place; returns how many bytes there were."""
        total = sum(len(view) for view in views)
        offset = begin - self._window_begin
        if total <= WINDOW:
            data = self.read(begin, total)
            return _pour(data, views)
        if 0 <= offset < len(self._window):
            self._window = b""
        if not self._told:
            os.posix_fadvise(self._descriptor, 0, 0, os.POSIX_FADV_SEQUENTIAL)
            self._told = True
        return self._preadv(begin, views) if self._owned else self._readinto(begin, views)

    def close(self) -> None:
        """Let go of a file that was opened here."""
        if self._owned and self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _fetch(self, begin: int, size: int) -> bytes:
        if not self._owned:
            self._file.seek(begin)
            return self._file.read(size)
        data = os.pread(self._descriptor, size, begin)
        while len(data) < size and (more := os.pread(self._descriptor, size - len(data), begin + len(data))):
            data += more
        return data

    def _preadv(self, begin: int, views: Sequence[memoryview]) -> int:
        left, done = list(views), 0
        while left and (count := os.preadv(self._descriptor, left[:VIEWS_AT_ONCE], begin + done)):
            done += count
            left = after(left, count)
        return done

    def _readinto(self, begin: int, views: Sequence[memoryview]) -> int:
        self._file.seek(begin)
        return sum(read_into(self._file, view) for view in views)


def allocate(size: int) -> memoryview:
    """
    A buffer of zeros. A large one comes from the system, which makes its pages, large ones, when they are written.

    >>> len(allocate(3)), bytes(allocate(MAPPED_FROM)[-1:])
    (3, b'\\x00')
    """
    if size < MAPPED_FROM:
        return memoryview(bytearray(size))
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return memoryview(pages)


def read_into(file: Any, view: memoryview) -> int:
    """Fill a view from a file object; returns how many bytes there were, fewer than there is room for at the end."""
    reads, done = getattr(file, "readinto", None), 0
    while done < len(view):
        if reads is not None:
            count = reads(view[done:])
        else:
            data = file.read(len(view) - done)
            count = len(data)
            view[done : done + count] = data
        if not count:
            break
        done += count
    return done


def after(pieces: Sequence[memoryview], count: int) -> list[memoryview]:
    """
    What is left of pieces after their first bytes were read or written.

    >>> [bytes(piece) for piece in after([memoryview(b"abc"), memoryview(b"def")], 4)]
    [b'ef']
    """
    done = 0
    while done < len(pieces) and count >= len(pieces[done]):
        count -= len(pieces[done])
        done += 1
    return [pieces[done][count:], *pieces[done + 1 :]] if done < len(pieces) else []


def _pour(data: bytes, views: Sequence[memoryview]) -> int:
    done = 0
    for view in views:
        piece = data[done : done + len(view)]
        view[: len(piece)] = piece
        done += len(piece)
    return done
