"""Splitters: messages into chunks (RFC "Unbound SavedModel", Public Python API)."""

from __future__ import annotations

import abc
import os
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass as message_class

from shardwright._collector import collector_paused
from shardwright.serialization.errors import SplitError, SplitTypeError
from shardwright.serialization.fields import F, FieldTypes, Path, format_path, key_of, listed, resolve, to_tags, type_of
from shardwright.serialization.protos import chunk_pb2, versions_pb2
from shardwright.serialization.riegeli import RecordWriterOptions
from shardwright.serialization.splitting.chunks import (
    Chunk,
    GivenChunk,
    PlannedChunk,
    check_required,
    checked,
    given,
    shifted,
)
from shardwright.serialization.splitting.limits import limits_of
from shardwright.serialization.splitting.parts import Residue
from shardwright.serialization.splitting.plan import Planned, measured, plan
from shardwright.serialization.splitting.sizes import Sized
from shardwright.serialization.splitting.writing import Progress, write_chunked, write_pieces

MAX_NESTED = 48
"""Levels of fields below fields in a `ChunkMetadata` that protobuf reads: two messages each, of a hundred."""


class Splitter(abc.ABC):
    """Splits a message into chunks, in memory or into a file."""

    @property
    @abc.abstractmethod
    def version_def(self) -> versions_pb2.VersionDef:
        """Which versions of splitter and merger the chunks need."""

    @abc.abstractmethod
    def split(self) -> tuple[Sequence[Message | bytes], chunk_pb2.ChunkedMessage]:
        """The chunks, and how they become one message again."""

    @abc.abstractmethod
    def write(self, file_prefix: str) -> str:
        """Write the message to `file_prefix` plus `.pb` or `.cpb`; returns the path."""


class ComposableSplitter(Splitter):
    """
    A splitter that can be composed with others; it writes riegeli files.

    Subclasses override `build_chunks`, which calls `add_chunk` or other splitters with `parent_splitter=self`. They
    may take out of `self._proto` what they chunked; the splitters of this package do not, and change nothing.

    Args:
        proto: the message to split.
        proto_as_initial_chunk: whether the message itself is the first chunk.
        parent_splitter: the splitter that gets this one's chunks.
        fields_in_parent: the way from the parent's message to `proto`.
        max_size: the most bytes that a message chunk of a plan has, and a message that is not split (1 GiB).
        chunk_size: what message chunks of a plan should have (4 MiB, never more than `max_size`).

    Raises SW0816 for what is no message, SW0818 for sizes that cannot be.

    >>> from shardwright.serialization.protos import graph_pb2
    >>> class Names(ComposableSplitter):
    ...     def build_chunks(self):
    ...         for number, node in enumerate(self._proto.node):
    ...             self.add_chunk(node.name.encode(), ["node", number, "name"])
    ...             node.ClearField("name")
    >>> chunks, chunked = Names(graph_pb2.GraphDef(node=[{"name": "a", "op": "Const"}])).split()
    >>> chunks[1], [tag.WhichOneof("kind") for tag in chunked.chunked_fields[0].field_tag]
    (b'a', ['field', 'index', 'field'])
    """

    def __init__(
        self,
        proto: Any,
        *,
        proto_as_initial_chunk: bool = True,
        parent_splitter: ComposableSplitter | None = None,
        fields_in_parent: FieldTypes | None = None,
        max_size: int | None = None,
        chunk_size: int | None = None,
    ) -> None:
        self._proto = proto
        self._parent_splitter = parent_splitter
        self._fields_in_parent = listed(() if fields_in_parent is None else fields_in_parent)
        self._limits = limits_of(max_size, chunk_size, parent_splitter and parent_splitter._limits)
        if not isinstance(proto, Message):
            raise SplitTypeError(f"a splitter is for a message, not for {type(proto).__name__}")
        self._built = False
        self._taken: int | None = None
        self._reductions: list[Planned] = parent_splitter._reductions if parent_splitter else []
        self._nested: dict[tuple[Any, ...], chunk_pb2.ChunkedMessage] = {}
        self._chunks: list[Any] = []
        self._chunked_message = chunk_pb2.ChunkedMessage()
        if parent_splitter is None and proto_as_initial_chunk:
            self._chunks.append(proto)
            self._chunked_message.chunk_index = 0

    def build_chunks(self) -> Any:
        """Make the chunks, by `add_chunk`; called once, by `split` or `write`. Subclasses override this."""

    @property
    def version_def(self) -> versions_pb2.VersionDef:
        """Which versions of splitter and merger the chunks need."""
        return versions_pb2.VersionDef(splitter_version=1, join_version=0, bad_consumers=[])

    def split(self) -> tuple[Sequence[Message | bytes], chunk_pb2.ChunkedMessage]:
        """
        The chunks as messages and bytes, all in memory, and how they become one message again.

        Raises SW0815 for a splitter with a parent, SW0813 for what fits into no chunk, SW0814 for a message nested too
        deeply, SW0817 for one that cannot be written.
        """
        return [chunk.value() for chunk in self._planned("split")], self._chunked_message

    def write(
        self,
        file_prefix: str | os.PathLike[str],
        writer_options: RecordWriterOptions | str | None = None,
        *,
        on_progress: Progress | None = None,
    ) -> str:
        """
        Write the message to `file_prefix` plus `.pb`, or `.cpb` if it was split; returns the path.

        One chunk at a time is in memory. The file takes its place when it is whole, and then a file with the other
        ending is removed. `writer_options` are riegeli's, by default `uncompressed`. Raises as `split`, and SW0809 for
        wrong options.
        """
        prefix = os.fspath(file_prefix)
        if not os.path.basename(prefix):
            raise SplitError("SW0818", f"a file's prefix is a path with a name, not {prefix!r}", help="name the file")
        chunks = self._planned("write")
        options = "uncompressed" if writer_options is None else writer_options
        if isinstance(options, str):
            options = RecordWriterOptions.parse(options)
        if not self._chunked_message.chunked_fields or isinstance(chunks[0], PlannedChunk):
            check_required(self._proto)
        if not self._chunked_message.chunked_fields:
            return write_pieces(prefix, self._proto, [checked(self._proto)], self.version_def, on_progress)
        metadata = chunk_pb2.ChunkMetadata(version=self.version_def, message=self._chunked_message)
        return write_chunked(prefix, self._proto, chunks, metadata, options, on_progress)

    def add_chunk(self, chunk: Message | bytes | Chunk, field_tags: FieldTypes, index: int | None = None) -> None:
        """
        Add a chunk and say where it belongs.

        `field_tags` is the way from `self._proto` to the place; an empty one is for a message of the same type, to be
        merged. With `index` the chunk goes before the one that has this number now. Raises SW0811 or SW0812 for a
        place that cannot be, SW0816 for what is no chunk, SW0818 for an index out of range.
        """
        tags = listed(field_tags)
        if self._parent_splitter is not None:
            self._parent_splitter.add_chunk(chunk, [*self._fields_in_parent, *tags], index)
            return
        path = resolve(type_of(self._proto), tags)
        added = chunk if isinstance(chunk, Chunk) else GivenChunk(given(chunk), path, self._reductions)
        count = len(self._chunks)
        if index is not None and (type(index) is not int or not 0 <= index <= count):
            raise SplitError("SW0818", f"a chunk is put at an index from 0 to {count}, not {index!r}")
        fields, field = self._field(path)
        place = len(self._chunks) if index is None else index
        if place < len(self._chunks):
            shifted(self._chunked_message, place)
        field.chunk_index = place
        self._chunks.insert(place, added)
        if index is not None:
            fields.sort(key=attrgetter("message.chunk_index"))

    def _field(self, path: Path) -> tuple[Any, chunk_pb2.ChunkedMessage]:
        """
        A new field at a place, and the list that it is in.

        What is inside of a map's value or a group that has a field of its own already goes below that field, since
        TensorFlow's merger gives such fields no order, and does not walk through groups.
        """
        message, done = self._chunked_message, 0
        for depth in range(len(path), 0, -1):
            if (nested := self._nested.get(key_of(path[:depth]))) is not None:
                message, done = nested, depth
                break
        for depth in range(done + 1, len(path)):
            field = path[depth - 1].field
            if field.type == F.TYPE_GROUP and not field.is_repeated and field.message_type is not None:
                message, done = self._new_field(message, path[:depth], done), depth
                message.chunk_index = len(self._chunks)
                self._chunks.append(message_class(field.message_type)())
        if done and sum(key_of(path[:depth]) in self._nested for depth in range(1, done + 1)) > MAX_NESTED:
            raise SplitError("SW0814", f"more than {MAX_NESTED} groups and maps around a chunk", path=format_path(path))
        return message.chunked_fields, self._new_field(message, path, done)

    def _new_field(self, message: chunk_pb2.ChunkedMessage, path: Path, done: int) -> chunk_pb2.ChunkedMessage:
        """Add a field with the steps that `message` does not stand for."""
        new = message.chunked_fields.add(field_tag=to_tags(path[done:])).message
        if len(path) > done and (path[-1].key is not None or path[-1].field.type == F.TYPE_GROUP):
            self._nested[key_of(path)] = new
        return new

    def _planned(self, name: str) -> list[Chunk]:
        """The chunks, made from the plan when they are asked for."""
        if self._parent_splitter is not None:
            message = f"A child splitter's `{name}` method should not be called directly: its chunks are the parent's"
            raise SplitError("SW0815", message)
        if not self._built:
            self.build_chunks()
            self._built = True
        return [
            chunk if isinstance(chunk, Chunk) else GivenChunk(given(chunk), (), self._reductions)
            for chunk in self._chunks
        ]

    def _place(self) -> Path:
        """The way from the root's message to this one."""
        if self._parent_splitter is None:
            return ()
        parent = self._parent_splitter
        return (*parent._place(), *resolve(type_of(parent._proto), self._fields_in_parent))

    def _add_plan(self, size: Sized | None = None, only: FieldDescriptor | None = None) -> int:
        """
        Plan the chunks of `self._proto` if it is too large, and add them; returns how many bytes went into chunks.

        The message stays as it is: its own chunk, or that of the parent, is made without what has a chunk. `size` is
        for those who measured it already; with `only`, a single field is taken apart.
        """
        if self._taken is None:
            self._taken = 0
            with collector_paused():
                self._taken = self._add_planned(size or measured(self._proto, self._limits), only)
        return self._taken

    def _add_planned(self, size: Sized, only: FieldDescriptor | None) -> int:
        if size.size <= self._limits.max_size:
            return 0
        place = self._place()
        base, *planned = plan(size, self._limits, place, only)
        if self._parent_splitter is None and self._chunked_message.HasField("chunk_index"):
            self._chunks[self._chunked_message.chunk_index] = PlannedChunk(base)
        elif self._parent_splitter is None:
            self.add_chunk(PlannedChunk(base), [])
        else:
            self._reductions.append(base)
        for each in planned:
            self.add_chunk(PlannedChunk(each), key_of(each.path[len(place) :]))
        return size.size - (base.part.size if isinstance(base.part, Residue) else 0)
