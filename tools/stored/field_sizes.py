"""Which fields of a message its bytes are in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shardwright.serialization.fields import Path, Step, format_path, is_map
from shardwright.serialization.splitting.sizes import FieldSize, Sized, measure, size_of

if TYPE_CHECKING:
    from google.protobuf.message import Message

SHARE = 100
"""A field with less than this part of the message's bytes is not listed."""


@dataclass(frozen=True)
class Row:
    """A field, the bytes in it, and how many elements it has if it is a list or a map."""

    path: str
    bytes: int
    count: int | None


def field_sizes(message: Message) -> tuple[int, list[Row]]:
    """
    The bytes of a message, and those of its larger fields, the outer before the inner.

    >>> from shardwright.serialization.protos import graph_pb2
    >>> graph = graph_pb2.GraphDef(node=[graph_pb2.NodeDef(name="a", op="b" * 100)])
    >>> field_sizes(graph)
    (107, [Row(path='node', bytes=107, count=1), Row(path='node[0].name', bytes=3, count=None), \
Row(path='node[0].op', bytes=102, count=None)])
    """
    size = size_of(measure(message, _MOST))
    least = size // SHARE
    found = measure(message, min(least, max(size - 1, 0)))
    return size, list(_rows(found, (), least)) if isinstance(found, Sized) else []


_MOST = (1 << 63) - 1
"""Larger than any message: no details."""


def _rows(sized: Sized, path: Path, least: int) -> Iterator[Row]:
    for field in sized.fields:
        if field.size > least:
            counted = field.field.is_repeated
            yield Row(format_path((*path, Step(field.field))), field.size, len(field.value) if counted else None)
            yield from _inside(field, path, least)


def _inside(field: FieldSize, path: Path, least: int) -> Iterator[Row]:
    """The fields of the large messages in a field."""
    kind, parts = field.field, field.parts
    if isinstance(parts, Sized):
        yield from _rows(parts, (*path, Step(kind)), least)
    elif isinstance(parts, list | dict):
        for key, part in enumerate(parts) if isinstance(parts, list) else parts.items():
            if isinstance(part, Sized):
                step = Step(kind, key=key) if is_map(kind) else Step(kind, index=key)
                yield from _rows(part, (*path, step), least)
