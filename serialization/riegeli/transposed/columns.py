"""
Messages taken apart for a transposed chunk: what follows what, and the values of each field together.

Only bytes that are a message in canonical form are taken apart, so that the same bytes come back. A string that reads
like a message is taken for one; that is as good.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from shardwright.serialization.riegeli.chunks.codecs import Buffer
from shardwright.serialization.wire import (
    DELIMITED,
    END_GROUP,
    FIXED32,
    FIXED64,
    START_GROUP,
    VARINT,
    Field,
    WireFault,
    fields,
    varint,
)

NO_OP, NON_PROTO, SUBMESSAGE_START, MESSAGE_START, ROOT = range(5)
"""What a step is that is not a tag; `ROOT` is the parent of the outermost fields and stands in no file."""

SUBMESSAGE_END = 6
"""Stands for the wire type of a tag where a submessage ends."""
INLINE = 10
PLAIN, OPENS, CLOSES = range(3)
"""Subtypes of a length-delimited step: a string, or the begin or the end of a submessage."""

MOST_INLINE = 3
MOST_DEPTH = 100
BUFFER_KINDS = (VARINT, FIXED32, FIXED64, DELIMITED, NON_PROTO + 8)
"""Wire types in the order in which their buffers stand in a file; the last is for records that are not messages."""

LOW_BITS = bytes(byte & 0x7F for byte in range(256))


def message_fields(data: bytes, begin: int, end: int) -> list[Field] | None:
    """
    The fields of a message, not those of its submessages; None if the bytes are no message in canonical form.

    >>> message_fields(bytes.fromhex("08011201ff"), 0, 5), message_fields(b"text", 0, 4)
    ([(8, 0, 1, 1, 2), (18, 2, 3, 4, 5)], None)
    """
    try:
        return list(fields(data, begin, end, shortest=True))
    except WireFault:
        return None


@dataclass(frozen=True, slots=True)
class Column:
    """A field at one place in the tree of messages: its parent, its tag, and its values, the last first."""

    parent: int
    tag: int
    values: Buffer


@dataclass(frozen=True, slots=True)
class Taken:
    """
    Records taken apart.

    `steps` are the different steps, each a column's index and a subtype; `sequence` are those that were taken, in
    order; `lengths` those of the records that are no messages, the last first.
    """

    columns: list[Column]
    steps: list[tuple[int, int]]
    sequence: Sequence[int]
    lengths: bytes

    def by_kind(self) -> list[list[int]]:
        """The columns that have values, by kind of buffer and from the smallest."""
        kinds: dict[int, list[tuple[int, int, int, int]]] = {kind: [] for kind in BUFFER_KINDS}
        for index, column in enumerate(self.columns):
            if len(column.values):
                kind = column.tag & 7 if column.tag else BUFFER_KINDS[-1]
                kinds[kind].append((len(column.values), column.parent, column.tag, index))
        return [[entry[3] for entry in sorted(kind)] for kind in kinds.values()]


def take(data: bytes, ends: Iterable[int]) -> Taken:
    """
    The records that end where `ends` say, taken apart.

    >>> taken = take(bytes.fromhex("08010896011800"), [7])
    >>> taken.sequence, [bytes(taken.columns[index].values) for index in taken.by_kind()[0]]
    ([0, 1, 2, 3], [b'\\x16\\x01'])
    """
    columns, begin = _Columns(), 0
    for end in ends:
        columns.add(data, begin, end)
        begin = end
    found = [Column(parent, tag, b"".join(reversed(one.values))) for (parent, tag), one in columns.columns.items()]
    return Taken(found, columns.steps, columns.sequence, b"".join(reversed(columns.lengths)))


@dataclass(slots=True)
class _Filling:
    """A column while records are taken apart: its own number, its steps by subtype, and its values."""

    index: int
    steps: dict[int, int] = field(default_factory=dict[int, int])
    values: list[bytes] = field(default_factory=list[bytes])

    @property
    def number(self) -> int:
        """What those name it by of which it is the parent."""
        return ROOT + 1 + self.index


class _Columns:
    def __init__(self) -> None:
        self.columns: dict[tuple[int, int], _Filling] = {}
        self.steps: list[tuple[int, int]] = []
        self.sequence: list[int] = []
        self.lengths: list[bytes] = []

    def add(self, data: bytes, begin: int, end: int) -> None:
        """The record from `begin` to `end`."""
        found = message_fields(data, begin, end)
        if found is not None:
            self._take(self._column(MESSAGE_START, 0), PLAIN)
            self._message(data, found)
            return
        self._take(self._column(NON_PROTO, 0), PLAIN, data[begin:end])
        self.lengths.append(varint(end - begin))

    def _column(self, parent: int, tag: int) -> _Filling:
        column = self.columns.get((parent, tag))
        if column is None:
            column = self.columns[parent, tag] = _Filling(len(self.columns))
        return column

    def _step(self, column: _Filling, subtype: int) -> int:
        index = column.steps.get(subtype)
        if index is None:
            index = column.steps[subtype] = len(self.steps)
            self.steps.append((column.index, subtype))
        return index

    def _take(self, column: _Filling, subtype: int, value: bytes = b"") -> None:
        self.sequence.append(self._step(column, subtype))
        if value:
            column.values.append(value)

    def _message(self, data: bytes, found: list[Field]) -> None:
        """The fields of a message, those of its submessages in their places."""
        parent, groups, rest = ROOT, list[int](), iter(found)
        above: list[tuple[Iterator[Field], int, int]] = []
        while True:
            for tag, _, begin, body, end in rest:
                column, wire = self._column(parent, tag), tag & 7
                if wire == VARINT:
                    self._varint(column, data[begin:end])
                elif wire == DELIMITED:
                    deep = len(above) + len(groups) >= MOST_DEPTH
                    inner = None if body == end or deep else message_fields(data, body, end)
                    if inner is not None:
                        self._take(column, OPENS)
                        above.append((rest, self._step(column, CLOSES), parent))
                        parent, rest = column.number, iter(inner)
                        break
                    self._take(column, PLAIN, data[begin:end])
                else:
                    if wire == START_GROUP:
                        groups.append(parent)
                        parent = column.number
                    elif wire == END_GROUP:
                        parent = groups.pop()
                    self._take(column, PLAIN, data[begin:end])
            else:
                if not above:
                    return
                rest, step, parent = above.pop()
                self.sequence.append(step)

    def _varint(self, column: _Filling, value: bytes) -> None:
        """Smallest ones are a step by themselves; of others the low bits are kept, the step says how many bytes."""
        if value[0] <= MOST_INLINE:
            self._take(column, INLINE + value[0])
        else:
            self._take(column, len(value) - 1, value.translate(LOW_BITS))
