"""Chunks: their header of 40 bytes, and what is inside of a simple one."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from shardwright.serialization.hashing import HighwayHash64, highwayhash64
from shardwright.serialization.riegeli.chunks.blocks import chunk_end

SIGNATURE, METADATA, PADDING, SIMPLE, TRANSPOSED = b"smprt"

EMPTY_HASH = 0x72C3B1E9C0139FE1


@dataclass(frozen=True)
class ChunkHeader:
    """What a chunk's header says, less its own hash."""

    data_size: int
    data_hash: int
    kind: int
    records: int
    decoded_size: int

    def pack(self) -> bytes:
        """
        The header's 40 bytes.

        >>> ChunkHeader(0, EMPTY_HASH, SIGNATURE, 0, 0).pack()[:8].hex()
        '91bac23c9287e1a9'
        """
        kind = self.kind | self.records << 8
        fields = struct.pack("<4Q", self.data_size, self.data_hash, kind, self.decoded_size)
        return struct.pack("<Q", highwayhash64(fields)) + fields

    def end(self, begin: int) -> int:
        """Where the chunk ends that begins at a place."""
        return chunk_end(begin, self.data_size, self.records)


def unpack_header(data: bytes) -> tuple[ChunkHeader, int, int]:
    """A header of 40 bytes, the hash that it states and the hash that it has."""
    stated, size, data_hash, kind, decoded = struct.unpack("<5Q", data)
    return ChunkHeader(size, data_hash, kind & 0xFF, kind >> 8, decoded), stated, highwayhash64(data[8:])


@dataclass(frozen=True)
class Records:
    """The records of one chunk: their bytes in one buffer, and where each ends."""

    values: memoryview
    ends: Sequence[int]

    def __len__(self) -> int:
        return len(self.ends)

    def view(self, index: int) -> memoryview:
        """One record, not copied."""
        return self.values[self.ends[index - 1] if index else 0 : self.ends[index]]


NO_RECORDS = Records(memoryview(b""), array("Q"))


def hash_of(parts: Sequence[bytes | bytearray | memoryview]) -> int:
    """The hash of the parts, one after the other."""
    if len(parts) == 1:
        return highwayhash64(parts[0])
    hasher = HighwayHash64()
    for part in parts:
        hasher.update(part)
    return hasher.digest()
