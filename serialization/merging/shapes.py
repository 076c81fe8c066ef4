"""
Kinds of places in messages: what tags lead to, with indices and keys left out.

Many paths of a large message differ only in an index; each kind of place is checked against the type once.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from shardwright.serialization.fields import (
    KEY_KINDS,
    Key,
    MapKey,
    Step,
    find_field,
    format_path,
    is_map,
    key_field,
    value_field,
    value_of,
)
from shardwright.serialization.protos import chunk_pb2


class Kind(Enum):
    """What is at a place."""

    MESSAGE = "a message"
    SCALAR = "a value"
    LIST = "a repeated field"
    MAP = "a map"


class Mismatch(Exception):
    """A tag that cannot follow here; `from_tags` says why."""


class Shape:
    """A kind of place: the field that leads there, and whether it is that field or an element of it."""

    __slots__ = ("chain", "element", "field", "into", "key_kind", "kind", "message")

    def __init__(
        self, before: tuple[Shape, ...], message: Descriptor | None, field: FieldDescriptor | None, whole: bool = False
    ) -> None:
        self.field, self.message = field, message
        self.chain = (*before, self) if field is not None else ()
        """The shapes on the way here, one for each member of a `Key`."""
        self.into = dict[int, Shape]()
        self.kind = Kind.SCALAR if message is None else Kind.MESSAGE
        self.element: Shape | None = None
        self.key_kind = "index"
        if whole and field is not None and field.is_repeated:
            self._be_repeated(field)

    def _be_repeated(self, field: FieldDescriptor) -> None:
        self.message = None
        if is_map(field):
            self.kind, self.key_kind = Kind.MAP, KEY_KINDS[key_field(field).type]
            self.element = Shape(self.chain, value_field(field).message_type, field)
        else:
            self.kind = Kind.LIST
            self.element = Shape(self.chain, field.message_type, field)

    def enter(self, number: int) -> Shape:
        """The shape of a field of the message that is here."""
        shape = self.into.get(number)
        if shape is None:
            if self.message is None:
                raise Mismatch
            field = find_field(self.message, number)
            shape = self.into[number] = Shape(self.chain, field.message_type, field, whole=True)
        return shape

    def text(self, key: Key) -> str:
        """A path that leads here, as text."""
        return format_path(steps_of(self, key))

    @property
    def value_field(self) -> FieldDescriptor:
        """The field that says what values here are: the field itself, or that of a map's values."""
        assert self.field is not None
        return value_field(self.field) if is_map(self.field) else self.field


def root_shape(descriptor: Descriptor) -> Shape:
    """The shape of a message as a whole; the shapes of all that is in it grow from it."""
    return Shape((), descriptor, None)


def follow(shape: Shape, tags: Iterable[chunk_pb2.FieldIndex]) -> tuple[list[MapKey], Shape]:
    """The members of a path that tags add, and the shape that they lead to; a `Mismatch` if they cannot."""
    members = list[MapKey]()
    for tag in tags:
        element = shape.element
        if element is None:
            number = tag.field
            if not number:
                raise Mismatch
            members.append(number)
            shape = shape.into.get(number) or shape.enter(number)
        else:
            members.append(_member(tag, shape))
            shape = element
    return members, shape


def _member(tag: chunk_pb2.FieldIndex, shape: Shape) -> MapKey:
    """The index or key in a tag, of the kind that a list or a map needs."""
    if shape.kind is Kind.LIST:
        if tag.HasField("index"):
            return tag.index
    elif tag.map_key.WhichOneof("type") == shape.key_kind:
        return getattr(tag.map_key, shape.key_kind)
    raise Mismatch


def steps_of(shape: Shape, key: Key) -> list[Step]:
    """A path with its types."""
    steps, chain, place = list[Step](), shape.chain, 0
    while place < len(chain):
        here = chain[place]
        assert here.field is not None
        more = here.element is not None and place + 1 < len(chain)
        if not more:
            steps.append(Step(here.field))
        elif here.kind is Kind.MAP:
            steps.append(Step(here.field, key=key[place + 1]))
        else:
            steps.append(Step(here.field, index=int(key[place + 1])))
        place += 1 + more
    return steps


def shape_at(root: Shape, key: Key) -> Shape:
    """The shape of a path whose fields are known to be there."""
    shape = root
    for member in key:
        shape = shape.element or shape.enter(int(member))
    return shape


def is_set(message: Any, field: FieldDescriptor) -> bool:
    """Whether a field that is not repeated has a value, as `ListFields` sees it."""
    if field.is_extension:
        return message.HasExtension(field)
    if field.has_presence:
        return message.HasField(field.name)
    return bool(value_of(message, field)) or any(each.number == field.number for each, _ in message.ListFields())
