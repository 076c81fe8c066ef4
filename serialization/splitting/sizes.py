"""
Exact serialised sizes, bottom-up and in one pass; nothing large is serialised to find out how large it is.

`Message.ByteSize` of upb serialises the message: three times the memory, and an error beyond 2 GiB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from shardwright.serialization.errors import SplitError
from shardwright.serialization.fields import is_map, key_field, value_field
from shardwright.serialization.wire import DELIMITED, END_GROUP, VARINT, WIDTHS, varint

F = FieldDescriptor
MAX_DEPTH = 100
"""Protobuf reads no message with more levels below it; an entry of a map is a level of its own."""

FIXED = {
    **dict.fromkeys((F.TYPE_DOUBLE, F.TYPE_FIXED64, F.TYPE_SFIXED64), 8),
    **dict.fromkeys((F.TYPE_FLOAT, F.TYPE_FIXED32, F.TYPE_SFIXED32), 4),
    F.TYPE_BOOL: 1,
}
"""Bytes of the types whose values all have the same size."""

UNSIGNED = (F.TYPE_UINT32, F.TYPE_UINT64)
ZIGZAG = (F.TYPE_SINT32, F.TYPE_SINT64)
BLOCK = 1 << 16
"""Numbers that are looked at together."""

VARINT_STEPS = np.array([1 << (7 * size) for size in range(1, 10)], dtype=np.uint64)


@dataclass(slots=True)
class Sized:
    """A large message and the sizes of its fields."""

    message: Message
    size: int
    fields: list[FieldSize]
    unknown: list[bytes]


Size: TypeAlias = int | Sized
"""How many bytes a message has, with details if it is large."""


@dataclass(slots=True)
class FieldSize:
    """
    A field of a large message: its bytes, those of tags and lengths included.

    `parts` of a large field are the sizes of the messages in it: of the one, of a list in order, or of a map by key,
    where values that are no messages count with their tags.
    """

    field: FieldDescriptor
    value: Any
    size: int
    parts: Any = None


def varint_size(value: int) -> int:
    """
    Bytes of a number from 0 on.

    >>> [varint_size(value) for value in (0, 127, 128, 1 << 63)]
    [1, 1, 2, 10]
    """
    return (value.bit_length() + 6) // 7 or 1


def tag_size(field: FieldDescriptor) -> int:
    """Bytes of a field's tag."""
    return varint_size(field.number << 3)


def in_message_set(field: FieldDescriptor) -> bool:
    """Whether a field is a member of a message set, which has a wire format of its own."""
    owner = field.containing_type
    return field.is_extension and owner is not None and owner.GetOptions().message_set_wire_format


def without_length(size: int) -> int:
    """
    What so many bytes hold that begin with their length.

    >>> without_length(128), without_length(130)
    (127, 128)
    """
    return next(size - length for length in range(1, 11) if varint_size(size - length) == length)


def _as_unsigned(kind: int, value: int) -> int:
    """The number whose varint stands for a value: 64 bits for a negative one, or zigzag."""
    if kind in ZIGZAG:
        return value << 1 if value >= 0 else ~(value << 1)
    return value if value >= 0 else value + (1 << 64)


def numbers_size(field: FieldDescriptor, values: Any) -> int:
    """Bytes of a list of numbers, without tags and lengths."""
    width = FIXED.get(field.type)
    return width * len(values) if width else sum(int(sizes.sum()) for sizes in number_sizes(field, values))


def number_sizes(field: FieldDescriptor, values: Any) -> Iterator[np.ndarray]:
    """Bytes of each varint of a list, a block at a time."""
    kind = field.type
    for begin in range(0, len(values), BLOCK):
        block = np.array(values[begin : begin + BLOCK], dtype=np.uint64 if kind in UNSIGNED else np.int64)
        if kind in ZIGZAG:
            block = (block << 1) ^ (block >> 63)
        yield np.searchsorted(VARINT_STEPS, block.view(np.uint64), side="right") + 1


def measure(message: Message, details: int, depth: int = 0) -> Size:
    """
    How many bytes a message has when it is serialised; details of those larger than `details` bytes, at any depth.

    Raises SW0814 for a message that is nested deeper than protobuf reads.

    >>> from shardwright.serialization.protos import graph_pb2
    >>> node = graph_pb2.NodeDef(name="n", op="Const", input=["a", "b"])
    >>> measure(node, details=100) == node.ByteSize() == 16
    True
    """
    if depth > MAX_DEPTH:
        raise SplitError("SW0814", f"a message is nested more than {MAX_DEPTH} levels deep")
    total, sizes = 0, list[int | FieldSize]()
    for field, value in (fields := message.ListFields()):
        size = sizer(field)(value, details, depth + 1)
        total += size if size.__class__ is int else size.size
        sizes.append(size)
    unknown = unknown_fields(message)
    total += sum(map(len, unknown))
    if total <= details:
        return total
    kept = [_kept(*pair, size) for pair, size in zip(fields, sizes, strict=True)]
    return Sized(message, total, kept, unknown)


def _kept(field: FieldDescriptor, value: Any, size: int | FieldSize) -> FieldSize:
    """A field's size; the value of a single field is not kept, since that of bytes is a copy."""
    return FieldSize(field, value if field.is_repeated else None, size) if isinstance(size, int) else size


def size_of(size: Size) -> int:
    """The bytes, with or without details."""
    return size if isinstance(size, int) else size.size


Sizer: TypeAlias = Callable[[Any, int, int], Any]


@cache
def sizer(field: FieldDescriptor) -> Sizer:
    """The function that finds a field's size from its value: bytes, or a `FieldSize` with parts if it is large."""
    if is_map(field):
        return _map_sizer(field)
    if field.message_type is not None:
        return _list_sizer(field) if field.is_repeated else _message_sizer(field)
    tag, one = tag_size(field), scalar_sizer(field)
    if not field.is_repeated:
        return lambda value, details, depth: tag + one(value)
    if field.type in (F.TYPE_STRING, F.TYPE_BYTES):
        return lambda value, details, depth: tag * len(value) + sum(map(one, value))
    return _numbers_sizer(field)


@cache
def scalar_sizer(field: FieldDescriptor) -> Callable[[Any], int]:
    """The function that finds the size of a value of a scalar field, without the tag."""
    kind = field.type
    if width := FIXED.get(kind):
        return lambda value: width
    if kind in (F.TYPE_STRING, F.TYPE_BYTES):
        return _with_length
    if kind in ZIGZAG:
        return lambda value: varint_size(_as_unsigned(kind, value))
    return lambda value: 1 if 0 <= value < 128 else varint_size(_as_unsigned(kind, value))


def _with_length(value: Any) -> int:
    """Bytes of a string or of bytes, with the length."""
    size = len(value) if isinstance(value, bytes) or value.isascii() else len(value.encode())
    return size + (1 if size < 128 else varint_size(size))


@cache
def framer(field: FieldDescriptor) -> Callable[[int], int]:
    """The function that finds the bytes of a message of so many bytes in a field, tag and length included."""
    tag = tag_size(field)
    if field.type == F.TYPE_GROUP:
        return lambda size: size + 2 * tag
    if in_message_set(field):
        return lambda size: size + 4 + varint_size(field.number) + varint_size(size)
    return lambda size: size + tag + (1 if size < 128 else varint_size(size))


def _numbers_sizer(field: FieldDescriptor) -> Sizer:
    tag = tag_size(field)

    def packed(value: Any, details: int, depth: int) -> int:
        size = numbers_size(field, value)
        return tag + varint_size(size) + size

    def unpacked(value: Any, details: int, depth: int) -> int:
        return tag * len(value) + numbers_size(field, value)

    return packed if field.is_packed else unpacked


def _message_sizer(field: FieldDescriptor) -> Sizer:
    frame = framer(field)

    def sizes(value: Any, details: int, depth: int) -> int | FieldSize:
        size = measure(value, details, depth)
        return frame(size) if isinstance(size, int) else FieldSize(field, value, frame(size.size), size)

    return sizes


def _list_sizer(field: FieldDescriptor) -> Sizer:
    frame = framer(field)

    def sizes(value: Any, details: int, depth: int) -> int | FieldSize:
        parts = [measure(each, details, depth) for each in value]
        total = sum(frame(part if isinstance(part, int) else part.size) for part in parts)
        return total if total <= details else FieldSize(field, value, total, parts)

    return sizes


def _map_sizer(field: FieldDescriptor) -> Sizer:
    """Maps: each entry is a message with a key and a value, which are always written."""
    key, value_of = scalar_sizer(key_field(field)), value_field(field)
    messages, frame = value_of.message_type is not None, framer(field)
    inner = framer(value_of) if messages else scalar_sizer(value_of)

    def sizes(value: Any, details: int, depth: int) -> int | FieldSize:
        total, parts = 0, dict[Any, Any]()
        for name, each in value.items():
            if messages:
                parts[name] = size = measure(each, details, depth + 1)
                content = inner(size if isinstance(size, int) else size.size)
            else:
                parts[name] = content = 1 + inner(each)
            total += frame(1 + key(name) + content)
        return total if total <= details else FieldSize(field, value, total, parts)

    return sizes


def unknown_fields(message: Message) -> list[bytes]:
    """The fields that the message's type does not have, in order, as they are serialised."""
    fields = UnknownFieldSet(message)
    return [_unknown_bytes(field) for field in fields] if len(fields) else []


def _unknown_bytes(field: Any) -> bytes:
    """One unknown field, serialised again."""
    tag, kind, data = field.field_number << 3, field.wire_type, field.data
    head = varint(tag | kind)
    if kind == VARINT:
        return head + varint(data)
    if kind in WIDTHS:
        return head + data.to_bytes(WIDTHS[kind], "little")
    if kind == DELIMITED:
        return head + varint(len(data)) + data
    return head + b"".join(map(_unknown_bytes, data)) + varint(tag | END_GROUP)
