"""
What the processes of a job on one machine write down for each other and for their launcher: where they are.

Memory that they share: it says of a process that was killed, or that stands still, what it can say no longer itself.
"""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
import time
from dataclasses import dataclass
from functools import cache

VARIABLE = "SHARDWRIGHT_BOARD"
"""The environment variable by which a process finds the board of its job."""

_SEEN, _SLOT = 1 << 10, 1 << 14
_HEAD = struct.Struct("<I")


@dataclass(frozen=True)
class Seen:
    """Where a process was when it last came to something that all processes do."""

    pid: int
    calls: int
    when: float
    where: str

    def __str__(self) -> str:
        return f"{self.where} (call {self.calls})"


@dataclass(frozen=True)
class Report:
    """What a process that fails says: where in the user's program, and the text for people, if it has one."""

    where: str
    text: str


class Board:
    """One slot for each process, which it alone writes."""

    def __init__(self, file: int, count: int) -> None:
        self.file, self._count = file, count
        self._memory = mmap.mmap(file, count * _SLOT)

    @classmethod
    def create(cls, count: int) -> Board:
        """
        A new board; its memory is no file that anybody could find, and goes with the last process that has it.

        >>> board = Board.create(2)
        >>> board.write_seen(1, 7, "train.py:3:1")
        >>> board.seen(0), board.seen(1).where
        (None, 'train.py:3:1')
        """
        file = os.memfd_create("shardwright") if hasattr(os, "memfd_create") else _nameless()
        os.ftruncate(file, count * _SLOT)
        return cls(file, count)

    def close(self) -> None:
        """The job is over."""
        self._memory.close()
        os.close(self.file)

    def variable(self) -> str:
        """What the environment of a process says that has the board open."""
        status = os.fstat(self.file)
        return f"{self.file}:{status.st_dev}:{status.st_ino}:{self._count}"

    @classmethod
    def of_variable(cls, text: str) -> Board | None:
        """The board that the environment names; nothing where this process does not have it open."""
        try:
            file, device, inode, count = map(int, text.split(":"))
            status = os.fstat(file)
            return cls(file, count) if (status.st_dev, status.st_ino) == (device, inode) else None
        except (ValueError, OSError):
            return None

    def write_seen(self, place: int, calls: int, where: str) -> None:
        """This process has come to its next call, here."""
        self._write(place * _SLOT, _SEEN, f"{os.getpid()}\t{calls}\t{time.time():.2f}\t{where}")

    def seen(self, place: int) -> Seen | None:
        """Where a process was last."""
        try:
            pid, calls, when, where = self._read(place * _SLOT, _SEEN).split("\t")
            return Seen(int(pid), int(calls), float(when), where)
        except ValueError:  # nothing yet, or the process is just writing
            return None

    def write_report(self, place: int, report: Report) -> None:
        """Why this process ends."""
        self._write(place * _SLOT + _SEEN, _SLOT - _SEEN, f"{report.where}\t{report.text}")

    def report(self, place: int) -> Report | None:
        """Why a process ended; nothing where it did not say."""
        where, found, text = self._read(place * _SLOT + _SEEN, _SLOT - _SEEN).partition("\t")
        return Report(where, text) if found else None

    def _write(self, start: int, size: int, text: str) -> None:
        data = text.encode(errors="replace")[: size - _HEAD.size]
        self._memory[start : start + _HEAD.size] = _HEAD.pack(0)
        self._memory[start + _HEAD.size : start + _HEAD.size + len(data)] = data
        self._memory[start : start + _HEAD.size] = _HEAD.pack(len(data))

    def _read(self, start: int, size: int) -> str:
        (length,) = _HEAD.unpack(self._memory[start : start + _HEAD.size])
        begin = start + _HEAD.size
        return self._memory[begin : begin + min(length, size - _HEAD.size)].decode(errors="replace")


def _nameless() -> int:
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


@cache
def own_board() -> Board | None:
    """The board of this process' job; programs that it starts itself do not inherit it."""
    text = os.environ.pop(VARIABLE, "")
    return Board.of_variable(text) if text else None
