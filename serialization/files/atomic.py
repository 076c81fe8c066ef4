"""Files that are there whole or not at all: written beside their place, flushed to the disk, then renamed."""

from __future__ import annotations

import os
from pathlib import Path

from shardwright.serialization.closing import Committing
from shardwright.serialization.files.pending import make_pending


class AtomicFile(Committing):
    """
    A file being written that takes its place when it is committed; until then, and after a failure, the old one stands.

    A link stays one: the file to which it leads is replaced. What killed writers left beside it is deleted.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with AtomicFile(folder / "a.bin") as file:
    ...     _ = os.write(file.descriptor, b"whole")
    >>> (folder / "a.bin").read_bytes(), len(list(folder.iterdir()))
    (b'whole', 1)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.realpath(path))
        self._temporary, self.descriptor = make_pending(self.path, is_folder=False)

    def commit(self) -> None:
        """Flush the file to the disk and put it in its place; the folder's entry is flushed as well."""
        try:
            os.fsync(self.descriptor)
            os.replace(self._temporary, self.path)
        except OSError:
            self.discard()
            raise
        os.close(self.descriptor)
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
