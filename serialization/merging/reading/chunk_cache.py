"""Message chunks, parsed when they are first needed and kept for a while."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from shardwright.serialization.fields import value_of
from shardwright.serialization.merging.plan import Part
from shardwright.serialization.merging.reading.sources import ChunkSource
from shardwright.serialization.merging.shapes import is_set

KEPT = 1 << 25
"""Bytes of records whose messages are kept; the message used last is kept whatever its size."""

Piece = Part | Message
"""What is merged into a message: a chunk, or a message inside of one."""


class ChunkCache:
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
            return count_of(piece, field)
        if piece.chunk not in self._fields:
            self.load(piece)
        return self._fields[piece.chunk].get(field.number, 0)

    def _keep(self, chunk: int, message: Message, size: int) -> None:
        self._messages[chunk] = message, size
        self._size += size
        while self._size > KEPT and len(self._messages) > 1:
            _, (_, gone) = self._messages.popitem(last=False)
            self._size -= gone


def count_of(message: Any, field: FieldDescriptor) -> int:
    """How many elements a message has of a field, 1 for the value of one that is not repeated."""
    return len(value_of(message, field)) if field.is_repeated else int(is_set(message, field))
