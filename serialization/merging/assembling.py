"""Parts put into a message, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from shardwright.serialization.errors import MergeError
from shardwright.serialization.fields import Key, format_path, value_of
from shardwright.serialization.merging.lazy.scalars import NotAValue, check_text, number_from_text
from shardwright.serialization.merging.plan import Part
from shardwright.serialization.merging.reading.sources import (
    LARGEST,
    LARGEST_MERGED,
    ChunkSource,
    fresh_bytes,
    merge_bytes,
)
from shardwright.serialization.merging.shapes import Kind, Shape, is_set, steps_of
from shardwright.serialization.wire import delimited


class Assembler:
    """
    Puts parts into a message, in their order, which must be that of their paths.

    The way to a place is kept, so that the next place near it is found from there. `base` is the way to the message, if
    it is not the whole one. Raises `MergeError`: SW0838 for
    bytes that are not a value of their field, SW0839 for chunks that cannot be parsed, SW0840 for an index beyond the
    end of a list, SW0841 for a second member of a oneof.
    """

    def __init__(self, message: Message, source: ChunkSource, base: Key = ()) -> None:
        self._source = source
        self._way: list[Any] = [*[None] * len(base), message]
        self._key: Key = base

    def put(self, parts: Sequence[Part]) -> None:
        """Put all parts into the message."""
        for _, same in groupby(parts, key=lambda part: part.key):
            group = list(same)
            part = group[0]
            self._go(part)
            chunks = [each.chunk for each in group if each.chunk >= 0]
            if part.shape.kind is Kind.MESSAGE:
                for each in group:
                    if each.chunk >= 0:
                        self._source.merge_into(each.chunk, self._way[-1], each)
            else:
                self._put_value(part, chunks)

    def _go(self, part: Part) -> None:
        """Go to the place of a part; to the message around it if it is a value."""
        key, chain = part.key, part.shape.chain
        depth = len(key) if part.shape.kind is Kind.MESSAGE else len(key) - 1
        same = 0
        while same < min(len(self._key), depth, len(self._way) - 1) and self._key[same] == key[same]:
            same += 1
        del self._way[same + 1 :]
        for place in range(same, depth):
            self._way.append(self._enter(self._way[-1], chain[place], key[place], part, place))
        self._key = key[:depth]

    def _enter(self, here: Any, shape: Shape, member: Any, part: Part, place: int) -> Any:
        """What is one member of a path further in; it comes into being if it is not there."""
        before = part.shape.chain[place - 1] if place else None
        if before is None or before.element is not shape:
            return self._field(here, shape, part)
        assert before is not None
        if before.kind is Kind.MAP:
            return here[member]
        if member > len(here):
            raise self._gap(part, place, len(here))
        return here[member] if member < len(here) else here.add()

    def _field(self, message: Any, shape: Shape, part: Part) -> Any:
        field = shape.field
        assert field is not None
        self._check_oneof(message, field, part)
        value = value_of(message, field)
        if shape.kind is Kind.MESSAGE:
            value.SetInParent()
        return value

    def _check_oneof(self, message: Any, field: FieldDescriptor, part: Part) -> None:
        """A part must not take the place of another member of its oneof."""
        if (oneof := field.containing_oneof) is not None:
            there = message.WhichOneof(oneof.name)
            if there is not None and there != field.name:
                text = f"{field.name} would take the place of {there}: only one of them can be in {oneof.name}"
                raise self._error("SW0841", text, part)

    def _put_value(self, part: Part, chunks: Sequence[int]) -> None:
        kind = part.shape.value_field.type
        if _container(part) is None:
            self._check_oneof(self._way[-1], part.shape.value_field, part)
        if kind in (FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_STRING):
            self._put_bytes(part, chunks, kind == FieldDescriptor.TYPE_STRING)
            return
        if len(chunks) > 1:
            raise self._error("SW0838", "a second chunk for a place that holds one number", part, chunks[1])
        data = bytearray(self._size(part, chunks))
        self._source.read_into(chunks[0], memoryview(data), part)
        try:
            self._store(part, number_from_text(part.shape.value_field, bytes(data)))
        except NotAValue as fault:
            raise self._error("SW0838", str(fault), part, chunks[0]) from None

    def _put_bytes(self, part: Part, chunks: Sequence[int], text: bool) -> None:
        """
        Bytes after what is there already. They are read to behind the tag of their field, which makes a message of
        them that protobuf merges: one copy, where setting a field would be two.
        """
        there = self._there(part)
        front = there.encode() if isinstance(there, str) else bytes(there or b"")
        size = len(front) + self._size(part, chunks)
        around = _container(part)
        merges = around is None or (around is Kind.LIST and there is None)
        head = delimited(part.shape.value_field.number, size) if merges and size < LARGEST_MERGED else b""
        data, place = fresh_bytes(len(head) + size), len(head) + len(front)
        data[:place] = head + front
        buffer = memoryview(data)
        for chunk in chunks:
            end = place + self._source.size(chunk, part)
            self._source.read_into(chunk, buffer[place:end], part)
            place = end
        if text:
            self._check_text(part, chunks[0], buffer[len(head) :])
        if head:
            merge_bytes(self._way[-1 if around is None else -2], data, self._source.name, chunks[0], part)
        else:
            self._store(part, str(buffer, "utf-8") if text else bytes(buffer))

    def _size(self, part: Part, chunks: Sequence[int]) -> int:
        size = sum(self._source.size(chunk, part) for chunk in chunks)
        if size > LARGEST:
            raise self._error("SW0838", f"{size} bytes are more than a field can hold", part, chunks[0])
        return size

    def _check_text(self, part: Part, chunk: int, data: memoryview) -> None:
        try:
            check_text(data)
        except NotAValue as fault:
            raise self._error("SW0838", str(fault), part, chunk) from None

    def _there(self, part: Part) -> Any:
        """The value that is at a place; None for a new element, and a new entry of a map."""
        here, around = self._way[-1], _container(part)
        member: Any = part.key[-1]
        if around is None:
            field = part.shape.value_field
            return value_of(here, field) if is_set(here, field) else None
        if around is Kind.MAP:
            return here.get(member)
        if member > len(here):
            raise self._gap(part, len(part.key) - 1, len(here))
        return here[member] if member < len(here) else None

    def _store(self, part: Part, value: Any) -> None:
        """Set a value: of a field, an element of a list, which may be new, or an entry of a map."""
        here, around = self._way[-1], _container(part)
        member: Any = part.key[-1]
        if around is None:
            field = part.shape.value_field
            if field.is_extension:
                here.Extensions[field] = value
            else:
                setattr(here, field.name, value)
        elif around is Kind.LIST and self._there(part) is None:
            here.append(value)
        else:
            here[member] = value

    def _gap(self, part: Part, place: int, length: int) -> MergeError:
        where = format_path(steps_of(part.shape.chain[place - 1], part.key[:place]))
        return self._error("SW0840", f"there are only {length} elements in {where} before it", part, part.chunk)

    def _error(self, code: str, message: str, part: Part, chunk: int | None = None) -> MergeError:
        number = chunk if chunk is not None else part.chunk
        return MergeError(code, message, file=self._source.name, chunk=number if number >= 0 else None, path=part.path)


def _container(part: Part) -> Kind | None:
    """Whether a place is an element of a list or of a map."""
    chain = part.shape.chain
    return chain[-2].kind if len(chain) > 1 and chain[-2].element is chain[-1] else None
