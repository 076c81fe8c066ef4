"""What is at a place of a message that was not put together: found in the chunks that can have it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from shardwright.serialization.errors import ElementError
from shardwright.serialization.fields import Key, Path as Place, Step, format_path, key_of, value_of
from shardwright.serialization.merging.assembling import Assembler
from shardwright.serialization.merging.lazy.scalars import NotAValue, check_text, number_from_text
from shardwright.serialization.merging.plan import Part
from shardwright.serialization.merging.reading.runs_index import ListRuns
from shardwright.serialization.merging.reading.sources import ChunkSource
from shardwright.serialization.merging.shapes import Kind, Shape, is_set, shape_at

TEXT, BYTES = FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES

KEPT = 1 << 25
"""Bytes of records whose messages are kept; the message used last is kept whatever its size."""

Piece = Part | Message
"""What is merged into a message: a chunk, or a message inside of one."""


class _ChunkCache:
    """The messages of chunks, and which fields each has, remembered for longer."""

    def __init__(self, file: ChunkSource) -> None:
        self._file = file
        self._messages, self._size = OrderedDict[int, tuple[Message, int]](), 0
        self._fields = dict[int, dict[int, int]]()

    def load(self, piece: Piece) -> Any:
        """The message of a piece, which others use, too."""
        if isinstance(piece, Message):
            return piece
        if (found := self._messages.get(piece.chunk)) is not None:
            self._messages.move_to_end(piece.chunk)
            return found[0]
        message = self.fresh(piece)
        self._keep(piece.chunk, message, self._file.sizes[piece.chunk])
        return message

    def fresh(self, part: Part) -> Any:
        """The message of a chunk, parsed anew and not kept."""
        assert part.shape.message is not None
        message: Any = GetMessageClass(part.shape.message)()
        self._file.merge_into(part.chunk, message, part)
        self._fields[part.chunk] = {
            field.number: len(value) if field.is_repeated else 1 for field, value in message.ListFields()
        }
        return message

    def count(self, piece: Piece, field: FieldDescriptor) -> int:
        """How many elements a piece has of a field, 1 for the value of one that is not repeated."""
        if isinstance(piece, Message):
            return _count_of(piece, field)
        if piece.chunk not in self._fields:
            self.load(piece)
        return self._fields[piece.chunk].get(field.number, 0)

    def _keep(self, chunk: int, message: Message, size: int) -> None:
        self._messages[chunk] = message, size
        self._size += size
        while self._size > KEPT and len(self._messages) > 1:
            _, (_, gone) = self._messages.popitem(last=False)
            self._size -= gone


def _count_of(message: Any, field: FieldDescriptor) -> int:
    """How many elements a message has of a field, 1 for the value of one that is not repeated."""
    return len(value_of(message, field)) if field.is_repeated else int(is_set(message, field))


class Resolver:
    """
    Finds places. A message is the merge of its *pieces*, in their order: chunks for it, and what chunks for messages
    around it have at its place; and then of *deeper* parts, which go to places inside of it.
    """

    def __init__(self, file: ChunkSource, root: Shape, parts: Sequence[Part], runs: dict[Key, ListRuns]) -> None:
        self._file, self._root, self._parts, self._runs = file, root, parts, runs
        self._cache = _ChunkCache(file)
        self._keys = [part.key for part in parts]
        self._by_chunk = {part.chunk: part for part in parts}

    def pieces(self, place: Place) -> list[Piece]:
        """The pieces of the message at a place; an `ElementError` if an element or entry on the way is not there."""
        done, pieces = self._jump(place)
        for end in range(done + 1, len(place) + 1):
            pieces = self._enter(pieces, place[:end])
        return pieces

    def message(self, place: Place) -> Any:
        """The message at a place, with all that is in it."""
        shape = shape_at(self._root, key_of(place))
        assert shape.message is not None
        message: Any = GetMessageClass(shape.message)()
        for piece in self.pieces(place):
            message.MergeFrom(self._cache.load(piece))
        return self._with_deeper(message, key_of(place))

    def value(self, place: Place) -> Any:
        """The value, not a message, at a place; a field's default if it is not set."""
        plain, parts = self.plain(place), self.parts_at(key_of(place))
        if parts:
            return self._joined(plain, parts)
        return place[-1].field.default_value if plain is None else plain

    def plain(self, place: Place) -> Any:
        """The value at a place as far as it is in message chunks; None if it is not."""
        step, field = place[-1], place[-1].field
        if step.index is not None:
            found = self._run_element(place) or self._element(self.pieces(place[:-1]), place)
            return found and value_of(found[0], field)[found[1]]
        for piece in reversed(self.pieces(place[:-1])):
            if step.key is not None:
                entries = value_of(self._cache.load(piece), field)
                if step.key in entries:
                    return entries[step.key]
            elif (oneof := field.containing_oneof) is not None:
                if (there := self._cache.load(piece).WhichOneof(oneof.name)) is not None:
                    return value_of(self._cache.load(piece), field) if there == field.name else None
            elif self._cache.count(piece, field):
                return value_of(self._cache.load(piece), field)
        if step.key is not None and not self.below(key_of(place)):
            raise self._missing(place)
        return None

    def view(self, place: Place) -> memoryview:
        """The bytes of a `bytes` field, in the memory that they were read into if they are a chunk."""
        shape = shape_at(self._root, key_of(place))
        if shape.kind is not Kind.SCALAR or shape.value_field.type != BYTES:
            raise self._file.error("SW0845", f"{format_path(place) or 'the message'} is no bytes field")
        plain, parts = self.plain(place), self.parts_at(key_of(place))
        if plain or len(parts) != 1:
            return memoryview(self._joined(plain, parts) if parts else plain or b"")
        return self._file.view(parts[0].chunk, parts[0]).toreadonly()

    def elements(self, place: Place) -> Iterator[Any]:
        """The elements of the list at a place; messages among them belong to nobody else."""
        key, field, count = key_of(place), place[-1].field, 0
        deeper = bool(self.below(key))
        for piece in self.pieces(place[:-1]):
            own = isinstance(piece, Part)
            for element in value_of(self._cache.fresh(piece) if own else piece, field):
                mine = element if own or not isinstance(element, Message) else _copy(element)
                yield self._element_with_deeper(mine, (*key, count)) if deeper else mine
                count += 1
        for index in range(count, self._with_new(place, count)):
            step = Step(field, index=index)
            yield self.message((*place[:-1], step)) if step.message_type else self.value((*place[:-1], step))

    def length(self, place: Place) -> int:
        """How many elements the list at a place has."""
        runs = self._runs.get(key_of(place))
        if runs is not None:
            return self._with_new(place, runs.length)
        counts = (self._cache.count(piece, place[-1].field) for piece in self.pieces(place[:-1]))
        return self._with_new(place, sum(counts))

    def map_keys(self, place: Place) -> list[Any]:
        """The keys of the map at a place."""
        key, keys = key_of(place), dict[Any, None]()
        for piece in self.pieces(place[:-1]):
            keys.update(dict.fromkeys(value_of(self._cache.load(piece), place[-1].field)))
        keys.update((part.key[len(key)], None) for part in self.below(key))
        return list(keys)

    def check_runs(self, place: Place, runs: ListRuns) -> None:
        """The chunks of a list must have as many elements as it says."""
        for run, first in enumerate(runs.first):
            if first < (runs.first[run + 1] if run + 1 < len(runs.first) else runs.length):
                self._run_element((*place[:-1], Step(place[-1].field, index=first)))

    def is_there(self, place: Place) -> bool:
        """Whether a field is set, or an element or entry is there."""
        step = place[-1]
        if self.below(key_of(place)):
            return True
        if step.index is not None:
            return bool(self._run_element(place) or self._element(self.pieces(place[:-1]), place))
        owner = self.pieces(place[:-1])
        if step.key is not None:
            return any(step.key in value_of(self._cache.load(piece), step.field) for piece in owner)
        return bool(self._inside(owner, step.field)) if step.message_type else self.plain(place) is not None

    def parts_at(self, key: Key) -> Sequence[Part]:
        """The parts for a place itself."""
        begin = bisect_left(self._keys, key)
        return self._parts[begin : bisect_right(self._keys, key, begin)]

    def below(self, key: Key) -> Sequence[Part]:
        """The parts for a place and for what is in it."""
        begin, size = bisect_left(self._keys, key), len(key)
        return self._parts[begin : bisect_right(self._keys, key, begin, key=lambda other: other[:size])]

    def _enter(self, pieces: Sequence[Piece], place: Place) -> list[Piece]:
        """The pieces of a message from those of the message that it is a field, element or entry of."""
        step, key = place[-1], key_of(place)
        own = [part for part in self.parts_at(key) if part.chunk >= 0]
        if step.index is not None:
            found = self._element(pieces, place)
            return [value_of(found[0], step.field)[found[1]], *own] if found else list(own)
        if step.key is None:
            return [*self._inside(pieces, step.field), *own]
        for piece in reversed(pieces):
            entries = value_of(self._cache.load(piece), step.field)
            if step.key in entries:
                return [entries[step.key], *own]
        if not self.below(key):
            raise self._missing(place)
        return list(own)

    def _inside(self, pieces: Sequence[Piece], field: FieldDescriptor) -> list[Any]:
        """What pieces have in a field that holds one message; what another member of its oneof drops is not there."""
        found, oneof = list[Any](), field.containing_oneof
        for piece in pieces:
            if oneof is not None:
                there = self._cache.load(piece).WhichOneof(oneof.name)
                if there is not None and there != field.name:
                    found.clear()
            if self._cache.count(piece, field):
                found.append(value_of(self._cache.load(piece), field))
        return found

    def _element(self, pieces: Sequence[Piece], place: Place) -> tuple[Any, int] | None:
        """The message around an element, and its index there; None for one that only chunks of its own make."""
        step, begin = place[-1], 0
        assert step.index is not None
        for piece in pieces:
            count = self._cache.count(piece, step.field)
            if step.index < begin + count:
                return self._cache.load(piece), step.index - begin
            begin += count
        if step.index >= self._with_new((*place[:-1], Step(step.field)), begin):
            raise self._missing(place)
        return None

    def _jump(self, place: Place) -> tuple[int, list[Piece]]:
        """The innermost element on the way whose chunk is known, or the message itself: steps done, and pieces."""
        for end in range(len(place), 0, -1):
            if (found := self._run_element(place[:end])) is not None:
                own = [part for part in self.parts_at(key_of(place[:end])) if part.chunk >= 0]
                return end, [value_of(found[0], place[end - 1].field)[found[1]], *own]
        return 0, [part for part in self.parts_at(()) if part.chunk >= 0]

    def _run_element(self, place: Place) -> tuple[Any, int] | None:
        """The message around an element, and its index there, if the file says in which chunk it is."""
        index = place[-1].index if place else None
        runs = self._runs.get(key_of(place)[:-1]) if index is not None else None
        if runs is None or index is None or index >= runs.length:
            return None
        chunk, local, count = runs.place(index)
        part = self._by_chunk[chunk]
        begin = next(steps for steps in range(len(place)) if len(key_of(place[:steps])) == len(part.key))
        message = self._cache.load(part)
        for step in place[begin:-1]:
            if step.index is not None:
                return None
            inside = value_of(message, step.field)
            message = inside if step.key is None else inside.get(step.key)
            if message is None:
                break
        if message is None or _count_of(message, place[-1].field) != count:
            text = f"it does not have the {count} elements that the file's list of runs says"
            raise self._file.error("SW0848", text, chunk, part)
        return message, local

    def _with_new(self, place: Place, length: int) -> int:
        """The length of a list with the elements that only chunks of their own make; they must follow without a gap."""
        key = key_of(place)
        below = self.below(key)
        end = max(length, int(below[-1].key[len(key)]) + 1) if below else length
        for index in range(length, end):
            if not self.below((*key, index)):
                text = f"there are only {index} elements in {format_path(place)} before it"
                raise self._file.error("SW0840", text, below[-1].chunk, below[-1])
        return end

    def _with_deeper(self, message: Any, key: Key) -> Any:
        """A message with all that parts put into it."""
        deeper = [part for part in self.below(key) if part.key != key]
        if deeper:
            Assembler(message, self._file, key).put(deeper)
        return message

    def _element_with_deeper(self, element: Any, key: Key) -> Any:
        """An element of a list with all that parts put into it."""
        parts = self.below(key)
        if not parts:
            return element
        if not isinstance(element, Message):
            return self._joined(element, parts)
        for part in parts:
            if part.key == key and part.chunk >= 0:
                element.MergeFrom(self._cache.fresh(part))
        return self._with_deeper(element, key)

    def _joined(self, plain: Any, parts: Sequence[Part]) -> Any:
        field = parts[0].shape.value_field
        data = b"".join(self._file.view(part.chunk, part) for part in parts)
        try:
            if field.type == BYTES:
                return (plain or b"") + data
            if field.type == TEXT:
                whole = (plain or "").encode() + data
                check_text(memoryview(whole))
                return whole.decode()
            if len(parts) > 1:
                raise NotAValue("a second chunk for a place that holds one number")
            return number_from_text(field, data)
        except NotAValue as fault:
            raise self._file.error("SW0838", str(fault), parts[0].chunk, parts[0]) from None

    def _missing(self, place: Place) -> ElementError:
        what = "element" if place[-1].index is not None else "entry"
        return ElementError("SW0844", f"there is no such {what}", file=self._file.name, path=format_path(place))


def _copy(message: Any) -> Any:
    copied = type(message)()
    copied.CopyFrom(message)
    return copied
