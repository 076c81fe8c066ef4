"""
Folders that are there whole or not at all: written beside their place, flushed to the disk, then renamed.

A folder that took its place is never changed again: another one is exchanged for it, and what was there goes when its
last reader is done.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from shardwright.serialization.closing import Committing
from shardwright.serialization.files.atomic import sync_folder
from shardwright.serialization.files.pending import make_pending, pending_path, remove_pending, shared_lock

_SYNC_THREADS = 4
_RENAME_EXCHANGE = 2
_AT_FDCWD = -100

_ATTEMPTS = 100
"""How often another writer may put something in the place, or take it away, between looking at it and going there."""


class AtomicFolder(Committing):
    """
    A folder being written, at `folder`, that takes its place at `path` when it is committed.

    With `replace` an older folder at `path` is exchanged for it in one step, and then deleted; otherwise there must be
    none. `inside` is the way to it whatever its name is. What killed writers left beside it is deleted. Raises
    `FileExistsError` if there is one, and `OSError` where the system cannot exchange folders.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "whole"
    >>> with AtomicFolder(place) as pending:
    ...     _ = (pending.inside / "part").write_text("x")
    ...     place.exists()
    False
    >>> (place / "part").read_text(), len(list(place.parent.iterdir()))
    ('x', 1)
    """

    def __init__(self, path: str | os.PathLike[str], replace: bool = False) -> None:
        self.path = Path(os.path.abspath(path))
        self._replace = replace
        self.folder, self._lock = make_pending(self.path, is_folder=True)
        self.inside = way_in(self._lock, self.folder)

    def commit(self) -> None:
        """Flush everything in the folder to the disk and put it in its place; on an error it is discarded."""
        try:
            sync_tree(self.folder)
            self._take_place()
            sync_folder(self.path.parent)
        finally:
            self.discard()

    def discard(self) -> None:
        """Delete what is under the temporary name: nothing, what was replaced, or what is not wanted."""
        os.close(self._lock)
        remove_pending(self.folder)

    def _take_place(self) -> None:
        """Exchange or rename; where another writer came between looking and going there, look again."""
        for _ in range(_ATTEMPTS):
            try:
                self._exchange_or_rename()
                return
            except OSError as error:
                if not self._replace or error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOENT):
                    raise
        self._exchange_or_rename()

    def _exchange_or_rename(self) -> None:
        if self._replace and self.path.exists():
            _exchange(self.folder, self.path)
        else:
            _rename_to_nothing(self.folder, self.path)


class FolderPart:
    """
    A folder that another process is writing as an `AtomicFolder`, held open while this one writes a part of it.

    Whoever lets go of it last deletes what nobody wants. Raises `FileNotFoundError` where it is not there: the
    processes have no file system in common.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        lock = shared_lock(folder, os.O_DIRECTORY)
        if lock is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
        self._lock = lock
        self.inside = way_in(lock, folder)

    def discard(self) -> None:
        """Let go of the folder."""
        os.close(self._lock)
        remove_pending(self.folder)


def way_in(descriptor: int, folder: Path) -> Path:
    """
    A path by which an open folder is reached whatever its name is, or is in the meantime; its own where there is none.

    It has no letters that a library could take for something else.
    """
    way = Path(f"/proc/self/fd/{descriptor}")
    return way if way.is_dir() else folder


def remove_folder(path: Path) -> None:
    """Delete a folder so that nobody sees a part of it: it is gone in one step; its files go with its last reader."""
    aside = pending_path(path)
    os.rename(path, aside)
    sync_folder(path.parent)
    remove_pending(aside)


def sync_tree(folder: Path) -> None:
    """Flush every file and folder below a folder, and the folder itself, to the disk."""
    sync_files(_paths(folder))


def sync_files(paths: Iterable[str | Path]) -> None:
    """Flush some files to the disk."""
    with ThreadPoolExecutor(_SYNC_THREADS) as pool:
        for _ in pool.map(sync_folder, paths):
            pass  # what one of them raises is raised here


def _paths(folder: Path) -> Iterator[str]:
    for root, _, files in os.walk(folder):
        yield from (os.path.join(root, name) for name in files)
        yield root


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
