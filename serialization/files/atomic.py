"""Files that are there whole or not at all: written beside their place, flushed to the disk, then renamed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from shardwright.serialization.closing import Committing


class AtomicFile(Committing):
    """
    A file being written that takes its place when it is committed; until then, and after a failure, the old one stands.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with AtomicFile(folder / "a.bin") as file:
    ...     _ = os.write(file.descriptor, b"whole")
    >>> (folder / "a.bin").read_bytes(), len(list(folder.iterdir()))
    (b'whole', 1)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.descriptor, name = tempfile.mkstemp(prefix=f".{self.path.name}.", suffix=".tmp", dir=self.path.parent)
        self._temporary = Path(name)
        os.fchmod(self.descriptor, 0o666 & ~_umask())

    def commit(self) -> None:
        """Flush the file to the disk and put it in its place; the folder's entry is flushed as well."""
        os.fsync(self.descriptor)
        os.close(self.descriptor)
        os.replace(self._temporary, self.path)
        sync_folder(self.path.parent)

    def discard(self) -> None:
        os.close(self.descriptor)
        self._temporary.unlink(missing_ok=True)


def sync_folder(folder: str | Path) -> None:
    """Flush a folder's entries to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    """The process's mask for new files, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
