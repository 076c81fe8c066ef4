"""Chunks put together again: `Merger`, with the RFC's methods."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from google.protobuf.message import DecodeError, Message

from shardwright.serialization.errors import MergeError
from shardwright.serialization.fields import type_of
from shardwright.serialization.merging.assembling import Assembler
from shardwright.serialization.merging.plan import Part, Planner
from shardwright.serialization.merging.reading.chunked_file import LIMITS, ChunkedFile
from shardwright.serialization.merging.reading.files import WHOLE, find_file
from shardwright.serialization.merging.reading.sources import (
    LARGEST,
    ChunkSource,
    MemorySource,
    merge_bytes,
)
from shardwright.serialization.protos import chunk_pb2
from shardwright.serialization.riegeli import Limits


class Merger:
    """
    Puts chunked messages together (RFC "Unbound SavedModel", Public C++ API).

    All methods fill a message that must be empty; after an error it is empty again. Every refusal is a `MergeError`.

    >>> from shardwright.serialization.protos import graph_pb2
    >>> chunked = chunk_pb2.ChunkedMessage(chunk_index=0)
    >>> runs = [graph_pb2.GraphDef(node=[graph_pb2.NodeDef(name=name)]) for name in "ab"]
    >>> chunked.chunked_fields.add().message.chunk_index = 1
    >>> Merger.merge(runs, chunked, graph := graph_pb2.GraphDef())
    >>> [node.name for node in graph.node]
    ['a', 'b']
    """

    @staticmethod
    def merge(
        chunks: Sequence[Message | bytes], chunked_message: chunk_pb2.ChunkedMessage, merged_message: Message
    ) -> None:
        """Merge chunks that are in memory, as `Splitter.split` returns them."""
        _check_empty(merged_message)
        if not isinstance(cast("Any", chunked_message), chunk_pb2.ChunkedMessage):
            raise MergeError("SW0846", f"chunked_message is a ChunkedMessage, not {type(chunked_message).__name__}")
        if any(chunk is merged_message for chunk in chunks):
            raise MergeError("SW0846", "a chunk is the message to merge into")
        source = MemorySource(chunks)
        parts = Planner(type_of(merged_message), source.kinds).plan(chunked_message)
        _assemble(parts, source, merged_message)

    @staticmethod
    def read(prefix: str | os.PathLike[str], merged_message: Message, *, limits: Limits = LIMITS) -> None:
        """
        Read `prefix.pb` or `prefix.cpb` (or the path of one of them) into a message of the type that was written.

        Every byte of the file is checked; beside the message there is at most the largest record in memory. `limits`
        says how much a compressed chunk may expand.
        """
        _check_empty(merged_message)
        path = find_file(prefix)
        if path.suffix == WHOLE:
            _read_whole(path, merged_message)
        else:
            with ChunkedFile(path, limits) as file:
                _read_chunks(file, merged_message)

    @staticmethod
    def read_chunked_from_string(data: bytes | bytearray | memoryview, merged_message: Message) -> None:
        """Read the contents of a `.cpb` file that are in memory."""
        _check_empty(merged_message)
        with ChunkedFile(io.BytesIO(data)) as file:
            _read_chunks(file, merged_message)

    @staticmethod
    def read_partial(
        prefix: str | os.PathLike[str], merged_message: Message, chunk_metadata: chunk_pb2.ChunkMetadata | None = None
    ) -> None:
        """
        Read a part of a `.cpb` file: what `chunk_metadata` names, with the chunks of the file's own list; without it
        the first chunk of all, which has everything that was not put into other chunks. Required fields may be missing.

        SW0847 for a `.pb` file, which has no parts, and for a file in which the message itself is no chunk.
        """
        _check_empty(merged_message)
        path = find_file(prefix)
        if path.suffix == WHOLE:
            raise MergeError("SW0847", "it has no chunks, so there are no parts to read", file=str(path))
        with ChunkedFile(path) as file:
            tree = file.root() if chunk_metadata is None else chunk_metadata.message
            if chunk_metadata is not None:
                file.check_same_chunks(chunk_metadata)
            parts = Planner(type_of(merged_message), file.kinds, file.name).plan(tree, partial=True)
            _assemble(parts, file, merged_message, partial=True)


def read_metadata(path: str | os.PathLike[str]) -> chunk_pb2.ChunkMetadata:
    """The `ChunkMetadata` of a `.cpb` file, checked as far as it can be without the type of the message."""
    found = find_file(path)
    if found.suffix == WHOLE:
        raise MergeError("SW0847", "it has no chunks, so it has no metadata", file=str(found))
    with ChunkedFile(found) as file:
        try:
            return chunk_pb2.ChunkMetadata.FromString(bytes(file.metadata))
        except DecodeError as error:  # the tree has been looked at from outside only
            raise file.no_metadata(error) from None


def _read_chunks(file: ChunkedFile, message: Message) -> None:
    file.check_records()
    _assemble(file.plan(type_of(message)), file, message)


def _check_empty(message: Any) -> None:
    """Indices of a file would mean other elements in a message that has some."""
    if not isinstance(message, Message):
        raise MergeError("SW0846", f"what chunks are merged into is a message, not {message!r}")
    if message.ListFields():
        text = f"the {message.DESCRIPTOR.full_name} to merge into is not empty"
        raise MergeError("SW0846", text)


def _assemble(parts: list[Part], source: ChunkSource, message: Message, *, partial: bool = False) -> None:
    """Put parts into an empty message, and leave it empty if that fails."""
    try:
        Assembler(message, source).put(parts)
        if not partial:
            check_required(message, source.name)
    except BaseException:
        message.Clear()
        raise


def check_required(message: Message, file: str | None) -> None:
    if not message.IsInitialized():
        missing = ", ".join(message.FindInitializationErrors()[:10])  # type: ignore[attr-defined]
        raise MergeError("SW0842", f"required fields are missing: {missing}", file=file)


def _read_whole(path: Path, message: Message) -> None:
    size = path.stat().st_size
    if size > LARGEST:
        raise MergeError("SW0839", f"{size} bytes are more than protobuf can parse at once", file=str(path))
    data = bytearray(size)
    with path.open("rb") as stream:
        if stream.readinto(data) != size or stream.read(1):
            raise MergeError("SW0832", "it changed while it was read", file=str(path))
    try:
        merge_bytes(message, data, str(path), None, None)
        check_required(message, str(path))
    except MergeError:
        message.Clear()
        raise
