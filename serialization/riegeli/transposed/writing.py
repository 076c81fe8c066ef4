"""Transposed chunks, written: the columns of messages in buckets, and the state machine that puts them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardwright.serialization.riegeli.chunks.codecs import NONE, Buffer, compress
from shardwright.serialization.riegeli.transposed.columns import (
    CLOSES,
    INLINE,
    NO_OP,
    NON_PROTO,
    OPENS,
    SUBMESSAGE_END,
    SUBMESSAGE_START,
    Column,
    Columns,
)
from shardwright.serialization.riegeli.transposed.states import StateMachine
from shardwright.serialization.wire import DELIMITED, END_GROUP, START_GROUP, VARINT, varint


def encode_transposed(
    sizes: Iterable[int],
    values: Sequence[Buffer],
    kind: int,
    level: int,
    window_log: int | None = None,
    bucket_size: int | None = None,
) -> list[Buffer]:
    """
    The chunk's data, in parts, from the sizes of the records and their bytes. A bucket, which is compressed as one, has
    about `bucket_size` bytes of one kind of value; without a size, or without compression, all of them.

    >>> b"".join(encode_transposed([3, 3], [bytes.fromhex("089601089501")], 0, 0)).hex()
    '000c0101040402080303000100001501160100'
    """
    data, columns, place = b"".join(values), Columns(), 0
    for size in sizes:
        columns.add(data, place, place + size)
        place += size
    machine = StateMachine(columns.sequence, len(columns.steps))
    kinds = columns.buffers()
    groups = [group for kind_ in kinds for group in _buckets(kind_, None if kind == NONE else bucket_size)]
    buffers = [[column.buffer() for column in group] for group in groups]
    if columns.lengths:
        buffers.append([b"".join(reversed(columns.lengths))])
    packed = [b"".join(compress(kind, group, level, window_log)) for group in buffers]
    numbers = [len(packed), sum(map(len, buffers)), *map(len, packed)]
    numbers += [len(buffer) for group in buffers for buffer in group]
    places = {id(column): index for index, column in enumerate(column for group in groups for column in group)}
    header = b"".join(map(varint, numbers)) + _states(columns, machine, places)
    front = b"".join(compress(kind, [header], level, window_log))
    return [
        bytes((kind,)) + varint(len(front)) + front,
        *packed,
        *compress(kind, [machine.transitions()], level, window_log),
    ]


def _buckets(columns: list[Column], bucket_size: int | None) -> list[list[Column]]:
    """
    Columns of one kind, from the smallest, in buckets: the largest are put together first, until the rest is small.

    >>> tall = [Column(5, tag, 5, {}, [bytes(size)]) for tag, size in ((8, 1), (16, 30), (24, 90), (32, 100))]
    >>> [[column.tag for column in bucket] for bucket in _buckets(tall, 60)]
    [[8, 16], [24], [32]]
    """
    if bucket_size is None or not columns:
        return [columns] if columns else []
    sizes = [sum(map(len, column.values)) for column in columns]
    rest, filled, buckets = sum(sizes), 0, [list[Column]()]
    for index in range(len(columns) - 1, -1, -1):
        if filled and filled + sizes[index] // 2 >= bucket_size:
            buckets.append([])
            filled = 0
        buckets[-1].append(columns[index])
        filled, rest = filled + sizes[index], rest - sizes[index]
        if rest <= bucket_size // 2:
            buckets[-1] += columns[:index][::-1]
            break
    return [bucket[::-1] for bucket in buckets[::-1]]


def _states(columns: Columns, machine: StateMachine, places: dict[int, int]) -> bytes:
    """The states as they stand in the header: tags, what follows, subtypes, buffers, and the first."""
    tags, follow, subtypes, buffers = list[int](), list[int](), bytearray(), list[int]()
    count = len(machine.states)
    for state in machine.states:
        if state.step is None:
            tags.append(NO_OP)
            follow.append(state.base or 0)
            continue
        column, subtype = columns.steps[state.step]
        tags.append(_written_tag(column, subtype))
        if column.tag and column.tag & 7 == VARINT:
            subtypes.append(subtype)
        if _has_buffer(column, subtype):
            buffers.append(places[id(column)])
        base = machine.steps[state.step].base
        follow.append(0 if base is None else base + count * machine.follows_by_itself(state.step))
    head = b"".join(map(varint, [count, *tags, *follow]))
    return head + bytes(subtypes) + b"".join(map(varint, [*buffers, machine.first]))


def _written_tag(column: Column, subtype: int) -> int:
    """What stands in the header for a step."""
    if not column.tag:
        return column.parent
    if column.tag & 7 == DELIMITED and subtype == OPENS:
        return SUBMESSAGE_START
    ends = column.tag & 7 == DELIMITED and subtype == CLOSES
    return column.tag + (SUBMESSAGE_END - DELIMITED if ends else 0)


def _has_buffer(column: Column, subtype: int) -> bool:
    """Whether a step takes a value from its column's buffer."""
    if not column.tag:
        return column.parent == NON_PROTO
    wire = column.tag & 7
    if wire == VARINT:
        return subtype < INLINE
    return subtype not in (OPENS, CLOSES) if wire == DELIMITED else wire not in (START_GROUP, END_GROUP)
