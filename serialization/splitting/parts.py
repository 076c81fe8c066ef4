"""
What a message chunk is made of: parts of a message that know their size, can be cut in two, and make their bytes.

A part refers to the message that is split; it copies nothing until its bytes are asked for.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from shardwright.serialization.fields import Path, Step, is_map, key_field, value_field, value_of
from shardwright.serialization.splitting.sizes import (
    BLOCK,
    FIXED,
    framer,
    in_message_set,
    number_sizes,
    numbers_size,
    scalar_sizer,
    tag_size,
    varint_size,
    without_length,
)
from shardwright.serialization.wire import delimited, varint

F = FieldDescriptor
TEXTS = (F.TYPE_STRING, F.TYPE_BYTES)


class Part:
    """A part of a message: `size` bytes of it, tags and lengths included."""

    size: int
    number: float = math.inf
    """The field's number; unknown fields come last."""

    def cut(self, room: int) -> tuple[Part | None, Part | None]:
        """As much as has room, and what is left; either may be None."""
        return (self, None) if self.size <= room else (None, self)

    def least(self) -> int:
        """Bytes of the smallest head that can be cut off."""
        return self.size

    def emit(self) -> Iterator[bytes]:
        """The bytes, in pieces."""
        raise NotImplementedError

    def children(self) -> Iterator[tuple[Any, Residue]]:
        """The reduced messages in the part, each with its key in `put`."""
        return iter(())

    def put(self, key: Any, child: Residue) -> None:
        """Put a reduced message in the place of another; the size changes by as much as theirs differ."""
        raise NotImplementedError

    def content_size(self, child: Residue) -> int:
        """Bytes that a reduced message takes here, tags and lengths included."""
        raise NotImplementedError

    def place(self) -> tuple[Step, ...]:
        """Where the part begins, for messages to people."""
        return ()


class FieldPart(Part):
    """A field of a message, or some of its elements."""

    def __init__(self, field: FieldDescriptor) -> None:
        self.field, self.number = field, field.number

    def place(self) -> tuple[Step, ...]:
        return (Step(self.field),)


@dataclass(slots=True, eq=False)
class Residue:
    """
    What is left of a message, or one piece of that: `inline` if it stays inside of the chunk of the message around it,
    otherwise it goes into chunks of its own and leaves a blank.

    `large` is that the message itself was too large for a chunk, so that its first piece may fill room elsewhere; then
    `rest` is what follows that piece.
    """

    path: Path
    message: Message
    parts: list[Part]
    size: int
    inline: bool = True
    large: bool = False
    rest: Residue | None = None

    def emit(self) -> Iterator[bytes]:
        """The bytes of the parts in the order of field numbers, unknown fields last."""
        for part in sorted(self.parts, key=lambda part: part.number):
            yield from part.emit()

    def with_parts(self, parts: list[Part]) -> Residue:
        """A piece with some of the parts."""
        return replace(self, parts=parts, size=sum(part.size for part in parts))


class Whole(Part):
    """All fields of a message."""

    def __init__(self, message: Message, size: int) -> None:
        self.message, self.size = message, size

    def emit(self) -> Iterator[bytes]:
        yield serialised(self.message)


class Single(FieldPart):
    """One field that is not cut: a scalar, a string, bytes, a whole message, a short list or map."""

    def __init__(self, owner: Message, field: FieldDescriptor, size: int) -> None:
        super().__init__(field)
        self.owner, self.size = owner, size

    def emit(self) -> Iterator[bytes]:
        value = value_of(self.owner, self.field)
        if self.field.is_repeated or (self.field.message_type is None and self.field.type not in TEXTS):
            holder = type(self.owner)()
            copy_field(holder, self.field, value)
            yield serialised(holder)
        elif self.field.message_type is None:
            yield text_bytes(self.field, value)
        else:
            yield from framed(self.field, *contents(value, None))


class Content(FieldPart):
    """A single bytes or string field that is a chunk of its own; a required one leaves an empty value."""

    def __init__(self, owner: Message, field: FieldDescriptor, content: int) -> None:
        super().__init__(field)
        self.owner, self.content = owner, content
        self.size = tag_size(field) + 1 if field.is_required else 0

    def emit(self) -> Iterator[bytes]:
        if self.size:
            yield text_bytes(self.field, b"")


class Child(FieldPart):
    """A single message that is reduced; it leaves nothing where it is a chunk of its own."""

    def __init__(self, field: FieldDescriptor, child: Residue) -> None:
        super().__init__(field)
        self.child = child
        self.size = self.content_size(child)

    def content_size(self, child: Residue) -> int:
        if child.inline or self.field.is_required:
            return framer(self.field)(child.size if child.inline else 0)
        return 0

    def children(self) -> Iterator[tuple[Any, Residue]]:
        yield None, self.child

    def put(self, key: Any, child: Residue) -> None:
        self.size += self.content_size(child) - self.content_size(self.child)
        self.child = child

    def emit(self) -> Iterator[bytes]:
        if self.size:
            yield from framed(self.field, *contents(None, self.child))


@dataclass(eq=False)
class Elements(FieldPart):
    """
    Elements of a list, or entries of a map: `keys[start:stop]`, which are indices, or the map's keys in order.

    `ends[i]` is the size of all up to and with the one of `keys[i]`, tags and lengths included. `reduced` are the
    messages among them of which only a part, or nothing, is left here.
    """

    owner: Message
    field: FieldDescriptor
    values: Any
    keys: Sequence[Any]
    ends: Sequence[int]
    start: int
    stop: int
    reduced: dict[Any, Residue]
    order: list[Any]
    """The keys of `reduced`, sorted."""

    size: int

    def __post_init__(self) -> None:
        super().__init__(self.field)

    @staticmethod
    def of(owner: Message, field: FieldDescriptor, values: Any, sizes: Any, reduced: dict[Any, Residue]) -> Elements:
        """A whole list whose elements have these sizes, or a map whose entries have them, by key."""
        keys = sorted(sizes) if isinstance(sizes, dict) else range(len(sizes))
        ends = list(accumulate(sizes[key] for key in keys))
        return Elements(owner, field, values, keys, ends, 0, len(keys), reduced, sorted(reduced), ends[-1])

    def cut(self, room: int) -> tuple[Part | None, Part | None]:
        middle = bisect_right(self.ends, self._before(self.start) + room, self.start, self.stop)
        return self._between(self.start, middle), self._between(middle, self.stop)

    def _before(self, place: int) -> int:
        return self.ends[place - 1] if place else 0

    def _between(self, start: int, stop: int) -> Elements | None:
        if start == stop:
            return None
        return replace(self, start=start, stop=stop, size=self.ends[stop - 1] - self._before(start))

    def least(self) -> int:
        return self.ends[self.start] - self._before(self.start)

    def children(self) -> Iterator[tuple[Any, Residue]]:
        first = bisect_left(self.order, self.keys[self.start])
        last = bisect_right(self.order, self.keys[self.stop - 1])
        return iter([(key, self.reduced[key]) for key in self.order[first:last]])

    def content_size(self, child: Residue) -> int:
        return element_size(self.field, child.path[-1].key, child.size if child.inline else 0)

    def put(self, key: Any, child: Residue) -> None:
        self.size += self.content_size(child) - self.content_size(self.reduced[key])
        self.reduced[key] = child

    def place(self) -> tuple[Step, ...]:
        key = self.keys[self.start]
        return (Step(self.field, key=key) if is_map(self.field) else Step(self.field, index=key),)

    def emit(self) -> Iterator[bytes]:
        return self._emit_entries() if is_map(self.field) else self._emit_list()

    def _emit_list(self) -> Iterator[bytes]:
        for begin in range(self.start, self.stop, BLOCK):
            for index, value in enumerate(self.values[begin : min(begin + BLOCK, self.stop)], begin):
                if self.field.message_type is None:
                    yield text_bytes(self.field, value)
                else:
                    yield from framed(self.field, *contents(value, self.reduced.get(index)))

    def _emit_entries(self) -> Iterator[bytes]:
        names = self.keys[self.start : self.stop]
        if value_field(self.field).message_type is None:
            holder = type(self.owner)()
            into = value_of(holder, self.field)
            for name in names:
                into[name] = self.values[name]
            yield serialised(holder)
            return
        for name in names:
            size, content = contents(self.values[name], self.reduced.get(name))
            yield from framed(self.field, map_entry_size(self.field, name, size), self._entry(name, size, content))

    def _entry(self, name: Any, size: int, content: Iterator[bytes]) -> Iterator[bytes]:
        """The inside of an entry whose value is a message of so many bytes."""
        blank = type(self.owner)()
        value_of(blank, self.field)[name].SetInParent()
        whole = serialised(blank)
        yield whole[len(whole) - map_entry_size(self.field, name, 0) : -2]
        yield from framed(value_field(self.field), size, content)


@dataclass(eq=False)
class Numbers(FieldPart):
    """Numbers `start` to `stop` of a list, packed or not."""

    owner: Message
    field: FieldDescriptor
    values: Any
    start: int
    stop: int
    content: int
    size: int

    def __post_init__(self) -> None:
        super().__init__(self.field)

    @staticmethod
    def of(owner: Message, field: FieldDescriptor, values: Any, size: int) -> Numbers:
        """A whole list of so many bytes, tags and lengths included."""
        count, tag = len(values), tag_size(field)
        content = size - tag * count
        if field.is_packed:
            content = without_length(size - tag)
        return Numbers(owner, field, values, 0, count, content, size)

    def place(self) -> tuple[Step, ...]:
        return (Step(self.field, index=self.start),)

    def cut(self, room: int) -> tuple[Part | None, Part | None]:
        if self.size <= room:
            return self, None
        packed, tag = self.field.is_packed, tag_size(self.field)
        if packed:
            room -= tag
            room -= next((length for length in range(1, 11) if varint_size(max(room - length, 0)) <= length), 1)
        count, content = self._fitting(room, 0 if packed else tag)
        middle = self.start + count
        return self._between(self.start, middle, content), self._between(middle, self.stop, self.content - content)

    def _between(self, start: int, stop: int, content: int) -> Numbers | None:
        if start == stop:
            return None
        framing = tag_size(self.field) + varint_size(content)
        size = content + (framing if self.field.is_packed else tag_size(self.field) * (stop - start))
        return replace(self, start=start, stop=stop, content=content, size=size)

    def least(self) -> int:
        one = numbers_size(self.field, self.values[self.start : self.start + 1])
        return one + tag_size(self.field) + self.field.is_packed

    def _fitting(self, room: int, tag: int) -> tuple[int, int]:
        """How many numbers have room, each with so many bytes of tag, and their bytes without tags."""
        if width := FIXED.get(self.field.type):
            count = min(max(room, 0) // (width + tag), self.stop - self.start)
            return count, count * width
        count = content = 0
        for begin in range(self.start, self.stop, BLOCK):
            for sizes in number_sizes(self.field, self.values[begin : min(begin + BLOCK, self.stop)]):
                ends = (sizes + tag).cumsum()
                fits = int(ends.searchsorted(room, side="right"))
                content += int(sizes[:fits].sum())
                count += fits
                if fits < len(sizes):
                    return count, content
                room -= int(ends[-1])
        return count, content

    def emit(self) -> Iterator[bytes]:
        holder = type(self.owner)()
        into = value_of(holder, self.field)
        for begin in range(self.start, self.stop, BLOCK):
            into.extend(self.values[begin : min(begin + BLOCK, self.stop)])
        yield serialised(holder)


class Unknown(Part):
    """Fields that the message's type does not have, as they are."""

    def __init__(self, fields: list[bytes]) -> None:
        self.fields, self.size = fields, sum(map(len, fields))

    def cut(self, room: int) -> tuple[Part | None, Part | None]:
        count = bisect_right(list(accumulate(map(len, self.fields))), room)
        head, rest = self.fields[:count], self.fields[count:]
        return Unknown(head) if head else None, Unknown(rest) if rest else None

    def least(self) -> int:
        return len(self.fields[0])

    def emit(self) -> Iterator[bytes]:
        yield from self.fields


class Together(Part):
    """Parts that are not cut from each other."""

    def __init__(self, parts: list[Part]) -> None:
        self.parts, self.size = parts, sum(part.size for part in parts)

    def emit(self) -> Iterator[bytes]:
        for part in self.parts:
            yield from part.emit()


def serialised(message: Message) -> bytes:
    """A message's bytes, the same every time; required fields may be missing."""
    return message.SerializePartialToString(deterministic=True)


def copy_field(message: Any, field: FieldDescriptor, value: Any) -> None:
    """Set a field to a copy of a value that another message of the type has there."""
    if is_map(field):
        into, messages = value_of(message, field), value_field(field).message_type is not None
        for key in value:
            if messages:
                into[key].CopyFrom(value[key])
            else:
                into[key] = value[key]
    elif field.is_repeated:
        value_of(message, field).extend(value)
    elif field.message_type is not None:
        into = value_of(message, field)
        into.SetInParent()
        into.CopyFrom(value)
    elif field.is_extension:
        message.Extensions[field] = value
    else:
        setattr(message, field.name, value)


def as_bytes(value: str | bytes) -> bytes:
    """The contents of a string or of bytes."""
    return value.encode() if isinstance(value, str) else value


def text_bytes(field: FieldDescriptor, value: str | bytes) -> bytes:
    """A string or bytes with tag and length."""
    data = as_bytes(value)
    return delimited(field.number, len(data)) + data


def contents(value: Any, child: Residue | None) -> tuple[int, Iterator[bytes]]:
    """The size and the bytes of a message as it is, or of what is left of it here: nothing if that is elsewhere."""
    if child is None:
        data = serialised(value)
        return len(data), iter((data,))
    return (child.size, child.emit()) if child.inline else (0, iter(()))


def element_size(field: FieldDescriptor, key: Any, size: int) -> int:
    """Bytes that a message of so many bytes takes in a field, with its key if that is a map."""
    return framer(field)(map_entry_size(field, key, size) if is_map(field) else size)


def map_entry_size(field: FieldDescriptor, name: Any, value: int) -> int:
    """Bytes inside of an entry whose value is a message of so many bytes."""
    return 1 + scalar_sizer(key_field(field))(name) + framer(value_field(field))(value)


def framed(field: FieldDescriptor, size: int, content: Iterator[bytes]) -> Iterator[bytes]:
    """A message of so many bytes with its tag and length, or between the tags of a group."""
    number = field.number << 3
    if in_message_set(field):
        yield b"\x0b\x10" + varint(field.number) + b"\x1a" + varint(size)
        yield from content
        yield b"\x0c"
    elif field.type == F.TYPE_GROUP:
        yield varint(number | 3)
        yield from content
        yield varint(number | 4)
    else:
        yield delimited(field.number, size)
        yield from content
