"""
What goes where: the tree of a chunked message as one list of parts, checked, in the order of merging.

The RFC says that what is for one field is joined "in the order that they appear", and that "the chunk ordering is
important for merging". Files show what that means: TensorFlow writes large nodes before the runs of nodes that they
belong into, and puts a whole library before the runs of its functions by inserting its chunk. So parts are merged from
the outside in: a path before all that it begins, indices upwards, and what is for one path in the order of the chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from google.protobuf.descriptor import Descriptor

from shardwright.serialization.errors import MergeError
from shardwright.serialization.fields import FieldTagError, Key, from_tags
from shardwright.serialization.merging.reading.pieces import parsed, runs
from shardwright.serialization.merging.shapes import Kind, Mismatch, Shape, follow, root_shape
from shardwright.serialization.protos import chunk_pb2
from shardwright.serialization.wire import WireFault

PIECE = 1 << 16
MOST_NESTED = 100
MOST_MEMBERS = 400
"""Members of one path: protobuf nests no message as deep as that."""

CHUNK_INDEX, CHUNKED_FIELDS = 1, 2
FIELD_TAG, MESSAGE = 1, 3
MESSAGE_CHUNK, BYTES_CHUNK = chunk_pb2.ChunkInfo.MESSAGE, chunk_pb2.ChunkInfo.BYTES


class Part(NamedTuple):
    """A place in the message and the chunk for it; without a chunk the place is only there."""

    key: Key
    chunk: int
    """The chunk's number, -1 without one."""
    shape: Shape

    @property
    def path(self) -> str:
        """The place as text."""
        return self.shape.text(self.key)


class Planner:
    """
    Turns a `ChunkedMessage`, as an object or as its bytes, into parts.

    `kinds` has the type of each chunk. Each chunk must be used once, by a part of its kind. Raises `MergeError`: SW0836
    for numbers of chunks, SW0837 for paths, SW0838 for chunks of another kind than their place, SW0843 for depth.
    """

    def __init__(self, descriptor: Descriptor, kinds: Sequence[int], file: str | None = None) -> None:
        self._descriptor, self._kinds, self._file = descriptor, kinds, file
        self._root = root_shape(descriptor)
        self._used = bytearray(len(kinds))
        self._parts = list[Part]()

    def plan(self, chunked: chunk_pb2.ChunkedMessage | memoryview, *, partial: bool = False) -> list[Part]:
        """The parts in the order of merging; if `partial`, chunks may be unused."""
        self._any(chunked, (), self._root, 0)
        if not partial and (unused := self._used.find(0)) >= 0:
            raise self._error("SW0836", "no field uses this chunk", unused)
        self._parts.sort(key=lambda part: (part.key, part.chunk))
        return self._parts

    def _any(self, chunked: chunk_pb2.ChunkedMessage | memoryview, key: Key, shape: Shape, depth: int) -> None:
        """A message of the tree: an object, or its bytes if it is large, which are parsed piece by piece."""
        if depth > MOST_NESTED or len(key) > MOST_MEMBERS:
            raise self._error("SW0843", f"chunked messages are nested more than {MOST_NESTED} deep")
        if isinstance(chunked, memoryview):
            self._serialised(chunked, key, shape, depth)
            return
        index = chunked.chunk_index if chunked.HasField("chunk_index") else None
        self._use(index, key, shape, bool(chunked.chunked_fields) or not depth)
        self._fields(chunked, key, shape, depth)

    def _serialised(self, data: memoryview, key: Key, shape: Shape, depth: int) -> None:
        index, more = None, not depth
        for number, piece, large in runs(data, PIECE):
            if number == CHUNK_INDEX and not large:
                index = parsed(chunk_pb2.ChunkedMessage, piece).chunk_index
                continue
            if number != CHUNKED_FIELDS:
                raise WireFault(f"a ChunkedMessage has no field {number}")
            more = True
            if large:
                self._large_field(piece, key, shape, depth)
            else:
                self._fields(parsed(chunk_pb2.ChunkedMessage, piece), key, shape, depth)
        self._use(index, key, shape, more)

    def _large_field(self, data: memoryview, key: Key, shape: Shape, depth: int) -> None:
        """A chunked field that is large, since much is nested in it."""
        field, message = chunk_pb2.ChunkedField(), memoryview(b"")
        for number, piece, large in runs(data, PIECE):
            if number == FIELD_TAG and not large and not field.field_tag:
                field = parsed(chunk_pb2.ChunkedField, piece)
            elif number == MESSAGE and large and not message:
                message = piece
            else:
                raise WireFault("it has a chunked field that no splitter writes")
        members, there = self._follow(field, key, shape)
        self._any(message, key + members, there, depth + 1)

    def _fields(self, chunked: chunk_pb2.ChunkedMessage, key: Key, shape: Shape, depth: int) -> None:
        for field in chunked.chunked_fields:
            members, there = self._follow(field, key, shape)
            message = field.message
            if message.chunked_fields:
                self._any(message, key + members, there, depth + 1)
            else:
                self._use(message.chunk_index if message.HasField("chunk_index") else None, key + members, there, False)

    def _follow(self, field: chunk_pb2.ChunkedField, key: Key, shape: Shape) -> tuple[Key, Shape]:
        """Where a chunked field's tags lead from a place."""
        tags = field.field_tag
        if len(tags) > MOST_MEMBERS:
            raise self._error("SW0843", f"a path has {len(tags)} tags", None, key, shape)
        try:
            members, there = follow(shape, tags)
            return tuple(members), there
        except (Mismatch, FieldTagError):
            if shape.message is None:
                raise self._error("SW0837", f"fields are nested in {shape.kind.value}", None, key, shape) from None
            raise self._mismatch(field, key, shape) from None

    def _mismatch(self, field: chunk_pb2.ChunkedField, key: Key, shape: Shape) -> MergeError:
        assert shape.message is not None
        chunk = field.message.chunk_index if field.message.HasField("chunk_index") else None
        try:
            from_tags(shape.message, field.field_tag)
        except FieldTagError as error:
            message = error.diagnostics[0].message
            if error.code == "SW0811":
                message = f"field not found in message descriptor: {message}"
            return self._error("SW0837", message, chunk, key, shape)
        raise AssertionError("tags that can be followed were refused")

    def _use(self, index: int | None, key: Key, shape: Shape, more: bool) -> None:
        """A chunk goes to a place; or none, if there are more fields inside of it."""
        if index is None:
            if not more:
                raise self._error("SW0836", "no chunk is named for this field", None, key, shape)
            if shape.kind is not Kind.MESSAGE:
                raise self._error("SW0837", f"fields are nested in {shape.kind.value}", None, key, shape)
            if key:
                self._parts.append(Part(key, -1, shape))
            return
        if index >= len(self._kinds):
            raise self._error("SW0836", f"there are only {len(self._kinds)} chunks", index, key, shape)
        if self._used[index]:
            raise self._error("SW0836", "this chunk is used a second time", index, key, shape)
        self._used[index] = 1
        self._check_kind(index, key, shape)
        self._parts.append(Part(key, index, shape))

    def _check_kind(self, chunk: int, key: Key, shape: Shape) -> None:
        """Messages go to messages and bytes to values."""
        if shape.kind in (Kind.LIST, Kind.MAP):
            message = f"the path ends at {shape.kind.value} as a whole, not at an element of it"
            raise self._error("SW0837", message, chunk, key, shape)
        if (shape.kind is Kind.MESSAGE) != (self._kinds[chunk] == MESSAGE_CHUNK):
            kind = "BYTES" if self._kinds[chunk] != MESSAGE_CHUNK else "MESSAGE"
            raise self._error("SW0838", f"a chunk of type {kind} for {shape.kind.value}", chunk, key, shape)

    def _error(
        self, code: str, message: str, chunk: int | None = None, key: Key = (), shape: Shape | None = None
    ) -> MergeError:
        path = shape.text(key) if shape is not None else None
        return MergeError(code, message, file=self._file, chunk=chunk, path=path)
