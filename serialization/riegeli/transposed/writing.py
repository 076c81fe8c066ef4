"""Transposed chunks, written: the columns of messages in buckets, and the state machine that puts them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain

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
    Taken,
)
from shardwright.serialization.riegeli.transposed.engine import engine_for
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
    data, ends = b"".join(values), list(accumulate(sizes))
    engine = engine_for(len(data))
    taken = engine.take(data, ends)
    sequence = engine.pairs(taken.sequence)
    machine = StateMachine(sequence, len(taken.steps))
    bucket_size = None if kind == NONE else bucket_size
    groups = [group for indices in taken.by_kind() for group in _buckets(taken.columns, indices, bucket_size)]
    buffers = [[taken.columns[index].values for index in group] for group in groups]
    if taken.lengths:
        buffers.append([taken.lengths])
    packed = [b"".join(compress(kind, group, level, window_log)) for group in buffers]
    numbers = [len(packed), sum(map(len, buffers)), *map(len, packed)]
    numbers += [len(buffer) for group in buffers for buffer in group]
    places = {index: place for place, index in enumerate(chain.from_iterable(groups))}
    header = b"".join(map(varint, numbers)) + _states(taken, machine, places)
    front = b"".join(compress(kind, [header], level, window_log))
    return [
        bytes((kind,)) + varint(len(front)) + front,
        *packed,
        *compress(kind, [engine.join(sequence.which, machine.ways())], level, window_log),
    ]


def _buckets(columns: list[Column], indices: list[int], bucket_size: int | None) -> list[list[int]]:
    """
    Columns of one kind, from the smallest, in buckets: the largest are put together first, until the rest is small.

    >>> tall = [Column(5, tag, bytes(size)) for tag, size in ((8, 1), (16, 30), (24, 90), (32, 100))]
    >>> _buckets(tall, [0, 1, 2, 3], 60)
    [[0, 1], [2], [3]]
    """
    if bucket_size is None or not indices:
        return [indices] if indices else []
    sizes = [len(columns[index].values) for index in indices]
    rest, filled, buckets = sum(sizes), 0, [list[int]()]
    for place in range(len(indices) - 1, -1, -1):
        if filled and filled + sizes[place] // 2 >= bucket_size:
            buckets.append([])
            filled = 0
        buckets[-1].append(indices[place])
        filled, rest = filled + sizes[place], rest - sizes[place]
        if rest <= bucket_size // 2:
            buckets[-1] += indices[:place][::-1]
            break
    return [bucket[::-1] for bucket in buckets[::-1]]


def _states(taken: Taken, machine: StateMachine, places: dict[int, int]) -> bytes:
    """The states as they stand in the header: tags, what follows, subtypes, buffers, and the first."""
    tags, follow, subtypes, buffers = list[int](), list[int](), bytearray(), list[int]()
    count = len(machine.states)
    for state in machine.states:
        if state.step is None:
            tags.append(NO_OP)
            follow.append(state.base or 0)
            continue
        index, subtype = taken.steps[state.step]
        column = taken.columns[index]
        tags.append(_written_tag(column, subtype))
        if column.tag and column.tag & 7 == VARINT:
            subtypes.append(subtype)
        if _has_buffer(column, subtype):
            buffers.append(places[index])
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
