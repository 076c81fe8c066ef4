"""
Transposed chunks: messages taken apart, the values of each field together, and a state machine that puts them back.

The machine's nodes each write one field, and are run backwards: the last record comes out first, from its end.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from shardwright.serialization.riegeli.chunks.chunks import Records
from shardwright.serialization.riegeli.chunks.codecs import NAMES, decompress
from shardwright.serialization.riegeli.transposed.columns import (
    INLINE,
    NON_PROTO,
    SUBMESSAGE_END,
)
from shardwright.serialization.riegeli.transposed.engine import engine_for
from shardwright.serialization.riegeli.transposed.machine import PLAIN, Machine, Node, Program, Ran
from shardwright.serialization.wire import DELIMITED, FIXED32, FIXED64, VARINT, Cursor, WireFault, read_varint, varint

INLINE_MOST = INLINE + 127
LONGEST = 10
SLACK, AMPLE = 1 << 16, 1 << 24
HEADER_PER_BYTE, TRANSITIONS_PER_BYTE = 32, 8


def decode_transposed(data: memoryview, count: int, decoded_size: int) -> Records:
    """The records of a transposed chunk; `count` and `decoded_size` are those of the chunk's header."""
    if not len(data):
        raise WireFault("the chunk has no data")
    kind = data[0]
    if kind not in NAMES:
        raise WireFault(f"unknown compression {kind}", "SW0806")
    size, place = read_varint(data, 1)
    if size > len(data) - place:
        raise WireFault("the header of the transposed chunk is longer than the chunk")
    most = _most(decoded_size + count, HEADER_PER_BYTE)
    header = Cursor(decompress(kind, data[place : place + size], most))
    body = Cursor(data, place + size)
    buffers = _buffers(header, body, kind, decoded_size + LONGEST * (count + 1))
    nodes, lengths = _nodes(header, buffers)
    first = header.number()
    if first >= len(nodes):
        raise WireFault("the first state does not exist")
    if not header.at_end():
        raise WireFault("the header of the transposed chunk does not end where it should")
    transitions = decompress(kind, data[body.place :], _most(decoded_size + count, TRANSITIONS_PER_BYTE))
    program = Program(nodes, first, transitions, buffers, lengths)
    return _records(engine_for(decoded_size).run(program, decoded_size, count), count, decoded_size)


def _most(size: int, factor: int) -> int:
    """What a part of a chunk of so many bytes and records may expand to."""
    return SLACK + max(size, min(size * factor, AMPLE))


def _buffers(header: Cursor, body: Cursor, kind: int, most: int) -> list[Cursor]:
    """The buffers of values: they are cut from the buckets, in order."""
    bucket_count, buffer_count = header.number(), header.number()
    if not bucket_count:
        if buffer_count:
            raise WireFault("there are buffers and no buckets")
        return []
    left = len(header.data) - header.place
    if bucket_count > left or buffer_count > left:
        raise WireFault("there are more buckets or buffers than the header has room for")
    packed = [body.take(header.number(64)) for _ in range(bucket_count)]
    sizes = [header.number(64) for _ in range(buffer_count)]
    if sum(sizes) > most + SLACK:
        raise WireFault("the buffers are longer than the records that they make")
    buckets = (Cursor(decompress(kind, bucket, sum(sizes))) for bucket in packed)
    bucket, opened, buffers = next(buckets), 1, list[Cursor]()
    for size in sizes:
        buffers.append(Cursor(bucket.take(size)))
        while bucket.at_end() and opened < bucket_count:
            bucket, opened = next(buckets), opened + 1
    if opened < bucket_count or not bucket.at_end():
        raise WireFault("the buffers do not fill the buckets")
    return buffers


def _nodes(header: Cursor, buffers: list[Cursor]) -> tuple[list[Node], Cursor | None]:
    """The states, and the buffer of the lengths of records that are not messages."""
    count = header.number()
    tags = [header.number() for _ in range(count)]
    follow = [header.number() for _ in range(count)]
    subtypes = iter(bytes(header.take(sum(tag >= 8 and tag & 7 == VARINT for tag in tags))))
    nodes: list[Node] = []
    for tag, after in zip(tags, follow, strict=True):
        implicit = after >= count
        after -= count if implicit else 0
        if after >= count:
            raise WireFault("a state leads to one that does not exist")
        node = _node(tag, after, implicit, subtypes)
        if node.run in (Machine.non_proto, Machine.varint, Machine.fixed, Machine.string):
            index = header.number()
            if index >= len(buffers):
                raise WireFault("a state reads a buffer that does not exist")
            node.buffer = buffers[index]
        nodes.append(node)
    _refuse_loops(nodes)
    return nodes, buffers[-1] if NON_PROTO in tags else None


def _node(tag: int, after: int, implicit: bool, subtypes: Iterator[int]) -> Node:
    if tag in PLAIN:
        return Node(PLAIN[tag], b"", 0, after, implicit)
    ends = tag & 7 == SUBMESSAGE_END
    tag -= SUBMESSAGE_END - DELIMITED if ends else 0
    wire, text = tag & 7, varint(tag)
    if tag < 8 or wire > FIXED32:
        raise WireFault(f"{tag} is not a tag")
    if wire == VARINT:
        subtype = next(subtypes)
        if subtype > INLINE_MOST:
            raise WireFault(f"a varint has no subtype {subtype}")
        if subtype >= INLINE:
            return Node(Machine.copy_tag, text + bytes((subtype - INLINE,)), 0, after, implicit)
        return Node(Machine.varint, text, subtype + 1, after, implicit)
    if wire == DELIMITED:
        return Node(Machine.submessage_end if ends else Machine.string, text, 0, after, implicit)
    if wire in (FIXED32, FIXED64):
        return Node(Machine.fixed, text, 4 if wire == FIXED32 else 8, after, implicit)
    return Node(Machine.copy_tag, text, 0, after, implicit)


def _refuse_loops(nodes: list[Node]) -> None:
    """States that follow each other without a transition must not go round."""
    seen = [-1] * len(nodes)
    for start in range(len(nodes)):
        index = start
        while seen[index] < 0:
            seen[index] = start
            if not nodes[index].implicit:
                break
            index = nodes[index].next
        else:
            if seen[index] == start:
                raise WireFault("states follow each other in a circle")


def _records(ran: Ran, count: int, decoded_size: int) -> Records:
    if ran.open:
        raise WireFault("a submessage does not begin")
    if len(ran.starts) != count:
        raise WireFault(f"there are {len(ran.starts)} records and the header says {count}")
    last = ran.starts[-1] if ran.starts else decoded_size
    if last != ran.cursor:
        raise WireFault("a record does not begin")
    if ran.cursor:
        raise WireFault("the records are shorter than the header says")
    ends = array("Q", [decoded_size, *ran.starts[:-1]] if count else [])
    return Records(memoryview(ran.out), ends[::-1])
