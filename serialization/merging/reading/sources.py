"""Where chunks come from when a message is put together: a file, or objects in memory."""

from __future__ import annotations

import ctypes
import mmap
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError, Message

from shardwright.serialization.errors import MergeError
from shardwright.serialization.merging.plan import BYTES_CHUNK, MESSAGE_CHUNK, Part

SMALL = 1 << 20
HUGE_FROM = 1 << 22
LARGEST = (1 << 31) - 1
"""The most bytes that protobuf parses at once or holds in a field."""

LARGEST_MERGED = LARGEST - 32
"""The most bytes of a field that protobuf parses together with the tag and the length in front of them."""


class ChunkSource:
    """Chunks by their numbers: those of a file, or in memory."""

    name = ""
    """The file as messages name it."""

    kinds: bytearray
    sizes: array[int]
    positions: array[int]

    def error(self, code: str, message: str, chunk: int | None = None, part: Part | None = None) -> MergeError:
        """A fault of these chunks."""
        return MergeError(code, message, file=self.name or None, chunk=chunk, path=part.path if part else None)

    def view(self, chunk: int, part: Part | None = None) -> memoryview:
        """The bytes of a chunk, in memory that stays theirs."""
        raise NotImplementedError

    def size(self, chunk: int, part: Part) -> int:
        """The size of a chunk, which it may have."""
        return self.sizes[chunk]

    def read_into(self, chunk: int, buffer: memoryview, part: Part | None = None) -> None:
        """The bytes of a chunk into a buffer of its size."""
        buffer[:] = self.view(chunk, part)

    def merge_into(self, chunk: int, message: Message, part: Part) -> None:
        """
        Merge a message chunk into a message of its type.

        A large one is read into a `bytearray`, which protobuf parses where it is; other buffers it copies first.
        """
        size = self.size(chunk, part)
        if size > LARGEST:
            raise self.error("SW0839", f"{size} bytes are more than protobuf can parse at once", chunk, part)
        if size < SMALL:
            data: bytes | bytearray = bytes(self.view(chunk, part))
        else:
            data = fresh_bytes(size)
            with memoryview(data) as buffer:
                self.read_into(chunk, buffer, part)
        merge_bytes(message, data, self.name or None, chunk, part)


class WholeFile(ChunkSource):
    """A `.pb` file, looked at as a file of one chunk."""

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), path
        self.kinds, self.positions = bytearray((MESSAGE_CHUNK,)), array("Q", [0])
        self.sizes = array("Q", [path.stat().st_size])

    def view(self, chunk: int, part: Part | None = None) -> memoryview:
        try:
            return memoryview(self._path.read_bytes())
        except OSError as error:
            raise self.error("SW0830", f"it cannot be read ({error.strerror})") from None

    def close(self) -> None:
        """Nothing stays open."""


class MemorySource(ChunkSource):
    """Chunks that are messages and bytes in memory."""

    def __init__(self, chunks: Sequence[Any]) -> None:
        self._chunks = chunks
        self.kinds = bytearray(MESSAGE_CHUNK if isinstance(chunk, Message) else BYTES_CHUNK for chunk in chunks)
        for number, chunk in enumerate(chunks):
            if not isinstance(chunk, Message | bytes | bytearray | memoryview):
                text = f"a chunk is a message or bytes, not {type(chunk).__name__}"
                raise self.error("SW0846", text, number)

    def view(self, chunk: int, part: Part | None = None) -> memoryview:
        return memoryview(self._chunks[chunk]).cast("B")

    def size(self, chunk: int, part: Part) -> int:
        return memoryview(self._chunks[chunk]).nbytes

    def merge_into(self, chunk: int, message: Message, part: Part) -> None:
        found: Message = self._chunks[chunk]
        if found.DESCRIPTOR is not message.DESCRIPTOR:
            text = f"a {found.DESCRIPTOR.full_name} cannot be merged into a {message.DESCRIPTOR.full_name}"
            raise self.error("SW0838", text, chunk, part)
        message.MergeFrom(found)


def fresh_bytes(size: int) -> bytearray:
    """A `bytearray` whose pages, large ones, are made when they are written; `bytearray(size)` would write zeros."""
    make: Any = ctypes.pythonapi.PyByteArray_FromStringAndSize
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_ssize_t)
    data: bytearray = make(None, size)
    if size >= HUGE_FROM and hasattr(mmap, "MADV_HUGEPAGE"):
        begin = ctypes.addressof(ctypes.c_char.from_buffer(data))
        first = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE
        advise: Any = ctypes.CDLL(None).madvise
        advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        advise(first, begin + size - first, mmap.MADV_HUGEPAGE)
    return data


def merge_bytes(
    message: Message, data: bytes | bytearray, file: str | None, chunk: int | None, part: Part | None
) -> None:
    """Parse a serialised message into a message that may have contents."""
    try:
        message.MergeFromString(data)  # type: ignore[arg-type]
    except DecodeError as error:
        text = f"it cannot be parsed as a {message.DESCRIPTOR.full_name} ({error})"
        raise MergeError("SW0839", text, file=file, chunk=chunk, path=part.path if part else None) from None
