"""Every check that a file of a message can be given, without putting the message together."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import empty_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from shardwright.serialization.fields import Key, format_path, get_step, type_of
from shardwright.serialization.merging.assembling import Assembler
from shardwright.serialization.merging.lazy.messages import FieldChunk, check_type, field_chunks
from shardwright.serialization.merging.lazy.resolver import Resolver
from shardwright.serialization.merging.merger import Merger, check_required
from shardwright.serialization.merging.plan import MESSAGE_CHUNK, MOST_MEMBERS, Part, Planner
from shardwright.serialization.merging.reading.chunked_file import LIMITS, ChunkedFile
from shardwright.serialization.merging.reading.files import WHOLE, find_file
from shardwright.serialization.merging.reading.runs_index import list_runs
from shardwright.serialization.merging.shapes import Shape, root_shape, shape_at, steps_of
from shardwright.serialization.protos import chunk_pb2
from shardwright.serialization.riegeli import Limits

Progress = Callable[[int, int], object]
"""Called with the bytes that were checked and the bytes that there are in all."""


@dataclass(frozen=True)
class Report:
    """What was checked and found right: a file, the type of its message if that was known, its chunks."""

    file: str
    message_type: str | None
    bytes: int
    chunks: tuple[FieldChunk, ...]

    @property
    def message_bytes(self) -> int:
        """The bytes of all chunks."""
        return sum(chunk.size for chunk in self.chunks)


def verify(
    prefix: str | os.PathLike[str],
    message_type: type[Message] | None = None,
    *,
    limits: Limits = LIMITS,
    on_progress: Progress | None = None,
) -> Report:
    """
    Read all of `prefix.pb` or `prefix.cpb` and check it: every hash, the padding, the list of chunks, their tree, and
    with the type of the message also paths, places and contents. In memory is at most one chunk of bytes, and what is
    in message chunks.

    Raises `MergeError`, as `Merger.read` would, for the first fault.

    >>> import tempfile
    >>> from shardwright.serialization.protos import graph_pb2
    >>> from shardwright.serialization.splitting import splitter_for
    >>> graph = graph_pb2.GraphDef(node=[graph_pb2.NodeDef(name=f"node {number}") for number in range(100)])
    >>> path = splitter_for(graph, max_size=300).write(tempfile.mkdtemp() + "/graph")
    >>> report = verify(path, graph_pb2.GraphDef)
    >>> report.message_bytes == graph.ByteSize(), len(report.chunks)
    (True, 4)
    """
    if message_type is not None:
        check_type(message_type)
    path = find_file(prefix)
    name = type_of(message_type).full_name if message_type is not None else None
    size = path.stat().st_size
    if path.suffix == WHOLE:
        Merger.read(path, (message_type or empty_pb2.Empty)())
        if on_progress is not None:
            on_progress(size, size)
        return Report(str(path), name, size, (FieldChunk("", 0, "MESSAGE", size, 0),))
    with _CheckingFile(path, limits, on_progress) as file:
        file.check_records()
        chunks = _untyped(file) if message_type is None else _typed(file, message_type)
    return Report(str(path), name, size, tuple(chunks))


class _CheckingFile(ChunkedFile):
    """A file whose chunks are read and checked; the contents of `bytes` fields are then left out."""

    def __init__(self, path: Path, limits: Limits, on_progress: Progress | None) -> None:
        super().__init__(path, limits)
        self._tell, self._done, self._total = on_progress, 0, sum(self.sizes)
        self._seen = bytearray(len(self))

    def size(self, chunk: int, part: Part) -> int:
        """The size of a chunk as it is merged."""
        message = self.kinds[chunk] == MESSAGE_CHUNK
        if message or part.shape.value_field.type != FieldDescriptor.TYPE_BYTES:
            return super().size(chunk, part)
        if not self._seen[chunk]:
            super().size(chunk, part)
            self.view(chunk, part)
            self.seen(chunk)
        return 0

    def read_into(self, chunk: int, buffer: memoryview, part: Part | None = None) -> None:
        """Read a chunk that is not left out."""
        if len(buffer) or not self._seen[chunk]:
            super().read_into(chunk, buffer, part)
            self.seen(chunk)

    def merge_into(self, chunk: int, message: Message, part: Part) -> None:
        super().merge_into(chunk, message, part)
        self.seen(chunk)

    def seen(self, chunk: int) -> None:
        """A chunk was checked."""
        if not self._seen[chunk]:
            self._seen[chunk] = 1
            self._done += self.sizes[chunk]
            if self._tell is not None:
                self._tell(self._done, self._total)


def _typed(file: _CheckingFile, message_type: type[Message]) -> list[FieldChunk]:
    """A file whose message has a known type: put together, but for the contents of `bytes` fields in chunks."""
    message, root = message_type(), root_shape(type_of(message_type))
    parts = file.plan(type_of(message))
    Assembler(message, file).put(parts)
    check_required(message, file.name)
    runs = list_runs(file, root, {part.chunk: part for part in parts})
    resolver = Resolver(file, root, parts, runs)
    for key, each in runs.items():
        place = tuple(steps_of(shape_at(root, key), key))
        resolver.check_runs(place, each)
        here: Any = message
        for step in place:
            here = get_step(here, step)
        if here is None or len(here) != each.length:
            raise file.error("SW0848", f"it lists runs of {each.length} elements in {format_path(place)}")
    return field_chunks(file, parts)


def _untyped(file: _CheckingFile) -> list[FieldChunk]:
    """A file whose message has no known type: numbers of fields are not checked against one."""
    parts = file.plan(type_of(empty_pb2.Empty), _UntypedPlanner)
    for part in parts:
        if part.chunk >= 0:
            if file.kinds[part.chunk] == MESSAGE_CHUNK:
                file.merge_into(part.chunk, empty_pb2.Empty(), part)
            else:
                file.view(part.chunk)
                file.seen(part.chunk)
    return field_chunks(file, parts)


class _UntypedPlanner(Planner):
    """Parts whose paths are numbers: the members of a key are the text of its tags."""

    def __init__(self, descriptor: Descriptor, kinds: Sequence[int], file: str | None = None) -> None:
        super().__init__(descriptor, kinds, file)
        self._root = _NumberedShape()

    def _follow(self, field: chunk_pb2.ChunkedField, key: Key, shape: Shape) -> tuple[Key, Shape]:
        members, after = list[str](), False
        for tag in field.field_tag:
            kind = tag.WhichOneof("kind")
            if kind == "field" and tag.field:
                members.append(f".{tag.field}")
            elif not after or (kind != "index" and (kind != "map_key" or not tag.map_key.WhichOneof("type"))):
                raise self._error("SW0837", f"a tag of kind {kind!r} leads nowhere", None, key, shape)
            elif kind == "index":
                members.append(f"[{tag.index}]")
            else:
                value = getattr(tag.map_key, tag.map_key.WhichOneof("type") or "s")
                members.append(f"[{json.dumps(value, ensure_ascii=False)}]")
            after = kind == "field"
        if len(members) > MOST_MEMBERS:
            raise self._error("SW0843", f"a path has {len(members)} tags", None, key, shape)
        return tuple(members), shape

    def _check_kind(self, chunk: int, key: Key, shape: Shape) -> None:
        """Nothing is known about the kinds of places."""


class _NumberedShape(Shape):
    """Any place of a message whose type is not known."""

    def __init__(self) -> None:
        super().__init__((), type_of(empty_pb2.Empty), None)

    def text(self, key: Key) -> str:
        """The members of a key are text already."""
        return "".join(map(str, key))
