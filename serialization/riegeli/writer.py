"""Writing riegeli files: records into chunks, chunks between block headers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from shardwright.serialization.closing import Committing
from shardwright.serialization.files.atomic import AtomicFile
from shardwright.serialization.hashing.highway import WORTH_A_THREAD, BackgroundHash
from shardwright.serialization.riegeli.chunks import blocks
from shardwright.serialization.riegeli.chunks.chunks import (
    EMPTY_HASH,
    METADATA,
    PADDING,
    SIGNATURE,
    SIMPLE,
    TRANSPOSED,
    ChunkHeader,
    hash_of,
)
from shardwright.serialization.riegeli.chunks.codecs import SNAPPY, Buffer
from shardwright.serialization.riegeli.chunks.simple import encode_simple
from shardwright.serialization.riegeli.limits import STRICT_LIMITS
from shardwright.serialization.riegeli.options import RecordWriterOptions, refuse
from shardwright.serialization.riegeli.streams.sink import Sink, Writable
from shardwright.serialization.riegeli.streams.stream import is_special
from shardwright.serialization.riegeli.transposed.writing import encode_transposed

SIZE_OF_SIZE = 8
HEADERS_AT_ONCE = 256
ZEROS = bytes(blocks.BLOCK)
SMALL_PART = 4096
DEFAULTS = RecordWriterOptions()


class RecordWriter(Committing):
    """
    Writes records to a path or to a binary file object.

    A path is written atomically: it holds the old contents until `close`, which flushes to the disk and renames; after
    an exception in a `with` block nothing has changed. A pipe or a device is written to as it is, a file object from
    where it stands. `options` are `RecordWriterOptions` or riegeli's option text. Without compression the bytes are
    those that C++ writes.

    >>> import io
    >>> file = io.BytesIO()
    >>> with RecordWriter(file, "uncompressed") as writer:
    ...     writer.write(b"a record")
    64
    >>> len(file.getvalue())
    115
    """

    def __init__(self, file: str | os.PathLike[str] | Writable, options: RecordWriterOptions | str = DEFAULTS) -> None:
        self.options = RecordWriterOptions.parse(options) if isinstance(options, str) else options
        path = file if isinstance(file, str | os.PathLike) else None
        special = path if path is not None and is_special(path) else None
        self._opened = open(special, "wb") if special else None  # noqa: SIM115 - `commit` closes it
        self._atomic = AtomicFile(path) if path is not None and not self._opened else None
        file = self._opened or file
        self._sink = Sink(self._atomic.descriptor if self._atomic else file)  # type: ignore[arg-type]
        self._codec = self.options.kind, self.options.effective_level, self.options.window_log
        self._desired = self.options.desired_size
        self._begin = 0 if self._atomic else _place(file)
        self._sizes: list[int] = []
        self._values: list[Buffer] = []
        self._so_far = 0
        self._closed = False
        self._start()

    def _start(self) -> None:
        """The signature and the metadata of a new file, or the padding of one that goes on."""
        if self._begin:
            begin = blocks.round_up(self._begin)
            self._sink.put(bytes(begin - self._begin))
            self._begin = begin
            self._pad(self.options.initial_padding)
            return
        self._chunk(SIGNATURE, [], 0, 0)
        if self.options.metadata is not None:
            metadata = self.options.metadata
            self._chunk(METADATA, encode_transposed([len(metadata)], [metadata], *self._codec), 0, len(metadata))

    @property
    def position(self) -> int:
        """Where the next record would be if it went into the chunk that is open."""
        return self._begin + len(self._sizes)

    def write(self, record: Buffer) -> int:
        """
        Append a record; returns its position, by which `RecordReader.read` finds it again.

        A record of any size is one chunk at most. The buffer may be changed once this returns.
        """
        if record.__class__ is bytes:
            return self._append((record,), len(record), changes=False)
        return self.write_parts((record,))

    def write_parts(self, parts: Sequence[Buffer]) -> int:
        """
        Append one record that lies in several buffers, without joining them; otherwise as `write`.

        >>> import io
        >>> with RecordWriter(file := io.BytesIO(), "uncompressed") as writer:
        ...     _ = writer.write_parts((b"a ", b"record"))
        >>> file.getvalue()[-8:]
        b'a record'
        """
        views = [memoryview(part).cast("B") for part in parts]
        return self._append(views, sum(map(len, views)), not all(isinstance(view.obj, bytes) for view in views))

    def _append(self, parts: Sequence[Buffer], size: int, changes: bool) -> int:
        """A record of so many bytes, in parts that may be changed later or not."""
        if self._closed:
            raise refuse("the writer is closed")
        added = size + SIZE_OF_SIZE
        if self._sizes and self._so_far + added > self._desired:
            self._close_chunk()
        position = self._begin + len(self._sizes)
        closes = self._so_far + added + SIZE_OF_SIZE > self._desired
        self._sizes.append(size)
        self._values += map(bytes, parts) if changes and not closes else parts
        self._so_far += added
        if closes:
            self._close_chunk()
            if changes:
                self._sink.flush()
        return position

    def flush(self) -> None:
        """Close the chunk that is open, pad, and hand everything to the system."""
        if self._sizes:
            self._close_chunk()
        self._pad(self.options.final_padding)
        self._sink.flush()

    def close(self) -> None:
        """Finish the file; a path takes its place only now."""
        self.commit()

    def commit(self) -> None:
        """As `close`."""
        if self._closed:
            return
        try:
            self.flush()
        except BaseException:
            self.discard()
            raise
        self._closed = True
        if self._atomic:
            self._atomic.commit()
        if self._opened:
            self._opened.close()

    def discard(self) -> None:
        """Give up: a path keeps its old contents."""
        if not self._closed and self._atomic:
            self._atomic.discard()
        if self._opened:
            self._opened.close()
        self._closed = True

    def _close_chunk(self) -> None:
        sizes, values, options = self._sizes, self._values, self.options
        self._sizes, self._values, self._so_far = [], [], 0
        size = sum(sizes)
        if options.transpose:
            parts = encode_transposed(sizes, values, *self._codec, options.bucket_size)
        else:
            parts = encode_simple(sizes, values, *self._codec)
        kind = TRANSPOSED if options.transpose else SIMPLE
        if STRICT_LIMITS.refuses(sum(map(len, parts)), max(size, SIZE_OF_SIZE * len(sizes))):
            parts, kind = encode_simple(sizes, values, SNAPPY, 1), SIMPLE
        self._chunk(kind, parts, len(sizes), size)

    def _chunk(self, kind: int, parts: Sequence[Buffer], records: int, decoded_size: int) -> None:
        parts = list(_gathered(parts))
        size = sum(len(part) for part in parts)
        header = ChunkHeader(size, EMPTY_HASH, kind, records, decoded_size)
        begin, end = self._begin, header.end(self._begin)
        zeros = blocks.without_overhead(begin, end) - blocks.CHUNK_HEADER - size
        later = BackgroundHash(size) if self._atomic and size >= WORTH_A_THREAD else None
        if later is None:
            header = replace(header, data_hash=hash_of(parts) if parts else EMPTY_HASH)
        else:
            for part in parts:
                later.update(part)
        for piece in framed(begin, end, [header.pack(), *parts, *_zeros(zeros)]):
            self._sink.put(piece)
        if later is not None:
            self._put_back(begin, end, replace(header, data_hash=later.digest()))
        self._begin = end

    def _put_back(self, begin: int, end: int, header: ChunkHeader) -> None:
        """Write a chunk's header again, now that the hash of its data is known, which was made beside the writing."""
        assert self._atomic is not None
        self._sink.flush()
        for piece in framed(begin, end, [header.pack()]):
            os.pwrite(self._atomic.descriptor, piece, begin)
            begin += len(piece)

    def _pad(self, padding: int) -> None:
        end = blocks.padded_end(self._begin, padding)
        if end != self._begin:
            size = blocks.without_overhead(self._begin, end) - blocks.CHUNK_HEADER
            self._chunk(PADDING, list(_zeros(size)), 0, 0)


def _gathered(parts: Sequence[Buffer]) -> Iterator[Buffer]:
    """Small parts that follow each other as one: to hash and write each takes longer than to copy it."""
    for small, run in groupby(parts, lambda part: len(part) < SMALL_PART):
        if small:
            yield b"".join(run)
        else:
            yield from run


def framed(begin: int, end: int, parts: Sequence[Buffer]) -> Iterator[Buffer]:
    """
    The parts of the chunk from `begin` to `end` with block headers among them; nothing is copied.

    >>> [len(piece) for piece in framed(65500, 65564, [bytes(40)])]
    [36, 24, 4]
    """
    place, headers = begin, _block_headers(begin, end)
    for part in parts:
        view, done = memoryview(part), 0
        while done < len(view):
            left = blocks.remaining_in_block(place)
            if not left:
                yield next(headers)
                place += blocks.BLOCK_HEADER
                left = blocks.USABLE
            piece = view[done : done + left]
            yield piece
            done += len(piece)
            place += len(piece)


def _block_headers(begin: int, end: int) -> Iterator[memoryview]:
    """The block headers of one chunk in their order, made many at a time."""
    first, step = begin + blocks.remaining_in_block(begin), HEADERS_AT_ONCE * blocks.BLOCK
    for block in range(first, end, step):
        count = -(-min(end - block, step) // blocks.BLOCK)
        made = memoryview(blocks.block_headers(begin, end, block, count))
        for place in range(0, len(made), blocks.BLOCK_HEADER):
            yield made[place : place + blocks.BLOCK_HEADER]


def _zeros(size: int) -> Iterator[Buffer]:
    """So many zeros, in pieces of one shared buffer."""
    for done in range(0, size, len(ZEROS)):
        yield memoryview(ZEROS)[: size - done]


def _place(file: object) -> int:
    """Where a file object stands; 0 for one that cannot say."""
    try:
        return file.tell()  # type: ignore[attr-defined]
    except (AttributeError, OSError):
        return 0
