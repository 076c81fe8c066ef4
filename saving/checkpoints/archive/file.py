"""Bytes at places of a file, all or none, by a descriptor that several threads share."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

_FLUSH_SECONDS = 0.02
"""How long a disk may be idle while a file is written; what is written faster is flushed at its end alone."""


def write_at(descriptor: int, pieces: Sequence[Any], at: int) -> None:
    """Writes pieces of bytes one behind the other. Raises `OSError`, on a full disk for instance."""
    left = sum(map(len, pieces))
    done = os.pwritev(descriptor, pieces, at)
    if done == left:
        return
    rest = memoryview(b"".join(pieces))[done:]
    while rest:
        done += (written := os.pwrite(descriptor, rest, at + done))
        if not written:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[written:]


def read_at(descriptor: int, target: memoryview, at: int) -> bool:
    """Fills memory with the bytes from a place on; whether there were as many."""
    done = os.preadv(descriptor, [target], at)
    while done < len(target):
        more = os.preadv(descriptor, [target[done:]], at + done)
        if not more:
            return False
        done += more
    return True


@contextmanager
def flushing(descriptor: int) -> Generator[None]:
    """
    Flushes a file to the disk again and again while others write to it, so that the disk has something to do.

    What it is told of the disk is raised: the system tells each error once.
    """
    done, failed = Event(), list[OSError]()

    def run() -> None:
        try:
            while not done.wait(_FLUSH_SECONDS):
                os.fdatasync(descriptor)
        except OSError as error:
            failed.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    if failed:
        raise failed[0]


def size_fault(path: Path, size: int) -> str | None:
    """What is wrong with a file's kind or size; links are not followed."""
    try:
        found = path.lstat()
    except OSError:
        return "it is missing"
    if not stat.S_ISREG(found.st_mode):
        return "it is no file"
    return None if found.st_size == size else f"it has {found.st_size} bytes instead of {size}"


def raw_bytes(array: Any) -> memoryview:
    """The memory of a contiguous array, whatever its element type is."""
    return memoryview(array.reshape(-1).view("uint8"))
