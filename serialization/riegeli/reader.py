"""Reading riegeli files: record after record, by position, from the end, and around faults."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from shardwright.serialization.closing import Closing
from shardwright.serialization.errors import RiegeliError
from shardwright.serialization.riegeli.chunks import blocks
from shardwright.serialization.riegeli.chunks.chunks import (
    METADATA,
    NO_RECORDS,
    PADDING,
    SIGNATURE,
    SIMPLE,
    TRANSPOSED,
    ChunkHeader,
    Records,
)
from shardwright.serialization.riegeli.chunks.codecs import Buffer
from shardwright.serialization.riegeli.chunks.scan import ChunkScanner
from shardwright.serialization.riegeli.chunks.simple import decode_simple, uncompressed_head
from shardwright.serialization.riegeli.limits import DEFAULT_LIMITS, Limits
from shardwright.serialization.riegeli.streams.source import Source
from shardwright.serialization.riegeli.streams.stream import Stream, is_special
from shardwright.serialization.riegeli.transposed.reading import decode_transposed
from shardwright.serialization.wire import WireFault

SIZE_OF_END = 8
"""What a reader keeps for each record: where it ends."""


@dataclass(frozen=True)
class SkippedRegion:
    """Bytes from `begin` to `end` that recovery left out, and why."""

    begin: int
    end: int
    reason: RiegeliError

    def __str__(self) -> str:
        return f"skipped bytes {self.begin} to {self.end}: {self.reason.message}"


class RecordReader(Closing):
    """
    Reads the records of a path or of a binary file object; of one that cannot seek (a pipe), from its beginning on.

    Iteration gives `bytes`; `views` gives the same records as memoryviews, which copies nothing. Every hash is checked,
    and every block header in a chunk's data; a fault is a `RiegeliError` with its place. With `recovery`, a function of
    a `SkippedRegion`, what cannot be read is left out and told to it instead. `strict` also refuses bytes other than
    zero after a chunk's data, which riegeli itself ignores.

    >>> import io
    >>> from shardwright.serialization.riegeli.writer import RecordWriter
    >>> file = io.BytesIO()
    >>> with RecordWriter(file, "zstd") as writer:
    ...     positions = [writer.write(record) for record in (b"first", b"last")]
    >>> reader = RecordReader(file)
    >>> reader.read(positions[0]), reader.last(), reader.position == positions[1]
    (b'first', b'last', True)
    """

    def __init__(
        self,
        file: Any,
        *,
        recovery: Callable[[SkippedRegion], object] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        strict: bool = False,
    ) -> None:
        self._source = source_of(file)
        self._scanner = ChunkScanner(self._source, strict)
        self._recovery, self._limits = recovery, limits
        self._begin, self._next = 0, 0
        self._records, self._index = NO_RECORDS, 0

    @property
    def name(self) -> str:
        """The file as messages name it."""
        return self._source.name

    @property
    def position(self) -> int:
        """The position of the record that was read last; `seek` and `read` take it."""
        return self._begin + max(self._index - 1, 0)

    @property
    def metadata(self) -> bytes | None:
        """The serialised metadata of the file, or None if it has none."""
        if self._next:
            self._needs_seeking("the metadata, once records were read,")
        header = self._scanner.header(0)
        begin = header.end(0) if header else 0
        header = self._scanner.header(begin) if header else None
        if not self._source.seekable:
            self._next = begin
        if header is None or header.kind != METADATA:
            return None
        metadata = bytes(self._decode(begin, header).view(0))
        if not self._source.seekable:
            self._next = header.end(begin)
        return metadata

    def __iter__(self) -> Iterator[bytes]:
        return map(bytes, self.views())

    def chunks(self) -> Iterator[tuple[int, ChunkHeader]]:
        """Where each chunk begins, and its header; the data of chunks without records are checked, others not read."""
        self.seek_chunk()
        begin = 0
        while (header := self._scanner.header(begin)) is not None:
            if not header.records:
                self._decode(begin, header)
            elif header.end(begin) > self._source.size:
                self._scanner.check(begin, header)
            yield begin, header
            begin = header.end(begin)

    def chunk_at(self, position: int) -> tuple[int, ChunkHeader]:
        """The chunk that has the record at a position: where it begins, and its header; refuses like `seek`."""
        self._needs_seeking("a record by its position")
        return self._containing(position)

    def views(self) -> Iterator[memoryview]:
        """The records from here on, not copied; each stays valid as long as it is kept."""
        while self._advance():
            records = self._records
            values, ends = records.values, records.ends
            while self._records is records and self._index < len(ends):
                index = self._index
                self._index += 1
                yield values[ends[index - 1] if index else 0 : ends[index]]
            del records, values, ends  # let go before the next chunk is made

    def items(self) -> Iterator[tuple[int, memoryview]]:
        """The records from here on with their positions."""
        for view in self.views():
            yield self.position, view

    def seek(self, position: int) -> None:
        """
        Go to the record at a position that `write`, `position` or a chunk list gave: it comes next.

        A position at which no record is (SW0810) is refused, also one that C++ would take for the next record.
        """
        self._needs_seeking("a record by its position")
        begin = self._begin
        if not (begin <= position < begin + len(self._records)):
            begin, header = self._containing(position)
            self._load(begin, header)
        self._index = position - begin

    def seek_chunk(self, begin: int = 0) -> None:
        """Go to the chunk that begins at a place; 0 is the beginning of the file."""
        self._needs_seeking("a chunk by its place")
        self._records, self._index, self._next = NO_RECORDS, 0, begin

    def read(self, position: int) -> bytes:
        """The record at a position; refuses like `seek`."""
        return bytes(self.view(position))

    def view(self, position: int) -> memoryview:
        """The record at a position, not copied."""
        self.seek(position)
        self._index += 1
        return self._records.view(self._index - 1)

    def read_into(self, position: int, buffer: Buffer) -> int:
        """
        The record at a position, written to the front of a buffer that has room for it; returns its size.

        A large record that is not compressed is read straight into the buffer, a compressed one decompressed into it,
        so that only one record's memory is needed. Refuses like `seek`, and a record that is larger (SW0810); if the
        file is damaged the buffer holds anything.

        >>> import io
        >>> from shardwright.serialization.riegeli.writer import RecordWriter
        >>> with RecordWriter(file := io.BytesIO(), "uncompressed") as writer:
        ...     position = writer.write(b"record")
        >>> buffer = bytearray(b"..........")
        >>> RecordReader(file).read_into(position, memoryview(buffer)[2:]), buffer
        (6, bytearray(b'..record..'))
        """
        self._needs_seeking("a record by its position")
        out = memoryview(buffer).cast("B")
        if not (self._begin <= position < self._begin + len(self._records)):
            begin, header = self._containing(position)
            if header.records == 1 and header.kind == SIMPLE and header.decoded_size <= len(out):
                self._load(begin, header, out[: header.decoded_size])
                record, self._records = self._records.view(0), NO_RECORDS
                if record.obj is not out.obj:
                    out[: len(record)] = record
                return len(record)
            self._load(begin, header)
        record = self.view(position)
        if len(record) > len(out):
            message = f"the record at position {position} has {len(record)} bytes, there is room for {len(out)}"
            raise RiegeliError("SW0810", message, self.name, None)
        out[: len(record)] = record
        return len(record)

    @property
    def last_position(self) -> int | None:
        """The position of the last record, found from the end; None in a file without records."""
        return self.last_within(None)

    def last_within(self, most: int | None) -> int | None:
        """The position of the last record, if at most so many chunks without records follow it."""
        self._needs_seeking("the last record")
        place, seen = self._source.size, 0
        while place and (most is None or seen <= most):
            found = self._until(place)
            for begin, header in reversed(found):
                if header.records:
                    return begin + header.records - 1
            place, seen = found[0][0], seen + len(found)
        return None

    def last(self) -> bytes | None:
        """The last record, or None in a file without records."""
        position = self.last_position
        return None if position is None else self.read(position)

    def close(self) -> None:
        """Let go of the file, if it was opened here."""
        self._records, self._index = NO_RECORDS, 0
        self._source.close()

    def _needs_seeking(self, what: str) -> None:
        """A stream is refused; it can only be read from its beginning on."""
        if not self._source.seekable:
            raise RiegeliError("SW0810", f"{what} cannot be read from a stream, which cannot seek", self.name, None)

    def _advance(self) -> bool:
        """Go to the next chunk that has records, unless there are some left here; False at the end."""
        while self._index == len(self._records):
            begin = self._next
            try:
                header = self._scanner.header(begin)
                if header is None:
                    return False
                self._load(begin, header)
            except RiegeliError as error:
                if self._recovery is None:
                    raise
                self._skip(begin, error)
        return True

    def _skip(self, begin: int, error: RiegeliError) -> None:
        assert self._recovery is not None
        place = begin if error.resume is None else error.resume
        size = self._source.size
        gone = place <= begin or place < self._source.earliest
        if error.find_chunk or gone or (place < size and not blocks.is_boundary(place)):
            place = self._scanner.find(max(place, begin + 1))
        self._records, self._index, self._next = NO_RECORDS, 0, min(place, size)
        self._recovery(SkippedRegion(begin, self._next, error))

    def _load(self, begin: int, header: ChunkHeader, out: memoryview | None = None) -> None:
        """Make a chunk the current one; the one before it is let go first. `out` as in `decode_simple`."""
        self._records, self._index = NO_RECORDS, 0
        if header.kind == METADATA:
            self._check(begin, header)
        self._records = NO_RECORDS if header.kind == METADATA else self._decode(begin, header, out)
        self._begin, self._next = begin, header.end(begin)

    def _check(self, begin: int, header: ChunkHeader) -> None:
        """The data of a chunk whose contents do not matter here."""
        self._scanner.check(begin, header)
        if header.kind in (SIGNATURE, METADATA, PADDING) and header.records:
            self._refuse(begin, header, WireFault("a chunk of this kind has no records"))
        empty = header.kind == SIGNATURE and header.data_size
        if empty or (header.kind in (SIGNATURE, PADDING) and header.decoded_size):
            self._refuse(begin, header, WireFault("a chunk of this kind has no contents"))

    def _decode(self, begin: int, header: ChunkHeader, out: memoryview | None = None) -> Records:
        """The records of a chunk; the only record of one, in `out` if that is given."""
        if header.kind not in (SIMPLE, TRANSPOSED, METADATA):
            self._check(begin, header)
            if header.records and header.kind not in (SIGNATURE, PADDING):
                self._refuse(begin, header, WireFault(f"unknown kind of chunk {header.kind}", "SW0806"))
            return NO_RECORDS
        size = max(header.decoded_size, header.records * SIZE_OF_END)
        if self._limits.refuses(header.data_size, size):
            message = f"{header.data_size} bytes would become {header.decoded_size} in {header.records} records"
            self._refuse(begin, header, WireFault(message, "SW0807"))
        head = uncompressed_head(header.decoded_size)
        if out is not None and self._begins_with(begin, header, head):
            self._scanner.fill(begin, header, (memoryview(bytearray(len(head))), out))
            return Records(out, (len(out),))
        data = self._scanner.data(begin, header)
        try:
            if header.kind == SIMPLE:
                return decode_simple(data, header.records, header.decoded_size, out)
            return decode_transposed(data, header.records or int(header.kind == METADATA), header.decoded_size)
        except WireFault as fault:
            self._refuse(begin, header, fault)

    def _begins_with(self, begin: int, header: ChunkHeader, head: bytes) -> bool:
        """Whether a chunk's data are these bytes and its records; anything else is left to the decoders."""
        return header.data_size == len(head) + header.decoded_size and self._scanner.front(begin, len(head)) == head

    def _refuse(self, begin: int, header: ChunkHeader, fault: WireFault) -> NoReturn:
        raise RiegeliError(fault.code, fault.message, self.name, begin, resume=header.end(begin)) from None

    def _containing(self, position: int) -> tuple[int, ChunkHeader]:
        if 0 <= position < self._source.size:
            begin = self._scanner.around(position)
            if begin < self._next <= position:
                begin = self._next
            while begin <= position and (header := self._scanner.header(begin)) is not None:
                if position < begin + header.records:
                    return begin, header
                begin = header.end(begin)
        raise RiegeliError("SW0810", f"there is no record at position {position}", self.name, None)

    def _until(self, place: int) -> list[tuple[int, ChunkHeader]]:
        """The chunks of a block, up to the one that ends at a place or around it, the last that begins before it."""
        begin, found = self._scanner.around(place - 1), list[tuple[int, ChunkHeader]]()
        while (header := self._scanner.header(begin)) is not None:
            found.append((begin, header))
            end = header.end(begin)
            if end >= place:
                if end > self._source.size:
                    self._scanner.check(begin, header)
                return found
            begin = end
        raise RiegeliError("SW0802", "the file ends inside a chunk", self.name, begin, resume=place)


def source_of(file: Any) -> Source | Stream:
    """What bytes are read from: by place where that is possible."""
    if isinstance(file, str | os.PathLike):
        return Stream(open(file, "rb"), owned=True) if is_special(file) else Source(file)
    seekable = file.seekable() if hasattr(file, "seekable") else hasattr(file, "seek")
    return Source(file) if seekable else Stream(file)
