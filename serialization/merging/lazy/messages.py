"""Messages read where they lie: only the chunks that a place needs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any, Generic, NamedTuple, TypeVar

from google.protobuf.message import Message

from shardwright.serialization.closing import Closing
from shardwright.serialization.errors import ElementError, MergeError
from shardwright.serialization.fields import Key, Path as Place, format_path, key_of, parse_path, resolve, type_of
from shardwright.serialization.merging.lazy.arrays import Array, array_at
from shardwright.serialization.merging.lazy.resolver import Resolver
from shardwright.serialization.merging.plan import MESSAGE_CHUNK, Part
from shardwright.serialization.merging.reading.chunked_file import LIMITS, ChunkedFile
from shardwright.serialization.merging.reading.files import WHOLE, find_file
from shardwright.serialization.merging.reading.runs_index import ListRuns, list_runs
from shardwright.serialization.merging.reading.sources import ChunkSource, WholeFile
from shardwright.serialization.merging.shapes import Kind, root_shape, shape_at
from shardwright.serialization.riegeli import Limits

AnyMessage = TypeVar("AnyMessage", bound=Message)
Member = str | int | bool


class FieldChunk(NamedTuple):
    """A chunk of a file: the path that it is for, its number, its type, its size in bytes, the place of its record."""

    path: str
    chunk: int
    kind: str
    size: int
    position: int


class LazyMessage(Closing, Generic[AnyMessage]):
    """
    A message in a file, of which only those chunks are read that a place needs; see `open_message`.

    A place is a path as text, or its members: names of fields, indices and keys. What is there, and its defaults, are
    those of the message that `Merger.read` would give. Threads may share it. Messages and lists that come out are the
    caller's own; views and arrays stay valid after `close`.
    """

    def __init__(self, file: ChunkedFile | WholeFile, message_type: type[AnyMessage]) -> None:
        self.message_type, self._file, self._lock, self._closed = message_type, file, RLock(), False
        self._root, runs = root_shape(type_of(message_type)), dict[Key, ListRuns]()
        self._parts = [Part((), 0, self._root)]
        if isinstance(file, ChunkedFile):
            self._parts = file.plan(type_of(message_type))
            runs = list_runs(file, self._root, {part.chunk: part for part in self._parts})
        self._resolver = Resolver(file, self._root, self._parts, runs)

    @property
    def name(self) -> str:
        """The file."""
        return self._file.name

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._closed = True
            self._file.close()

    def fields(self) -> list[FieldChunk]:
        """What of the message is in which chunk, in the order of merging."""
        return field_chunks(self._file, self._parts)

    def get(self, *path: Member) -> Any:
        """
        What is at a place: a message, a value, a list, or a dictionary for a map.

        Raises `ElementError` (SW0844, an `IndexError` and a `KeyError`) for an element or entry that is not there,
        `FieldTagError` for a place that the type does not have, and `MergeError` for what cannot be read.
        """
        with self._lock:
            return self._get(self._place(path))

    def _get(self, place: Place) -> Any:
        kind = shape_at(self._root, key_of(place)).kind
        if kind is Kind.MESSAGE:
            return self._resolver.message(place)
        if kind is Kind.LIST:
            return list(self._resolver.elements(place))
        if kind is Kind.MAP:
            keys = self._resolver.map_keys(place)
            return {key: self._get((*place[:-1], replace(place[-1], key=key))) for key in keys}
        return self._resolver.value(place)

    def has(self, *path: Member) -> bool:
        """Whether there is something: for a field as `HasField`, for lists and maps whether anything is in them."""
        with self._lock:
            place = self._place(path)
            try:
                if shape_at(self._root, key_of(place)).kind in (Kind.LIST, Kind.MAP):
                    return self._length(place) > 0
                return not place or self._resolver.is_there(place)
            except ElementError:
                return False

    def len(self, *path: Member) -> int:
        """How many elements a list has, or entries a map."""
        with self._lock:
            return self._length(self._place(path))

    def _length(self, place: Place) -> int:
        kind = shape_at(self._root, key_of(place)).kind
        if kind not in (Kind.LIST, Kind.MAP):
            raise MergeError("SW0846", f"{kind.value} has no length", file=self.name, path=format_path(place))
        return len(self._resolver.map_keys(place)) if kind is Kind.MAP else self._resolver.length(place)

    def iterate(self, *path: Member) -> Iterator[Any]:
        """The elements of a list, chunk by chunk; none is kept."""
        place = self._place(path)
        if shape_at(self._root, key_of(place)).kind is not Kind.LIST:
            raise MergeError("SW0846", "this is no list", file=self.name, path=format_path(place))
        elements, done = self._resolver.elements(place), object()
        while True:
            with self._lock:
                element = next(elements, done)
            if element is done:
                return
            yield element

    def view(self, *path: Member) -> memoryview:
        """
        The bytes of a `bytes` field, read-only. A chunk of its own is read into memory once, and this is that memory;
        nothing is copied. (A file has block headers every 64 KiB, so that a record is never one piece of the file.)
        """
        with self._lock:
            return self._resolver.view(self._place(path))

    def array(self, *path: Member) -> Array:
        """
        An array with the dtype and shape of the message at a place: a `TensorProto`, or a constant in the table of
        attributes of a module; of a `bytes` field, its bytes. Read-only; large contents are `view`ed, not copied.

        Raises `MergeError` (SW0845) for what is no array, or does not have the bytes that its shape needs.
        """
        with self._lock:
            place = self._place(path)
            shape = shape_at(self._root, key_of(place))
            kind = shape.message.full_name if shape.message else ""
            return array_at(self, _members(place), kind, format_path(place))

    def _place(self, path: tuple[Member, ...]) -> Place:
        if self._closed:
            raise MergeError("SW0846", "the message is closed", file=self.name)
        if len(path) == 1 and isinstance(path[0], str):
            return parse_path(type_of(self.message_type), path[0])
        return resolve(type_of(self.message_type), path)


def check_type(given: Any) -> None:
    """What is to be read must be a class of messages: SW0846."""
    if not isinstance(given, type) or not issubclass(given, Message):
        found = repr(given) if isinstance(given, type) else f"an object of {type(given).__name__}"
        raise MergeError("SW0846", f"a message type is a class of messages, not {found}")


def field_chunks(file: ChunkSource, parts: Sequence[Part]) -> list[FieldChunk]:
    """The chunks of parts."""
    found = list[FieldChunk]()
    for part in parts:
        if (chunk := part.chunk) >= 0:
            kind = "MESSAGE" if file.kinds[chunk] == MESSAGE_CHUNK else "BYTES"
            found.append(FieldChunk(part.path, chunk, kind, file.sizes[chunk], file.positions[chunk]))
    return found


def _members(place: Place) -> list[Member]:
    members = list[Member]()
    for step in place:
        members.append(f"[{step.field.full_name}]" if step.field.is_extension else step.field.name)
        if step.key is not None or step.index is not None:
            members.append(step.key if step.index is None else step.index)  # type: ignore[arg-type]
    return members


def open_message(
    prefix: str | os.PathLike[str], message_type: type[AnyMessage], *, limits: Limits = LIMITS
) -> LazyMessage[AnyMessage]:
    """
    Open `prefix.pb` or `prefix.cpb` to read parts of the message in it; of a `.cpb` only its metadata are read now.

    What is read is checked; `verify` checks all of a file. Raises `MergeError` as `Merger.read`.

    >>> import pathlib, tempfile
    >>> from shardwright.serialization.protos import graph_pb2
    >>> from shardwright.serialization.splitting import splitter_for
    >>> graph = graph_pb2.GraphDef(node=[graph_pb2.NodeDef(name=f"node {number}") for number in range(100)])
    >>> path = splitter_for(graph, max_size=300).write(tempfile.mkdtemp() + "/graph")
    >>> with open_message(path, graph_pb2.GraphDef) as message:
    ...     print(message.len("node"), message.get("node", 71, "name"), message.get("node[99].name"))
    100 node 71 node 99
    """
    check_type(message_type)
    path = find_file(prefix)
    if path.suffix == WHOLE:
        return LazyMessage(WholeFile(path), message_type)
    file = ChunkedFile(path, limits)
    try:
        return LazyMessage(file, message_type)
    except MergeError:
        file.close()
        raise
