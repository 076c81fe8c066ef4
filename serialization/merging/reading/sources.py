"""Where chunks come from when a message is put together: a file, or objects in memory."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence
from typing import Any, Protocol

from google.protobuf.message import DecodeError, Message

from shardwright.serialization.merging.errors import MergeError
from shardwright.serialization.merging.plan import BYTES_CHUNK, MESSAGE_CHUNK, Part
from shardwright.serialization.merging.reading.chunked_file import ChunkedFile

SMALL = 1 << 20
HUGE_FROM = 1 << 22
LARGEST = (1 << 31) - 1
"""The most bytes that protobuf parses at once or holds in a field."""

LARGEST_MERGED = LARGEST - 32
"""The most bytes of a field that protobuf parses together with the tag and the length in front of them."""


class ChunkSource(Protocol):
    """Chunks by their numbers."""

    @property
    def name(self) -> str | None:
        """The file as messages name it."""
        ...

    def size(self, chunk: int, part: Part) -> int:
        """The size of a chunk of bytes."""
        ...

    def read_into(self, chunk: int, buffer: memoryview, part: Part) -> None:
        """Copy a chunk of bytes into a buffer of its size."""
        ...

    def merge_into(self, chunk: int, message: Message, part: Part) -> None:
        """Merge a message chunk into a message of its type."""
        ...


class FileSource:
    """The chunks of an open file."""

    def __init__(self, file: ChunkedFile) -> None:
        self.file, self.name = file, file.name

    def size(self, chunk: int, part: Part) -> int:
        """The size of a chunk, which its record may have."""
        if self.file.sizes[chunk] >= SMALL:
            self.file.check_bound(chunk, part)
        return self.file.sizes[chunk]

    def read_into(self, chunk: int, buffer: memoryview, part: Part) -> None:
        """Read a chunk into a buffer of its size."""
        self.file.read_into(chunk, buffer, part)

    def merge_into(self, chunk: int, message: Message, part: Part) -> None:
        """
        Merge a message chunk into a message.

        A large one is read into a `bytearray`, which protobuf parses where it is; other buffers it copies first.
        """
        size = self.size(chunk, part)
        if size > LARGEST:
            message_text = f"{size} bytes are more than protobuf can parse at once"
            raise self.file.error("SW0839", message_text, chunk, part)
        if size < SMALL:
            data: bytes | bytearray = bytes(self.file.view(chunk, part))
        else:
            data = fresh_bytes(size)
            with memoryview(data) as buffer:
                self.file.read_into(chunk, buffer, part)
        merge_bytes(message, data, self.name, chunk, part)


class MemorySource:
    """Chunks that are messages and bytes in memory."""

    name: str | None = None

    def __init__(self, chunks: Sequence[Any]) -> None:
        self._chunks = chunks
        self.kinds = bytearray(MESSAGE_CHUNK if isinstance(chunk, Message) else BYTES_CHUNK for chunk in chunks)
        for number, chunk in enumerate(chunks):
            if not isinstance(chunk, Message | bytes | bytearray | memoryview):
                text = f"a chunk is a message or bytes, not {type(chunk).__name__}"
                raise MergeError("SW0846", text, chunk=number)

    def size(self, chunk: int, part: Part) -> int:
        """The size of a chunk of bytes."""
        return memoryview(self._chunks[chunk]).nbytes

    def read_into(self, chunk: int, buffer: memoryview, part: Part) -> None:
        """Copy a chunk of bytes into a buffer of its size."""
        buffer[:] = memoryview(self._chunks[chunk]).cast("B")

    def merge_into(self, chunk: int, message: Message, part: Part) -> None:
        """Merge a message chunk into a message, which must be of the same type."""
        found: Message = self._chunks[chunk]
        if found.DESCRIPTOR is not message.DESCRIPTOR:
            text = f"a {found.DESCRIPTOR.full_name} cannot be merged into a {message.DESCRIPTOR.full_name}"
            raise MergeError("SW0838", text, chunk=chunk, path=part.path)
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
