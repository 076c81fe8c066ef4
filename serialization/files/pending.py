"""
What is being written or deleted beside its place, under names of our own, and how the living are told from the dead.

Whoever writes a file or a folder, or reads a folder, has a shared lock on it, of which the system lets go when the
process ends, however that happens. What is deleted gets such a name first and is locked for its remover alone: so
nothing goes that somebody still writes or reads. Where the system has no locks, nothing is taken for dead.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
from pathlib import Path

_PENDING = re.compile(r"\..*\.[0-9a-f]{16}\.shardwright\.tmp", re.DOTALL)

_SHOWN = 40
"""How much of what it is for is in a pending name: the rest is needed where a name is as long as names can be."""


_ATTEMPTS = 100
"""How often who removes leftovers may be faster than the lock on something new."""


def make_pending(path: Path, is_folder: bool) -> tuple[Path, int]:
    """
    A new file or folder beside `path`, and a descriptor of it with a lock.

    What killed writers left there, for whatever path, is deleted first.
    """
    remove_leftovers(path.parent)
    for _ in range(_ATTEMPTS):
        place = pending_path(path)
        if is_folder:
            place.mkdir()
        lock = shared_lock(place, 0 if is_folder else os.O_RDWR | os.O_CREAT | os.O_EXCL)
        if lock is not None:
            return place, lock
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))


def pending_path(path: Path) -> Path:
    """A name beside `path` that nothing has."""
    return path.parent / f".{path.name[:_SHOWN]}.{secrets.token_hex(8)}.shardwright.tmp"


def is_pending(name: str) -> bool:
    """
    Whether a name is one of those under which things are written and deleted.

    >>> is_pending(pending_path(Path("a/b")).name), is_pending(".b.0123456789abcdef.tmp")
    (True, False)
    """
    return _PENDING.fullmatch(name) is not None


def shared_lock(path: Path, flags: int = 0) -> int | None:
    """A descriptor of what is at a path, with a lock that keeps it from being deleted; None if it is being deleted."""
    return _locked(path, fcntl.LOCK_SH, flags)


def remove_pending(path: Path) -> bool:
    """Delete what is under a pending name, unless somebody writes or reads it; whether that was done."""
    lock = _locked(path, fcntl.LOCK_EX)
    if lock is None:
        return False
    try:
        if stat.S_ISDIR(os.fstat(lock).st_mode):
            shutil.rmtree(path, ignore_errors=True)  # what cannot be deleted is a leftover
        elif stat.S_ISREG(os.fstat(lock).st_mode):
            path.unlink(missing_ok=True)
    finally:
        os.close(lock)
    return not os.path.lexists(path)


def remove_leftovers(parent: Path) -> list[Path]:
    """
    Delete what dead writers and removers left in a folder; what a living one writes, and somebody reads, stays.

    >>> import tempfile
    >>> parent = Path(tempfile.mkdtemp())
    >>> (parent / ".a.0123456789abcdef.shardwright.tmp").mkdir()
    >>> living = pending_path(parent / "a")
    >>> living.mkdir()
    >>> lock = shared_lock(living)
    >>> [path.name for path in remove_leftovers(parent)], living.exists()
    (['.a.0123456789abcdef.shardwright.tmp'], True)
    """
    try:
        with os.scandir(parent) as found:
            names = sorted(item.name for item in found if is_pending(item.name))
    except OSError:  # a folder that may be written to, but not looked at
        return []
    return [parent / name for name in names if remove_pending(parent / name)]


def _locked(path: Path, kind: int, flags: int = 0) -> int | None:
    """A descriptor of what is at a path, locked; None if it is no longer there, or locked against us."""
    try:
        descriptor = os.open(path, os.O_NOFOLLOW | os.O_NONBLOCK | flags, 0o666)
    except FileNotFoundError:
        return None
    except OSError:
        if kind == fcntl.LOCK_EX:
            return None
        raise
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        there = os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except (BlockingIOError, FileNotFoundError):
        there = False
    except OSError:  # a file system without locks: who wants it alone cannot have it
        there = kind == fcntl.LOCK_SH
    if there:
        return descriptor
    os.close(descriptor)
    return None
