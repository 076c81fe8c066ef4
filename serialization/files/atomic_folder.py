"""
Folders that are there whole or not at all: written beside their place, flushed to the disk, then renamed.

A folder being written is locked by its writer, and the system lets go of the lock when the writer dies. So whoever
comes later can tell what a dead writer left from what a living one is still writing, whatever process ids do.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from shardwright.serialization.closing import Committing
from shardwright.serialization.files.atomic import sync_folder

_PENDING = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.tmp")
_SYNC_THREADS = 4
_RENAME_EXCHANGE = 2
_AT_FDCWD = -100


class AtomicFolder(Committing):
    """
    A folder being written, at `folder`, that takes its place at `path` when it is committed.

    With `replace` an older folder at `path` is exchanged for it in one step, and then deleted; otherwise there must be
    none. Raises `FileExistsError` if there is one, and `OSError` where the system cannot exchange folders.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "whole"
    >>> with AtomicFolder(place) as pending:
    ...     _ = (pending.folder / "part").write_text("x")
    ...     place.exists()
    False
    >>> (place / "part").read_text(), len(list(place.parent.iterdir()))
    ('x', 1)
    """

    def __init__(self, path: str | os.PathLike[str], replace: bool = False) -> None:
        self.path = Path(os.path.abspath(path))
        self._replace = replace
        self.folder, self._lock = _locked_folder(self.path)

    def commit(self) -> None:
        """Flush everything in the folder to the disk and put it in its place; on an error it is discarded."""
        try:
            sync_tree(self.folder)
            if self._replace and self.path.exists():
                _exchange(self.folder, self.path)
            else:
                _rename_to_nothing(self.folder, self.path)
            sync_folder(self.path.parent)
        finally:
            self.discard()

    def discard(self) -> None:
        """Delete what is under the temporary name: nothing, what was replaced, or what is not wanted."""
        shutil.rmtree(self.folder, ignore_errors=True)  # what cannot be deleted is a leftover
        os.close(self._lock)


def remove_folder(path: Path) -> None:
    """Delete a folder so that nobody sees a part of it: it is gone in one step, its files are deleted after that."""
    aside = _pending(path)
    os.rename(path, aside)
    sync_folder(path.parent)
    shutil.rmtree(aside, ignore_errors=True)


def remove_leftovers(parent: Path, names: re.Pattern[str]) -> list[Path]:
    """
    Delete what dead writers left in a folder, of folders whose names match; what a living one writes stays.

    >>> import tempfile
    >>> parent = Path(tempfile.mkdtemp())
    >>> (parent / ".a.0123456789abcdef.tmp").mkdir()
    >>> living = AtomicFolder(parent / "a")
    >>> [path.name for path in remove_leftovers(parent, re.compile("a"))]
    ['.a.0123456789abcdef.tmp']
    >>> living.commit()
    """
    removed: list[Path] = []
    for path in sorted(parent.iterdir()):
        match = _PENDING.fullmatch(path.name)
        if match and names.fullmatch(match["name"]) and path.is_dir() and not path.is_symlink():
            lock = _lock_of(path, blocking=False)
            if lock is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)
                removed.append(path)
    return removed


def sync_tree(folder: Path) -> None:
    """Flush every file and folder below a folder, and the folder itself, to the disk."""
    with ThreadPoolExecutor(_SYNC_THREADS) as pool:
        for _ in pool.map(sync_folder, _paths(folder)):
            pass  # what one of them raises is raised here


def _paths(folder: Path) -> Iterator[str]:
    for root, _, files in os.walk(folder):
        yield from (os.path.join(root, name) for name in files)
        yield root


def _pending(path: Path) -> Path:
    """A name beside `path` that nothing has."""
    return path.parent / f".{path.name}.{secrets.token_hex(8)}.tmp"


def _locked_folder(path: Path) -> tuple[Path, int]:
    """A new folder beside `path`, and a descriptor that holds the lock on it."""
    while True:
        folder = _pending(path)
        folder.mkdir()
        lock = _lock_of(folder, blocking=True)
        if lock is not None:
            return folder, lock


def _lock_of(folder: Path, blocking: bool) -> int | None:
    """The lock on a folder, unless somebody else has it or the folder is gone."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if blocking else fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), os.stat(folder)):
            return lock
    except OSError:
        pass
    os.close(lock)
    return None


def _rename_to_nothing(source: Path, target: Path) -> None:
    """Rename a folder; a folder that is there already, even an empty one, is an error."""
    if target.exists() or target.is_symlink():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    os.rename(source, target)


def _exchange(first: Path, second: Path) -> None:
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        raise OSError(errno.ENOTSUP, "this system cannot exchange folders", str(second)) from None
    if rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(second))
