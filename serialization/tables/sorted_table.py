"""Reading sorted tables of keys and values (LevelDB's file format), in which TensorFlow's checkpoints list tensors."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

from shardwright.diagnostics import ShardwrightError
from shardwright.serialization.errors import TableError
from shardwright.serialization.riegeli.chunks.codecs import SNAPPY, package
from shardwright.serialization.tables.crc32c import crc32c, masked
from shardwright.serialization.wire import Cursor, WireFault, read_varint

MAGIC = 0xDB4775248B80FB57
FOOTER = 48
TRAILER = 5
"""A block's kind of compression and checksum, which stand behind it."""

MOST = 1 << 30
"""The most bytes of a table that is read."""
LARGEST_BLOCK = 8 << 20
"""The most bytes of a block after decompression; TensorFlow's blocks have 256 KiB."""

ALWAYS, EXPANSION = 8 << 20, 16
"""The keys and values of a table may have so many bytes, or so many times those of the file."""


def read_table(path: str | Path) -> dict[bytes, bytes]:
    """
    All keys of a table with their values.

    Raises `ShardwrightValueError` (SW0892) for files that cannot be read or that are no tables, for wrong checksums,
    and for lengths that leave the file, before memory is taken.
    """
    name = str(path)
    if os.path.exists(path) and not os.path.isfile(path):
        raise TableError(name, "is no file")
    try:
        size = Path(path).stat().st_size
        if size > MOST:
            raise TableError(name, f"a table of {size} bytes is larger than any index")
        data = Path(path).read_bytes()
    except OSError as error:
        raise TableError(name, f"cannot be read: {error.strerror}") from None
    if len(data) < FOOTER or struct.unpack("<Q", data[-8:])[0] != MAGIC:
        raise TableError(name, "is no table: its last bytes are others")
    try:
        return _Table(name, data).contents()
    except WireFault as fault:
        raise TableError(name, fault.message) from None


class _Table:
    def __init__(self, file: str, data: bytes) -> None:
        self.file, self.data = file, data
        self._room = max(ALWAYS, EXPANSION * len(data))

    def contents(self) -> dict[bytes, bytes]:
        """All keys with their values."""
        footer = Cursor(memoryview(self.data)[-FOOTER:-8])
        _, _, offset, length = (footer.number(64) for _ in range(4))  # the first two are of another index, an empty one
        found: dict[bytes, bytes] = {}
        end = 0
        for _, handle in self.entries(self.block(offset, length)):
            place = Cursor(memoryview(handle))
            begin, length = place.number(64), place.number(64)
            if begin < end:
                raise TableError(self.file, f"the block at {begin} does not follow those before it")
            found.update(self.entries(self.block(begin, length)))
            end = begin + length + TRAILER
        return found

    def block(self, offset: int, size: int) -> bytes:
        """The contents of a block, whose checksum is right."""
        end = offset + size
        if end + TRAILER > len(self.data) - FOOTER:
            raise TableError(self.file, f"a block of {size} bytes at {offset} leaves the file")
        kind, stored = self.data[end], struct.unpack_from("<I", self.data, end + 1)[0]
        if masked(crc32c(memoryview(self.data)[offset : end + 1])) != stored:
            raise TableError(self.file, f"the checksum of the block at {offset} is wrong")
        body = self.data[offset:end]
        if kind == 0:
            return body
        if kind != 1:
            raise TableError(self.file, f"the block at {offset} has the unknown compression {kind}")
        return self._unpacked(body, offset)

    def _unpacked(self, body: bytes, offset: int) -> bytes:
        size, _ = read_varint(body, 0)
        if size > LARGEST_BLOCK:
            raise TableError(self.file, f"the block at {offset} would expand to {size} bytes")
        try:
            return bytes(package(SNAPPY).snappy.decompress_raw(body))
        except ShardwrightError:
            raise
        except Exception as error:  # cramjam's own class, which is loaded on use
            raise TableError(self.file, f"the block at {offset} cannot be decompressed: {error}") from None

    def entries(self, block: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The keys and values of a block; a key shares its first bytes with the one before."""
        restarts = struct.unpack("<I", block[-4:])[0] if len(block) >= 4 else 0
        if len(block) < 4 + 4 * restarts:
            raise TableError(self.file, "a block ends before its list of restarts")
        cursor = Cursor(memoryview(block)[: len(block) - 4 - 4 * restarts])
        key = b""
        while not cursor.at_end():
            shared, rest, length = cursor.number(64), cursor.number(64), cursor.number(64)
            if shared > len(key):
                raise TableError(self.file, "a key shares more with the one before than that has")
            self._room -= shared + rest + length
            if self._room < 0:
                raise TableError(self.file, f"its keys and values are more than {EXPANSION} times as large as it is")
            key = key[:shared] + cursor.take(rest)
            yield key, bytes(cursor.take(length))
