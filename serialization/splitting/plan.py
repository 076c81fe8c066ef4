"""
The plan of a split: which chunk holds which parts of a message, so that every message chunk is small enough.

Bottom-up: bytes and strings that are large become chunks of their own; what is left of a message that is still too
large leaves its large messages to chunks of their own; what is left then is cut into runs. Top-down: the first run of
a message that was cut stays where the message is if there is room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass as message_class

from shardwright.serialization.errors import SplitError
from shardwright.serialization.fields import (
    Path,
    Step,
    format_path,
    is_map,
    key_field,
    key_of,
    type_of,
    value_field,
    value_of,
)
from shardwright.serialization.splitting.limits import MOST, Limits
from shardwright.serialization.splitting.parts import (
    TEXTS,
    Child,
    Content,
    Elements,
    FieldPart,
    Numbers,
    Part,
    Residue,
    Single,
    Together,
    Unknown,
    Whole,
    element_size,
)
from shardwright.serialization.splitting.sizes import (
    F,
    FieldSize,
    Sized,
    framer,
    measure,
    scalar_sizer,
    size_of,
    tag_size,
    without_length,
)

INT32 = range(-(1 << 31), 1 << 31)


@dataclass(frozen=True, slots=True)
class Planned:
    """One chunk of a plan, and where it belongs: a piece of a message, or the contents of a bytes or string field."""

    path: Path
    part: Residue | Content


def measured(message: Message, limits: Limits) -> Sized:
    """The sizes of a message, with as many details as a plan needs. Raises SW0814, SW0817."""
    try:
        size = measure(message, limits.small)
    except UnicodeDecodeError:
        text = "a map of proto2 has a key that is not UTF-8, which Python's protobuf does not look up"
        raise SplitError("SW0817", text) from None
    return size if isinstance(size, Sized) else Sized(message, size, [], [])


def plan(sized: Sized, limits: Limits, path: Path = (), only: FieldDescriptor | None = None) -> list[Planned]:
    """
    The chunks of a message that is too large, in the order in which they are to be merged; the first is the base.

    With `only`, what is not in this field stays together in the base. Raises SW0813 for what is too large in one piece.
    """
    reducer = _Reducer(limits)
    root = reducer.reduce(sized, path) if only is None else reducer.reduce_one(sized, path, only)
    planned = list(_emit(root, limits))
    return planned[:1] + list(_anchored(sorted(planned[1:], key=lambda each: key_of(each.path))))


def _anchored(planned: list[Planned]) -> Iterator[Planned]:
    """
    The chunks, with an empty one for each value of a map that has several inside of it and none of its own.

    TensorFlow's merger gives fields with the same key no order; so they go below a field of the value.
    """
    keys = [[key_of(each.path[:depth]) for depth in _depths_of_keys(each.path)] for each in planned]
    counts, seen = Counter(key for each in keys for key in each), set[tuple[Any, ...]]()
    for each, found in zip(planned, keys, strict=True):
        for depth, key in zip(_depths_of_keys(each.path), found, strict=True):
            kind = each.path[depth - 1].message_type
            if counts[key] > 1 and key not in seen and depth < len(each.path) and kind is not None:
                yield Planned(each.path[:depth], Residue(each.path[:depth], message_class(kind)(), [], 0))
            seen.add(key)
        yield each


def _depths_of_keys(path: Path) -> list[int]:
    """How many steps lead to each value of a map on the way."""
    return [depth for depth, step in enumerate(path, 1) if step.key is not None]


class _Reducer:
    """What is left of messages when their large parts have become chunks."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits

    def reduce(self, sized: Sized, path: Path) -> Residue:
        """A message without its large bytes and strings, and if that is not enough, without its large messages."""
        reduced = [self._field(sized, each, path) for each in sized.fields]
        left = sized.size + sum(gain for _, gain in reduced)
        if left == sized.size <= self.limits.chunk_size:
            return Residue(path, sized.message, [Whole(sized.message, left)], left)
        large = sized.size > self.limits.chunk_size
        apart = left > self.limits.chunk_size
        parts = [
            self._part(sized.message, each, children, apart)
            for each, (children, _) in zip(sized.fields, reduced, strict=True)
        ]
        if sized.unknown:
            parts.append(Unknown(sized.unknown))
        return Residue(path, sized.message, parts, sum(part.size for part in parts), large=large)

    def reduce_one(self, sized: Sized, path: Path, only: FieldDescriptor) -> Residue:
        """A message of which only one field is reduced."""
        rest = [Single(sized.message, each.field, each.size) for each in sized.fields if each.field is not only]
        parts: list[Part] = [Together([*rest, Unknown(sized.unknown)])]
        for each in sized.fields:
            if each.field is only:
                children, gain = self._field(sized, each, path)
                parts.append(self._part(sized.message, each, children, sized.size + gain > self.limits.chunk_size))
        return Residue(path, sized.message, parts, sum(part.size for part in parts))

    def _field(self, sized: Sized, field: FieldSize, path: Path) -> tuple[Any, int]:
        """The reduced messages in a field by key, or the contents to take out; and how many bytes that adds to it."""
        kind = field.field
        if field.size <= self.limits.small:
            return None, 0
        if kind.message_type is None:
            content = self._content(sized.message, field)
            if content and content.content > MOST:
                raise _too_large((*path, Step(kind)), content.content, MOST)
            return content, content.size - field.size if content else 0
        children = dict[Any, Residue]()
        for key, part in _large_parts(field):
            step = _step(field, key)
            if self._reachable(field, step, part):
                children[key] = self.reduce(part, (*path, step))
        before = sum(element_size(field.field, key, part.size) for key, part in _large_parts(field) if key in children)
        return children, sum(element_size(field.field, key, child.size) for key, child in children.items()) - before

    def _content(self, owner: Message, field: FieldSize) -> Content | None:
        """A single string or bytes field that is large enough to be a chunk; an extension only if it must be."""
        kind = field.field
        if kind.type not in TEXTS or kind.is_repeated or (kind.is_extension and field.size <= self.limits.max_size):
            return None
        content = without_length(field.size - tag_size(kind))
        if kind.is_required and field.size <= self.limits.max_size:
            return None  # TensorFlow's merger wants all required fields in the first chunk
        if kind.type == F.TYPE_STRING and isinstance(value_of(owner, kind), bytes):
            return None  # proto2, not UTF-8: only a message can bring it back
        return Content(owner, kind, content) if content > self.limits.small else None

    def _reachable(self, field: FieldSize, step: Step, part: Sized) -> bool:
        """
        Whether a message may be named by a tag.

        TensorFlow's merger knows no extensions, and keys of maps only as 32 bits; what cannot be written in another
        way is named all the same, for ours.
        """
        kind = field.field
        known = not kind.is_extension
        if is_map(kind) and isinstance(step.key, int):
            known = step.key in INT32 or key_field(kind).cpp_type == F.CPPTYPE_UINT32
        return known or element_size(kind, step.key, part.size) > self.limits.max_size

    def _placed(self, field: FieldSize, key: Any, child: Residue, apart: bool) -> Residue:
        """
        A reduced message, as it stays or as it leaves a blank.

        TensorFlow's merger refuses a chunk with a blank that lacks required fields; so these stay, if they have room.
        """
        if not apart or child.size <= self.limits.small:
            return replace(child, inline=True)
        required = [part for part in child.parts if _required(part)]
        head = child.with_parts(required)
        if any(each.is_required for each in type_of(child.message).fields):
            if element_size(field.field, key, child.size) <= self.limits.max_size:
                return replace(child, inline=True)
            if required and element_size(field.field, key, head.size) <= self.limits.max_size:
                rest = child.with_parts([part for part in child.parts if not _required(part)])
                return replace(head, inline=True, rest=replace(rest, inline=False))
        return replace(child, inline=False)

    def _part(self, owner: Message, field: FieldSize, children: Any, apart: bool) -> Part:
        """What is left of a field; with `apart`, large messages in it go into chunks of their own."""
        kind = field.field
        if isinstance(children, Content):
            return children
        reduced: dict[Any, Residue] = children or {}
        for key, child in reduced.items():
            reduced[key] = self._placed(field, key, child, apart)
        if reduced and not kind.is_repeated:
            return Child(kind, reduced[None])
        if not kind.is_repeated or field.size <= self.limits.small:
            return Single(owner, kind, field.size)
        if kind.message_type is None and kind.type not in TEXTS:
            return Numbers.of(owner, kind, field.value, field.size)
        sizes = _element_sizes(field)
        for key, child in reduced.items():
            sizes[key] = element_size(kind, key, child.size if child.inline else 0)
        return Elements.of(owner, kind, field.value, sizes, reduced)


def _required(part: Part) -> bool:
    return isinstance(part, FieldPart) and part.field.is_required


def _large_parts(field: FieldSize) -> Iterator[tuple[Any, Sized]]:
    """The large messages in a field, each with its index, its key, or None."""
    parts = field.parts
    if isinstance(parts, Sized):
        yield None, parts
    elif isinstance(parts, list):
        yield from ((index, part) for index, part in enumerate(parts) if isinstance(part, Sized))
    elif isinstance(parts, dict):
        yield from ((key, parts[key]) for key in sorted(parts) if isinstance(parts[key], Sized))


def _step(field: FieldSize, key: Any) -> Step:
    return Step(field.field, key=key) if is_map(field.field) else Step(field.field, index=key)


def _element_sizes(field: FieldSize) -> Any:
    """Bytes of each element of a list, or of each entry of a map by key, tags and lengths included."""
    kind, frame = field.field, framer(field.field)
    if kind.message_type is None:
        tag, one = tag_size(kind), scalar_sizer(kind)
        return [tag + one(each) for each in field.value]
    if not is_map(kind):
        return [frame(size_of(part)) for part in field.parts]
    key, value = scalar_sizer(key_field(kind)), value_field(kind)
    inner = framer(value) if value.message_type is not None else None
    return {
        name: frame(1 + key(name) + (inner(size_of(part)) if inner else part)) for name, part in field.parts.items()
    }


def _emit(residue: Residue, limits: Limits) -> Iterator[Planned]:
    """The chunks of what is left of a message: its pieces, then those of the messages that left blanks in them."""
    pieces = list(_pack(residue, limits))
    for piece in pieces:
        _Filling(piece, limits.chunk_size).fill(piece, [])
        yield Planned(residue.path, piece)
    for piece in pieces:
        yield from _emit_children(piece, limits)


def _emit_children(piece: Residue, limits: Limits) -> Iterator[Planned]:
    """The chunks of what is not in a piece though its place is there."""
    for part in piece.parts:
        if isinstance(part, Content):
            yield Planned((*piece.path, Step(part.field)), part)
        for _, child in part.children():
            if not child.inline:
                yield from _emit(child, limits)
                continue
            yield from _emit_children(child, limits)
            if child.rest is not None:
                yield from _emit(child.rest, limits)


def _pack(residue: Residue, limits: Limits) -> Iterator[Residue]:
    """Pieces of at most `chunk_size` bytes, or `max_size` where something cannot be cut."""
    rest: Residue | None = residue.with_parts(sorted(residue.parts, key=_rank))
    required = sum(part.size for part in residue.parts if _required(part))
    room = max(limits.chunk_size, required) if required <= limits.max_size else limits.chunk_size
    while rest is not None:
        head, left = cut(rest, room)
        room = limits.chunk_size
        if head is None or not (head.size or left is None):
            first = next(part for part in rest.parts if part.size)
            least = first.least()
            if least > limits.max_size:
                raise _too_large((*rest.path, *first.place()), least, limits.max_size)
            head, left = cut(rest, least)
        assert head is not None
        yield head
        rest = left


def cut(residue: Residue, room: int) -> tuple[Residue | None, Residue | None]:
    """As much of a message as has room, single fields first, and what is left; either may be None."""
    parts = sorted(residue.parts, key=_rank)
    heads = list[Part]()
    for number, part in enumerate(parts):
        head, left = part.cut(room)
        if head is not None:
            heads.append(head)
            room -= head.size
        if left is not None:
            rest = residue.with_parts([left, *parts[number + 1 :]])
            return residue.with_parts(heads) if heads else None, rest
    return residue.with_parts(heads), None


def _rank(part: Part) -> int:
    """
    Required fields come first, then other single ones, so that the base chunk has them; unknown fields keep their
    place at the end.
    """
    if _required(part):
        return -1
    return 2 if isinstance(part, Unknown) else int(isinstance(part, Elements | Numbers))


def _too_large(path: Path, size: int, most: int) -> SplitError:
    message = f"{size} bytes in one piece do not fit into a chunk of {most} bytes"
    return SplitError("SW0813", message, path=format_path(path) or "unknown fields")


class _Filling:
    """Puts first pieces of large messages where room is left in a piece of the message around them."""

    def __init__(self, piece: Residue, capacity: int) -> None:
        self.piece, self.capacity = piece, capacity

    def fill(self, residue: Residue, chain: list[tuple[Part, Residue]]) -> None:
        """Fill the blanks of a piece or of a message inside of it; `chain` leads there."""
        for part in residue.parts:
            for key, child in part.children():
                if not child.inline and child.large:
                    child = self._head(chain, part, child)
                    if child is None:
                        continue
                    self._put(chain, part, key, child)
                if child.inline:
                    self.fill(child, [*chain, (part, child)])

    def _head(self, chain: list[tuple[Part, Residue]], part: Part, child: Residue) -> Residue | None:
        """As much of a message as has room in its place; one that is a single chunk is not cut for that."""
        room, framing = self.capacity - self.piece.size, 0
        for outer, inner in [*chain, (part, child)]:
            grown = replace(inner, inline=True, size=room + (inner.size if inner.inline else 0))
            framing += outer.content_size(grown) - outer.content_size(inner) - room
        head, rest = cut(child, room - framing) if room > framing else (None, child)
        if head is None or not head.size or (rest is not None and child.size <= self.capacity):
            return None
        return replace(head, inline=True, rest=rest)

    def _put(self, chain: list[tuple[Part, Residue]], part: Part, key: Any, child: Residue) -> None:
        before = part.size
        part.put(key, child)
        grown = part.size - before
        for outer, inner in reversed(chain):
            before = outer.content_size(inner)
            inner.size += grown
            grown = outer.content_size(inner) - before
            outer.size += grown
        self.piece.size += grown
