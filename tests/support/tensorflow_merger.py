"""
TensorFlow's merger as a model, with all that it cannot do: to judge what our splitters write by.

Written after reading TensorFlow's `tools/proto_splitter/merge.cc` and `cc/util.cc`. What ends the process there, or
gives an error, is an `Abort` here; what is read wrongly there is read wrongly here. Fields that compare as equal have
no order in `std::sort`: a `Random` puts them into any.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor as F
from google.protobuf.message import DecodeError, Message

NUMBERS = {F.CPPTYPE_INT32: (32, True), F.CPPTYPE_INT64: (64, True), F.CPPTYPE_UINT32: (32, False)}
NUMBERS[F.CPPTYPE_UINT64] = (64, False)


class Abort(Exception):
    """TensorFlow's merger gives an error, or the process ends."""


def read(records: Sequence[bytes], chunked: Any, message: Any, random: Random | None = None) -> Any:
    """The message as `Merger::Read` makes it of a file's records; `random` orders what compares as equal."""
    if chunked.HasField("chunk_index"):
        _merge(message, _chunk(records, chunked))
        if not message.IsInitialized():
            raise Abort("Couldn't merge chunk into message: required fields are missing")
    for field in _sorted(list(chunked.chunked_fields), random):
        _process(records, field, message, random)
    return message


def merge(chunks: Sequence[Any], chunked: Any, message: Any) -> Any:
    """The message as `Merger::Merge` makes it of messages in memory: in the order of the fields, without bytes."""
    if not all(isinstance(chunk, Message) for chunk in chunks):
        raise Abort("chunks of bytes are no messages")
    if chunked.HasField("chunk_index"):
        given = _chunk(chunks, chunked)
        if given.DESCRIPTOR is not message.DESCRIPTOR:
            raise Abort("messages of different types are merged")
        message.MergeFrom(given)
    for field in chunked.chunked_fields:
        _process(chunks, field, message, None, in_memory=True)
    return message


def _chunk(chunks: Sequence[Any], chunked: Any) -> Any:
    """The chunk of a field; the first if it names none, as a number that is not set is zero."""
    if chunked.chunk_index >= len(chunks):
        raise Abort("no such chunk")
    return chunks[chunked.chunk_index]


def _merge(message: Any, data: bytes) -> None:
    """Merge a record into a message."""
    try:
        message.MergeFromString(data)
    except DecodeError as error:
        raise Abort(str(error)) from None


def _sorted(fields: list[Any], random: Random | None) -> list[Any]:
    """The fields in one of the orders that the comparison allows."""
    if random is not None:
        random.shuffle(fields)
    return sorted(fields, key=cmp_to_key(lambda a, b: -1 if _before(a, b) else int(_before(b, a))))


def _before(first: Any, second: Any) -> bool:
    """Whether one field comes before another: by numbers and indices as far as a key, then depth, then chunk."""
    for one, two in zip(first.field_tag, second.field_tag, strict=False):
        kinds = one.WhichOneof("kind"), two.WhichOneof("kind")
        if kinds[0] is None or kinds[0] != kinds[1]:
            raise Abort("Field tag mismatch")
        if kinds[0] == "map_key":
            return False
        if getattr(one, kinds[0]) != getattr(two, kinds[0]):
            return getattr(one, kinds[0]) < getattr(two, kinds[0])
    if len(first.field_tag) != len(second.field_tag):
        return len(first.field_tag) < len(second.field_tag)
    return first.message.chunk_index < second.message.chunk_index


def _process(chunks: Sequence[Any], chunked: Any, message: Any, random: Random | None, in_memory: bool = False) -> None:
    """Merge one field: whatever is below an empty path is ignored, and so is what such a chunk lacks."""
    given = _chunk(chunks, chunked.message)
    data = given.SerializePartialToString(deterministic=True) if in_memory else given
    if not chunked.field_tag:
        _merge(message, data)
        return
    owner, field, inside = _walk(message, _steps(chunked.field_tag))
    if field.message_type is None:
        _set(owner, field, data)
    elif in_memory:
        merge(chunks, chunked.message, inside)
    else:
        read(chunks, chunked.message, inside, random)


def _steps(tags: Any) -> list[tuple[int, Any]]:
    """Numbers of fields, each with its index or key, which becomes 32 bits with a sign."""
    steps = list[tuple[int, Any]]()
    for tag in tags:
        kind = tag.WhichOneof("kind")
        if kind == "field":
            steps.append((tag.field, None))
        elif kind is None or not steps or steps[-1][1] is not None:
            raise Abort("an index or key that belongs to no field")
        else:
            value = tag.index if kind == "index" else _key(tag.map_key)
            steps[-1] = (steps[-1][0], _int(value) if type(value) is int else value)
    return steps


def _key(key: Any) -> Any:
    if key.WhichOneof("type") is None:
        raise Abort("Unknown map key type")
    return getattr(key, key.WhichOneof("type"))


def _int(value: int) -> int:
    """A number cut to 32 bits with a sign."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _walk(message: Any, steps: list[tuple[int, Any]]) -> tuple[Any, F, Any]:
    """The message that the last field is in, the field, and the message in it if it is for one."""
    current, owner, field = message, message, None
    for number, place in steps:
        owner, field = current, current.DESCRIPTOR.fields_by_number.get(number)
        if field is None:
            raise Abort(f"Field with number {number} not found in message descriptor")
        if field.is_repeated and (place is None or not field.message_type):
            raise Abort("a whole list, or a list of values")
        if field.is_repeated and field.message_type.GetOptions().map_entry:
            current = _entry(getattr(current, field.name), field, place)
            field = field.message_type.fields_by_number[2]
        elif field.is_repeated:
            current = _element(getattr(current, field.name), place)
        elif place is not None:
            raise Abort("an index into what is no list")
        elif field.type == F.TYPE_MESSAGE:  # not a group, which is not walked into
            current = getattr(current, field.name)
            current.SetInParent()
    assert field is not None
    if field.type == F.TYPE_GROUP and not field.is_repeated:
        current = getattr(owner, field.name)
        current.SetInParent()
    return owner, field, current


def _element(elements: Any, index: Any) -> Any:
    """An element of a list of messages; one is added if it is not there, and then it must be."""
    number = _as_int(index)
    if number < 0:
        raise Abort("an index below zero")
    if number >= len(elements):
        elements.add()
    if number >= len(elements):
        raise Abort("a gap in a list")
    return elements[number]


def _entry(entries: Any, field: F, key: Any) -> Any:
    """The value of a map at a key; a map whose values are no messages ends the process."""
    kind: Any = field.message_type
    name, value = kind.fields_by_number[1], kind.fields_by_number[2]
    if value.message_type is None:
        raise Abort("a map of values")
    if name.cpp_type in NUMBERS:
        bits, signed = NUMBERS[name.cpp_type]
        number = _as_int(key) % (1 << bits)
        return entries[number - (1 << bits) if signed and number >> (bits - 1) else number]
    if name.cpp_type == F.CPPTYPE_BOOL:
        if isinstance(key, str) and key not in ("true", "false"):
            raise Abort("Unable to convert to bool")
        return entries[key == "true" if isinstance(key, str) else bool(key)]
    return entries[key if isinstance(key, str) else str(key).lower()]


def _as_int(value: Any) -> int:
    """An index or key as a number; texts are read."""
    try:
        number = int(value)
    except ValueError:
        raise Abort("Unable to convert to int") from None
    if number != _int(number):
        raise Abort("Unable to convert to int")
    return number


def _set(owner: Any, field: F, data: bytes) -> None:
    """A single value: bytes and strings as they are, the last one stays; numbers are not what ours writes."""
    if field.cpp_type != F.CPPTYPE_STRING:
        raise Abort("a number as text: not modelled, since no splitter of ours writes one")
    try:
        setattr(owner, field.name, data.decode() if field.type == F.TYPE_STRING else data)
    except UnicodeDecodeError:
        raise Abort("text that is not UTF-8") from None


def records_of(chunks: Sequence[Any]) -> list[bytes]:
    """The records of chunks."""
    return [chunk if isinstance(chunk, bytes) else chunk.SerializePartialToString() for chunk in chunks]


def same(first: Any, second: Any) -> bool:
    """Whether two messages are equal to the last byte, unknown fields and presence included."""
    return first.SerializePartialToString(deterministic=True) == second.SerializePartialToString(deterministic=True)
