"""A `.pb` file, looked at as a file of one chunk."""

from __future__ import annotations

from pathlib import Path

from shardwright.serialization.merging.errors import MergeError
from shardwright.serialization.merging.plan import MESSAGE_CHUNK, Part


class WholeFile:
    """A message in one piece: the chunk 0."""

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), path
        self.kinds, self.sizes, self.positions = bytearray((MESSAGE_CHUNK,)), [path.stat().st_size], [0]

    def view(self, chunk: int, part: Part | None = None) -> memoryview:
        """The bytes of the file."""
        try:
            return memoryview(self._path.read_bytes())
        except OSError as error:
            raise self.error("SW0830", f"it cannot be read ({error.strerror})") from None

    def error(self, code: str, message: str, chunk: int | None = None, part: Part | None = None) -> MergeError:
        """A fault of this file."""
        return MergeError(code, message, file=self.name, chunk=chunk, path=part.path if part else None)

    def close(self) -> None:
        """Nothing stays open."""
