"""Chunks that know their kind and size, and make their message or bytes when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from google.protobuf.message import EncodeError, Message

from shardwright.serialization.errors import SplitError, SplitTypeError
from shardwright.serialization.fields import Path, Step, get_step, is_map, key_of, to_tags, type_of, value_of
from shardwright.serialization.protos import chunk_pb2, records_pb2
from shardwright.serialization.splitting.limits import MOST
from shardwright.serialization.splitting.parts import (
    Content,
    Elements,
    Numbers,
    Residue,
    as_bytes,
    copy_field,
    serialised,
)
from shardwright.serialization.splitting.plan import Planned
from shardwright.serialization.splitting.sizes import measure, size_of, unknown_fields

MESSAGE, BYTES = chunk_pb2.ChunkInfo.MESSAGE, chunk_pb2.ChunkInfo.BYTES


class PlannedChunk:
    """A chunk of a plan: parts of a message, or the contents of one of its fields; they are made anew each time."""

    def __init__(self, planned: Planned) -> None:
        self.planned = planned
        part = planned.part
        self.kind = BYTES if isinstance(part, Content) else MESSAGE
        self.size = part.content if isinstance(part, Content) else part.size

    def data(self) -> bytes:
        part = self.planned.part
        data = as_bytes(value_of(part.owner, part.field)) if isinstance(part, Content) else b"".join(part.emit())
        if len(data) != self.size:
            raise SplitError("SW0817", f"the message was changed: {len(data)} bytes where there were {self.size}")
        return data

    def value(self) -> Message | bytes:
        part = self.planned.part
        return bytes(self.data()) if isinstance(part, Content) else parsed(part.message, self.data())


@dataclass(eq=False)
class GivenChunk:
    """
    A message or bytes that a splitter's `build_chunks` added, as they are when they are asked for.

    Of the messages in it that other splitters planned, `reductions`, only what those left is in the chunk.
    """

    given: Message | bytes
    path: Path = ()
    reductions: Sequence[Planned] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.kind = BYTES if isinstance(self.given, bytes) else MESSAGE

    def _inside(self) -> list[Planned]:
        """The reductions of what is inside of the message, or is the message."""
        if isinstance(self.given, bytes):
            return []
        depth, key = len(self.path), key_of(self.path)
        inside = [each for each in self.reductions if key_of(each.path[:depth]) == key]
        return [each for each in inside if _at(self.given, each.path[depth:]) is _reduced(each).message]

    @property
    def size(self) -> int:
        """Its bytes now."""
        value = self.value()
        return len(value) if isinstance(value, bytes) else size_of(measure(value, MOST))

    def data(self) -> bytes:
        value = self.value()
        return value if isinstance(value, bytes) else checked(value)

    def value(self) -> Message | bytes:
        given, inside = self.given, self._inside()
        if isinstance(given, bytes) or not inside:
            return given
        depth = len(self.path)
        return _copy(given, [(each.path[depth:], _reduced(each)) for each in inside])


Chunk: TypeAlias = PlannedChunk | GivenChunk


def checked(message: Message) -> bytes:
    """A message's bytes, which may be a part of one; SW0817 where protobuf cannot make or not read them."""
    kind = type_of(message).full_name
    try:
        data = serialised(message)
    except EncodeError as error:
        raise SplitError("SW0817", f"protobuf does not serialise {kind}: {error}") from None
    if len(data) > MOST:
        raise SplitError("SW0817", f"{len(data)} bytes of {kind} are more than protobuf reads")
    return data


def check_required(message: Any) -> None:
    """All required fields are set: SW0817 otherwise."""
    if not message.IsInitialized():
        missing = ", ".join(message.FindInitializationErrors()[:5])
        raise SplitError("SW0817", f"required fields of {type_of(message).full_name} are not set: {missing}")


def parsed(like: Message, data: bytes) -> Message:
    """The message of the same type that the bytes stand for."""
    message = type(like)()
    message.MergeFromString(data)
    return message


def given(chunk: object) -> Message | bytes:
    """What can be a chunk: SW0816 otherwise. A text stands for its UTF-8 bytes."""
    if isinstance(chunk, Message):
        return chunk
    if isinstance(chunk, str | bytes | bytearray | memoryview):
        return chunk.encode() if isinstance(chunk, str) else bytes(chunk)
    raise SplitTypeError(f"a chunk is a message or bytes, not {type(chunk).__name__}")


def _reduced(planned: Planned) -> Residue:
    assert isinstance(planned.part, Residue)
    return planned.part


def _at(message: Message, path: Path) -> Any:
    """What is at a place, without setting anything on the way; None if something is not there."""
    value: Any = message
    for step in path:
        if not step.field.is_extension and step.field.has_presence and not value.HasField(step.field.name):
            return None
        value = get_step(value, step)
        if value is None:
            return None
    return value


Substitutes: TypeAlias = list[tuple[Path, Residue]]


def _copy(message: Message, substitutes: Substitutes) -> Message:
    """A copy in which some messages are only what is left of them; those are not copied first."""
    if not substitutes[0][0]:
        return parsed(message, b"".join(substitutes[0][1].emit()))
    copy: Any = type(message)()
    for field_, value in message.ListFields():
        inside = [each for each in substitutes if each[0][0].field == field_]
        if not inside:
            copy_field(copy, field_, value)
        elif is_map(field_):
            for key in value:
                _copy_into(value_of(copy, field_)[key], value[key], inside, Step(field_, key=key))
        elif field_.is_repeated:
            for index, element in enumerate(value):
                _copy_into(value_of(copy, field_).add(), element, inside, Step(field_, index=index))
        else:
            _copy_into(value_of(copy, field_), value, inside, Step(field_))
    copy.MergeFromString(b"".join(unknown_fields(message)))
    return copy


def _copy_into(into: Message, value: Message, substitutes: Substitutes, step: Step) -> None:
    inside = [(path[1:], residue) for path, residue in substitutes if path[0] == step]
    into.SetInParent()
    into.CopyFrom(_copy(value, inside) if inside else value)


def runs(root: Any, chunks: Sequence[Chunk | Message | bytes]) -> list[records_pb2.Runs]:
    """Where the runs of lists begin that are spread over several chunks."""
    found = dict[tuple[Any, ...], records_pb2.Runs]()
    for number, chunk in enumerate(chunks):
        if isinstance(chunk, PlannedChunk) and isinstance(chunk.planned.part, Residue):
            for path, part in _cut_lists(chunk.planned.path, chunk.planned.part):
                key = (*key_of(path), -part.field.number)
                if key not in found:
                    found[key] = records_pb2.Runs(
                        message=to_tags(path), field=part.field.number, length=len(part.values)
                    )
                found[key].chunk_index.append(number)
                found[key].first.append(part.start)
    return list(found.values())


def _cut_lists(path: Path, piece: Residue) -> Iterator[tuple[Path, Elements | Numbers]]:
    """The lists of which a piece has a part, at any depth."""
    for part in piece.parts:
        if (
            isinstance(part, Elements | Numbers)
            and not is_map(part.field)
            and part.stop - part.start < len(part.values)
        ):
            yield path, part
        for _, child in part.children():
            if child.inline:
                yield from _cut_lists(child.path, child)


def shifted(message: chunk_pb2.ChunkedMessage, index: int) -> None:
    """Make room for a chunk at an index: what refers to it or a later one is counted up."""
    if message.HasField("chunk_index") and message.chunk_index >= index:
        message.chunk_index += 1
    for each in message.chunked_fields:
        shifted(each.message, index)
