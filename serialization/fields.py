"""
Places inside of a message: as Python values, as the tags of a chunked message, and as text, each checked.

RFC "Unbound SavedModel": `FieldTypes`, `FieldIndex`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from shardwright.serialization.errors import FieldTagError
from shardwright.serialization.protos import chunk_pb2

MapKey: TypeAlias = str | int | bool
FieldTypes: TypeAlias = str | int | bool | Sequence[str | int | bool]
"""A field, or the way to a place: names or numbers of fields; after a repeated field an index, after a map a key."""

Key = tuple[MapKey, ...]
"""A path without its types: numbers of fields, and the index or key after each that has one."""

F = FieldDescriptor
KEY_KINDS = {
    F.TYPE_STRING: "s",
    F.TYPE_BOOL: "boolean",
    **dict.fromkeys((F.TYPE_UINT32, F.TYPE_FIXED32), "ui32"),
    **dict.fromkeys((F.TYPE_UINT64, F.TYPE_FIXED64), "ui64"),
    **dict.fromkeys((F.TYPE_INT32, F.TYPE_SINT32, F.TYPE_SFIXED32), "i32"),
    **dict.fromkeys((F.TYPE_INT64, F.TYPE_SINT64, F.TYPE_SFIXED64), "i64"),
}
"""For each type that a map's key can have, the member of `FieldIndex.MapKey` that holds it."""

RANGES = {
    "ui32": (0, (1 << 32) - 1),
    "ui64": (0, (1 << 64) - 1),
    "i32": (-(1 << 31), (1 << 31) - 1),
    "i64": (-(1 << 63), (1 << 63) - 1),
}
TOKEN = re.compile(r'(?P<name>\w+)|\[(?:(?P<number>-?\d+)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>[A-Za-z_][\w.]*))\]')


@dataclass(frozen=True, slots=True)
class Step:
    """One step into a message: a field, and the key of a map or the index in a repeated field if it goes on there."""

    field: FieldDescriptor
    key: MapKey | None = None
    index: int | None = None

    @property
    def message_type(self) -> Descriptor | None:
        """The type of message that this step leads to; None for other values, and for a map or list as a whole."""
        if self.key is not None:
            return value_field(self.field).message_type
        return None if self.field.is_repeated and self.index is None else self.field.message_type

    @property
    def is_list_of_messages(self) -> bool:
        """Whether this is a whole list of messages."""
        field = self.field
        return field.is_repeated and field.message_type is not None and self.index is None and not is_map(field)


Path: TypeAlias = tuple[Step, ...]


def is_map(field: FieldDescriptor) -> bool:
    """Whether a field is a map."""
    kind = field.message_type
    return kind is not None and field.is_repeated and kind.has_options and kind.GetOptions().map_entry


def key_field(field: FieldDescriptor) -> FieldDescriptor:
    """The field of a map's keys."""
    return _message_type(field).fields_by_number[1]


def value_field(field: FieldDescriptor) -> FieldDescriptor:
    """The field of a map's values."""
    return _message_type(field).fields_by_number[2]


def _message_type(field: FieldDescriptor) -> Descriptor:
    """The type of a field that is known to hold messages."""
    kind = field.message_type
    assert kind is not None
    return kind


def type_of(message: Message | type[Message]) -> Descriptor:
    """The type of a message, as the type checker knows it."""
    return cast(Descriptor, message.DESCRIPTOR)


def resolve(descriptor: Descriptor, fields: FieldTypes) -> Path:
    """
    The steps that names, numbers, keys and indices stand for.

    An index may be beyond the end of a list, since lists are looked at here as little as messages. Raises
    `FieldTagError`: SW0811 for a field that the type does not have, SW0812 for a path that cannot be.

    >>> from shardwright.serialization.protos import graph_pb2
    >>> steps = resolve(graph_pb2.GraphDef.DESCRIPTOR, ["node", 3, 5, "value", "tensor"])
    >>> format_path(steps), steps[-1].message_type.name
    ('node[3].attr["value"].tensor', 'TensorProto')
    """
    rest = listed(fields)[::-1]
    return _walked(
        descriptor,
        rest,
        lambda _: rest.pop(),
        lambda steps: check_key(steps[-1].field, rest.pop()),
        lambda steps: check_index(steps[-1].field, rest.pop()),
    )


def _walked(
    descriptor: Descriptor,
    rest: Sequence[object],
    field_number: Callable[[Sequence[Step]], str | int],
    map_key: Callable[[Sequence[Step]], MapKey],
    index: Callable[[Sequence[Step]], int],
) -> Path:
    """The steps of a path, of which the functions take one member each, as long as there is a `rest`."""
    steps = list[Step]()
    while rest:
        kind = steps[-1].message_type if steps else descriptor
        if kind is None:
            owner = steps[0].field.containing_type
            text = f"Unable to find fields after {format_path(steps)} in proto of type {owner and owner.full_name}"
            raise FieldTagError("SW0812", text)
        field = find_field(kind, field_number(steps))
        steps.append(Step(field))
        if rest and field.is_repeated:
            steps[-1] = Step(field, key=map_key(steps)) if is_map(field) else Step(field, index=index(steps))
    return tuple(steps)


def listed(fields: FieldTypes) -> list[str | int | bool]:
    """A single field, or the way to a place, as a list."""
    return [fields] if isinstance(fields, str | int) else list(fields)


def key_of(path: Iterable[Step]) -> Key:
    """
    A path without its types, as `resolve` takes it: numbers of fields, and the index or key after each that has one.

    It sorts in the order in which TensorFlow's merger takes fields: by number and index, the outer before the inner.
    """
    members = list[MapKey]()
    for step in path:
        members.append(step.field.number)
        if (member := step.index if step.key is None else step.key) is not None:
            members.append(member)
    return tuple(members)


def to_tags(path: Iterable[Step]) -> list[chunk_pb2.FieldIndex]:
    """
    The tags of a path, as in `ChunkedField.field_tag`.

    >>> from shardwright.serialization.protos import graph_pb2
    >>> [str(tag).strip() for tag in to_tags(resolve(graph_pb2.GraphDef.DESCRIPTOR, ("library", "function", 0)))]
    ['field: 2', 'field: 1', 'index: 0']
    """
    tags = list[chunk_pb2.FieldIndex]()
    for step in path:
        tags.append(chunk_pb2.FieldIndex(field=step.field.number))
        if step.key is not None:
            key: dict[str, Any] = {KEY_KINDS[key_field(step.field).type]: step.key}
            tags.append(chunk_pb2.FieldIndex(map_key=chunk_pb2.FieldIndex.MapKey(**key)))
        elif step.index is not None:
            tags.append(chunk_pb2.FieldIndex(index=step.index))
    return tags


def from_tags(descriptor: Descriptor, tags: Iterable[chunk_pb2.FieldIndex]) -> Path:
    """
    The path of tags, each checked against the type: the kind of tag, the kind and range of a key. Raises as `resolve`.

    >>> from shardwright.serialization.protos import graph_pb2
    >>> format_path(from_tags(graph_pb2.GraphDef.DESCRIPTOR, [chunk_pb2.FieldIndex(field=4)]))
    'versions'
    """
    rest = list(tags)[::-1]
    return _walked(
        descriptor,
        rest,
        lambda steps: _tag(rest.pop(), "field", steps),
        lambda steps: _key_of_tag(steps[-1].field, _tag(rest.pop(), "map_key", steps)),
        lambda steps: _tag(rest.pop(), "index", steps),
    )


def get_field_tag(message: Message, fields: FieldTypes) -> list[chunk_pb2.FieldIndex]:
    """The tags of a place in a message, from names, numbers, keys and indices. Raises as `resolve`."""
    return to_tags(resolve(type_of(message), fields))


def get_field(message: Message, fields: FieldTypes) -> tuple[Any, FieldDescriptor | None]:
    """
    What is at a place in a message (None if a list is too short or a key is not there), and its last field.

    The message is not changed: keys that are not there stay away. Raises as `resolve`.
    """
    value, path = message, resolve(type_of(message), fields)
    for step in path:
        value = get_step(value, step)
        if value is None:
            break
    return value, path[-1].field if path else None


def value_of(message: Any, field: FieldDescriptor) -> Any:
    """The value of a field, also an extension."""
    return message.Extensions[field] if field.is_extension else getattr(message, field.name)


def get_step(message: Any, step: Step) -> Any:
    """What is one step into a message; None for a key or an element that is not there."""
    value = value_of(message, step.field)
    if step.key is not None:
        return value.get(step.key)
    if step.index is not None:
        return value[step.index] if step.index < len(value) else None
    return value


def format_path(path: Iterable[Step]) -> str:
    """A path as text for people; `parse_path` reads it. The message itself is the empty text."""
    text = ""
    for step in path:
        name = f"[{step.field.full_name}]" if step.field.is_extension else step.field.name
        text += f".{name}" if text else name
        if step.key is not None:
            text += f"[{json.dumps(step.key, ensure_ascii=False)}]"
        elif step.index is not None:
            text += f"[{step.index}]"
    return text


def parse_path(descriptor: Descriptor, text: str) -> Path:
    """
    The path that a text stands for: the reverse of `format_path`. Raises as `resolve`.

    >>> from shardwright.serialization.protos import graph_pb2
    >>> parse_path(graph_pb2.GraphDef.DESCRIPTOR, 'node[0].attr["a.b]"]')[1].key
    'a.b]'
    """
    fields, place, dot = list[str | int | bool](), 0, False
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None or (match["name"] and place and not dot):
            raise FieldTagError("SW0812", f"{text!r} is not a path: it cannot be read from byte {place} on")
        fields.append(_token(match, begins=not place or dot))
        place = match.end()
        dot = text[place : place + 1] == "."
        place += dot
    if dot:
        raise FieldTagError("SW0812", f"{text!r} is not a path: a field must follow the last dot")
    return resolve(descriptor, fields)


def _token(match: re.Match[str], begins: bool) -> str | int | bool:
    """A name, or what is in brackets; `begins` where a field must come, so that a word is an extension's name."""
    if match["word"]:
        return f"[{match['word']}]" if begins else {"true": True, "false": False}.get(match["word"], match["word"])
    if match["number"]:
        return int(match["number"])
    return json.loads(match["text"], strict=False) if match["text"] else match["name"]


def find_field(kind: Descriptor, field: str | int) -> FieldDescriptor:
    """A field, or an extension, of a type by its number or name; an extension's name is in brackets or parentheses."""
    found = None
    try:
        if isinstance(field, str):
            found = kind.fields_by_name.get(field)
            if found is None and field[:1] in "[(" and field[-1:] in "])":
                found = kind.file.pool.FindExtensionByName(field[1:-1])
        elif field in kind.fields_by_number:
            found = kind.fields_by_number[field]
        elif kind.is_extendable:
            found = kind.file.pool.FindExtensionByNumber(kind, field)
    except (KeyError, ValueError, TypeError, OverflowError):
        found = None
    if found is None or found.containing_type is not kind:
        what = f"field {field!r}" if isinstance(field, str) else f"field number {field}"
        known = ", ".join(f"{each.name} = {each.number}" for each in kind.fields)
        raise FieldTagError("SW0811", f"Unable to find {what} in {kind.full_name}; it has {known or 'no fields'}")
    return found


def check_key(field: FieldDescriptor, key: object) -> MapKey:
    """A key that a map can have: SW0812 otherwise."""
    kind = KEY_KINDS[key_field(field).type]
    if kind == "s" and isinstance(key, str):
        return key
    if kind == "boolean" and isinstance(key, bool):
        return key
    if kind in RANGES and isinstance(key, int) and not isinstance(key, bool):
        low, high = RANGES[kind]
        if low <= key <= high:
            return key
    wanted = {"s": "a string", "boolean": "True or False"}.get(kind) or "an integer from {} to {}".format(*RANGES[kind])
    raise FieldTagError("SW0812", f"a key of {field.full_name} is {wanted}, not {key!r}")


def check_index(field: FieldDescriptor, index: object) -> int:
    """An index that a list could have: SW0812 otherwise."""
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index <= RANGES["ui64"][1]:
        return index
    raise FieldTagError("SW0812", f"an index into {field.full_name} is an integer from 0 on, not {index!r}")


def _tag(tag: chunk_pb2.FieldIndex, kind: str, steps: Sequence[Step]) -> Any:
    """The value of a tag, which must be of a kind."""
    if (found := tag.WhichOneof("kind")) != kind:
        where = format_path(steps) or "the message"
        raise FieldTagError("SW0812", f"after {where} there must be a tag of kind {kind!r}, not {found!r}")
    return getattr(tag, kind)


def _key_of_tag(field: FieldDescriptor, key: chunk_pb2.FieldIndex.MapKey) -> MapKey:
    """The key in a tag, which must be of the map's kind."""
    kind = KEY_KINDS[key_field(field).type]
    if (found := key.WhichOneof("type")) != kind:
        raise FieldTagError("SW0812", f"a key of {field.full_name} is in {kind!r}, not in {found!r}")
    return getattr(key, kind)
