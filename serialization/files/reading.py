"""
Folders that stay what they are while they are read, whatever takes their place.

Writers never change a folder that is in its place: they exchange it for another one, and delete it only when nobody
has a lock on it. A reader opens the folder, locks it, and reads by way of what it opened.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from shardwright.diagnostics import ShardwrightError
from shardwright.serialization.errors import StorageError
from shardwright.serialization.files.atomic_folder import way_in
from shardwright.serialization.files.pending import is_pending, remove_pending, shared_lock

_ATTEMPTS = 100
"""How often a folder may be replaced between being opened and being locked."""


@contextmanager
def reading(path: str | os.PathLike[str], code: str) -> Generator[Path]:
    """
    The folder at a path, to be read: what takes its place in the meantime is not seen.

    Errors name it as it was given. Raises `StorageError`: of this code for what the system does not let us read, SW0880
    where the folder was replaced so often, or removed in such a way, that it could not be read.

    >>> import shutil, tempfile
    >>> place = real_path(tempfile.mkdtemp()) / "a"
    >>> place.mkdir()
    >>> _ = (place / "part").write_text("old")
    >>> with reading(place, "SW0873") as folder:
    ...     _ = place.rename(place.with_name("b"))
    ...     place.mkdir()
    ...     (folder / "part").read_text()
    'old'
    """
    place = real_path(path)
    lock = _lock(place) if os.path.isdir(place) else None
    way = place if lock is None else way_in(lock, place)
    try:
        yield way
    except (ShardwrightError, OSError) as error:
        if lock is not None and not _is_at(lock, place):
            raise _replaced(place) from error
        if isinstance(error, OSError):
            raise StorageError(code, f"{place} cannot be read: {error.strerror or error}") from error
        error.rename(str(way), str(place))
        raise
    finally:
        if lock is not None:
            _let_go(lock, way)


def real_path(path: str | os.PathLike[str], follow: bool = True) -> Path:
    """
    The absolute path that the system goes to, without `.`, `..` and links: whoever has it needs no working directory.

    Unless `follow`, what is at the path itself may be a link, and stays one. A backslash is a letter like others.

    >>> folder = real_path("/tmp")
    >>> real_path("/tmp/./a/../b") == folder / "b", real_path("/tmp/a\\\\b") == folder / "a\\\\b"
    (True, True)
    """
    text = os.fspath(path)
    if "\0" in text:  # which no path has; those who would use it refuse it
        return Path(text)
    parent, name = os.path.split(text.rstrip("/"))
    try:
        if follow or name in ("", ".", ".."):
            return Path(os.path.realpath(text))
        return Path(os.path.realpath(parent), name)
    except FileNotFoundError:  # the working directory is gone: nothing is there, which who uses the path is told
        return Path(text)


def _lock(place: Path) -> int | None:
    """A folder's descriptor with a reader's lock; None for one that may not be looked into."""
    for _ in range(_ATTEMPTS):
        try:
            lock = shared_lock(place, os.O_DIRECTORY)
        except OSError:
            return None
        if lock is not None or not os.path.isdir(place):
            return lock
    raise _replaced(place)


def _replaced(place: Path) -> StorageError:
    return StorageError("SW0880", f"{place} was replaced or removed while it was read")


def _is_at(lock: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock), place.lstat())
    except OSError:
        return False


def _let_go(lock: int, way: Path) -> None:
    """Ends a reader's lock; a folder that was replaced in the meantime is deleted by the last one who reads it."""
    try:
        now = Path(os.readlink(way)) if way.is_symlink() else way
    finally:
        os.close(lock)
    if is_pending(now.name):
        remove_pending(now)
