"""Reading sorted tables of keys and values (LevelDB's file format), in which TensorFlow's checkpoints list tensors."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from shardwright.diagnostics import Diagnostic, ShardwrightError, ShardwrightValueError
from shardwright.diagnostics.registry import ENTRIES
from shardwright.serialization.riegeli.chunks.codecs import SNAPPY, package
from shardwright.serialization.tables.crc32c import crc32c, masked

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


class TableError(ShardwrightValueError):
    """A table or checkpoint that cannot be read (SW0892): `file` says which one."""

    def __init__(self, file: str, message: str) -> None:
        super().__init__(Diagnostic("SW0892", f"{file}: {message}", help=ENTRIES["SW0892"].help))
        self.file = file


def read_table(path: str | Path) -> dict[bytes, bytes]:
    """
    All keys of a table with their values.

    Raises `ShardwrightValueError` (SW0892) for files that cannot be read or that are no tables, for wrong checksums,
    and for lengths that leave the file, before memory is taken.
    """
    name = str(path)
    if Path(path).exists() and not Path(path).is_file():
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
    table = _Table(name, data)
    footer = _Cursor(name, data[-FOOTER:-8])
    _, _, offset, length = (footer.varint() for _ in range(4))  # the first two are of another index, which is empty
    index = table.block(offset, length)
    found: dict[bytes, bytes] = {}
    end = 0
    for _, handle in table.entries(index):
        place = _Cursor(name, handle)
        begin, length = place.varint(), place.varint()
        if begin < end:
            raise TableError(name, f"the block at {begin} does not follow those before it")
        found.update(table.entries(table.block(begin, length)))
        end = begin + length + TRAILER
    return found


class _Cursor:
    """Bytes that are read from front to back; nothing behind their end."""

    def __init__(self, file: str, data: bytes) -> None:
        self.file, self.data, self.at = file, data, 0

    def varint(self) -> int:
        value = shift = 0
        while True:
            if self.at >= len(self.data) or shift > 63:
                raise TableError(self.file, "a number has no end")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise TableError(self.file, f"{count} bytes are said to follow, and there are {len(self.data) - self.at}")
        self.at += count
        return self.data[self.at - count : self.at]


class _Table:
    def __init__(self, file: str, data: bytes) -> None:
        self.file, self.data = file, data
        self._room = max(ALWAYS, EXPANSION * len(data))

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
        size = _Cursor(self.file, body).varint()
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
        cursor = _Cursor(self.file, block[: len(block) - 4 - 4 * restarts])
        key = b""
        while cursor.at < len(cursor.data):
            shared, rest, length = cursor.varint(), cursor.varint(), cursor.varint()
            if shared > len(key):
                raise TableError(self.file, "a key shares more with the one before than that has")
            self._room -= shared + rest + length
            if self._room < 0:
                raise TableError(self.file, f"its keys and values are more than {EXPANSION} times as large as it is")
            key = key[:shared] + cursor.take(rest)
            yield key, cursor.take(length)
