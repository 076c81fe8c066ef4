"""Reading and writing modules whose constants are larger than memory has room for twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader, BytesIO
from pathlib import Path

from google.protobuf.message import DecodeError
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from shardwright.serialization.errors import MergeError
from shardwright.serialization.fields import type_of
from shardwright.serialization.ir.proto import module_from_proto, read_message
from shardwright.serialization.ir.splitter import IrSplitter
from shardwright.serialization.merging.assembling import Assembler
from shardwright.serialization.merging.merger import Merger
from shardwright.serialization.merging.plan import Part
from shardwright.serialization.merging.reading.chunked_file import ChunkedFile
from shardwright.serialization.merging.reading.files import WHOLE, find_file
from shardwright.serialization.merging.reading.sources import merge_bytes
from shardwright.serialization.protos import ir_pb2
from shardwright.serialization.riegeli import RecordWriterOptions
from shardwright.serialization.splitting.writing import Progress
from shardwright.serialization.wire import Bytes, WireFault, fields

__all__ = ["IrSplitter", "read_module", "write_module"]

BLOBS, DATA = ir_pb2.Module.BLOBS_FIELD_NUMBER, ir_pb2.Blob.DATA_FIELD_NUMBER
AT_ONCE = 1 << 26
"""A `.pb` file up to this size is parsed as a whole."""


def write_module(
    module: ModuleOp,
    prefix: str | os.PathLike[str],
    context: Context | None = None,
    *,
    writer_options: RecordWriterOptions | str | None = None,
    max_size: int | None = None,
    chunk_size: int | None = None,
    on_progress: Progress | None = None,
) -> Path:
    """
    Write a module to `prefix.pb`, or to `prefix.cpb` if it has more than `max_size` bytes (1 GiB); returns the path.

    The file is what `Splitter` writes for the module's message; in memory there is one message chunk beyond the module.
    Raises like `module_to_proto` and `ComposableSplitter.write`.
    """
    splitter = IrSplitter(module, context, max_size=max_size, chunk_size=chunk_size)
    return Path(splitter.write(prefix, writer_options, on_progress=on_progress))


def read_module(prefix: str | os.PathLike[str], context: Context | None = None, *, verify: bool = False) -> ModuleOp:
    """
    The module in `prefix.pb` or `prefix.cpb`; each constant is read to where it stays, and nothing else is large.

    Raises `MergeError` for a file that is no message in chunks, and like `module_from_proto`.

    >>> import tempfile
    >>> from shardwright.dialects.text.parsing import parse_module
    >>> prefix = Path(tempfile.mkdtemp()) / "module"
    >>> write_module(parse_module("func.func @main() { return }"), prefix).name
    'module.pb'
    >>> [op.name for op in read_module(prefix).body.block.ops]
    ['func.func']
    """
    path = find_file(prefix)
    if path.suffix != WHOLE:
        with ChunkedFile(path) as file:
            file.check_records()
            pieces = _Pieces(file)
            if not pieces.other:
                return read_message(pieces.message, pieces.payload, len(pieces.blobs), context, verify=verify)
    elif path.stat().st_size > AT_ONCE:
        with path.open("rb") as stream:
            return _read_whole(stream, str(path), context, verify)
    message = ir_pb2.Module()
    Merger.read(path, message)
    return module_from_proto(message, context, verify=verify)


def _read_whole(stream: BufferedReader, name: str, context: Context | None, verify: bool) -> ModuleOp:
    """The module of a large message in one piece, whose blobs stay in the file until they are needed."""
    try:
        message, blobs = _without_blobs(stream, os.fstat(stream.fileno()).st_size)
    except (WireFault, DecodeError) as fault:
        raise MergeError("SW0839", f"it cannot be parsed as a module: {fault}", file=name) from None

    def payload(places: Sequence[int]) -> bytes:
        found = [blobs[place] for place in places]

        def fill(buffer: memoryview) -> None:
            for begin, size in found:
                stream.seek(begin)
                if stream.readinto(buffer[:size]) != size:
                    raise MergeError("SW0832", "it changed while it was read", file=name)
                buffer = buffer[size:]

        return filled(sum(size for _, size in found), fill)

    return read_message(message, payload, len(blobs), context, verify=verify)


def _without_blobs(stream: BufferedReader, size: int) -> tuple[ir_pb2.Module, list[tuple[int, int]]]:
    """A message in one piece, without its blobs, and where the data of each of them begin, and their size."""
    message, blobs, start = ir_pb2.Module(), list[tuple[int, int]](), 0
    for begin, data, data_end, end in _blob_places(_Bytes(stream, size)):
        message.MergeFromString(_between(stream, start, begin))
        blobs.append((data, data_end - data))
        start = end
    message.MergeFromString(_between(stream, start, size))
    return message, blobs


def _between(stream: BufferedReader, begin: int, end: int) -> bytes:
    stream.seek(begin)
    return stream.read(end - begin)


class _Bytes:
    """The bytes of a file, one at a time: enough to see where its fields are."""

    def __init__(self, stream: BufferedReader, size: int) -> None:
        self._stream, self._size = stream, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: int) -> int:
        if self._stream.tell() != place:
            self._stream.seek(place)
        byte = self._stream.read(1)
        if not byte:
            raise WireFault("it changed while it was read")
        return byte[0]


class _Pieces:
    """
    A module's message without its blobs, and where these are.

    `other` says that the file has blobs in a way that no splitter of ours writes.
    """

    def __init__(self, file: ChunkedFile) -> None:
        self.message, self.blobs = ir_pb2.Module(), list[tuple[Part, int, int]]()
        """For each blob its chunk, and where in the chunk its data begin and end."""
        self._source = file
        self._run, self._buffer = -1, bytearray()
        parts = file.plan(type_of(self.message))
        for part in parts:
            if not part.key:
                self._merge(part)
        self.other = not all(self._take(part) for part in parts if part.key[:1] == (BLOBS,) and part.chunk >= 0)
        if not self.other:
            Assembler(self.message, self._source).put([part for part in parts if part.key and part.key[0] != BLOBS])

    def _merge(self, part: Part) -> None:
        """A chunk of the module's own type: its blobs stay in the file."""
        piece, view = ir_pb2.Module(), self._load(part)
        merge_bytes(piece, bytes(view), self._source.name, part.chunk, part)
        if piece.blobs:
            piece.ClearField("blobs")
            try:
                self.blobs.extend((part, begin, end) for _, begin, end, _ in _blob_places(view))
            except WireFault as fault:
                raise MergeError("SW0839", str(fault), file=self._source.name, chunk=part.chunk) from None
        self.message.MergeFrom(piece)

    def _take(self, part: Part) -> bool:
        """A chunk that is the data of one blob, which must not have any yet."""
        index = part.key[1]
        if part.key != (BLOBS, index, DATA) or not isinstance(index, int) or index >= len(self.blobs):
            return False
        _, begin, end = self.blobs[index]
        self.blobs[index] = part, 0, self._source.size(part.chunk, part)
        return begin == end

    def _load(self, part: Part) -> memoryview:
        """A chunk, in memory that the next one takes: holes among the constants would stay."""
        size = self._source.size(part.chunk, part)
        if part.chunk != self._run:
            self._run = -1
            if len(self._buffer) < size:
                self._buffer = bytearray(size)
            self._source.read_into(part.chunk, memoryview(self._buffer)[:size], part)
            self._run = part.chunk
        return memoryview(self._buffer)[:size]

    def payload(self, places: Sequence[int]) -> bytes:
        """The data of some blobs, one behind the other."""
        found = [self.blobs[place] for place in places]

        def fill(buffer: memoryview) -> None:
            for part, begin, end in found:
                into, buffer = buffer[: end - begin], buffer[end - begin :]
                if part.key:
                    self._source.read_into(part.chunk, into, part)
                else:
                    into[:] = self._load(part)[begin:end]

        if len(found) == 1 and not found[0][0].key:
            part, begin, end = found[0]
            return bytes(self._load(part)[begin:end])
        return filled(sum(end - begin for _, begin, end in found), fill)


def _blob_places(data: Bytes) -> Iterator[tuple[int, int, int, int]]:
    """Each blob of a serialised module: where it begins, where its data begin and end, and where it ends."""
    for tag, begin, _, contents, end in fields(data):
        if tag >> 3 == BLOBS:
            inside = [(here, stop) for kind, _, _, here, stop in fields(data, contents, end) if kind >> 3 == DATA]
            yield begin, *(inside[-1] if inside else (contents, contents)), end


def filled(size: int, fill: Callable[[memoryview], object]) -> bytes:
    """
    Bytes of a size that a function writes to where they stay: nothing is copied.

    >>> filled(3, lambda buffer: buffer.__setitem__(slice(None), b"abc"))
    b'abc'
    """
    stream = BytesIO()
    if size:
        stream.seek(size - 1)
        stream.write(b"\0")
        with stream.getbuffer() as buffer:
            fill(buffer)
    return stream.getvalue()
