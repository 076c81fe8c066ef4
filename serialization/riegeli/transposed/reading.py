"""
Transposed chunks: messages taken apart, the values of each field together, and a state machine that puts them back.

The machine's nodes each write one field, and are run backwards: the last record comes out first, from its end.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from shardwright.serialization.riegeli.chunks.chunks import Records
from shardwright.serialization.riegeli.chunks.codecs import NAMES, decompress
from shardwright.serialization.riegeli.transposed.columns import (
    INLINE,
    MESSAGE_START,
    NO_OP,
    NON_PROTO,
    SUBMESSAGE_END,
    SUBMESSAGE_START,
)
from shardwright.serialization.wire import DELIMITED, FIXED32, FIXED64, VARINT, Cursor, WireFault, read_varint, varint

INLINE_MOST = INLINE + 127
LONGEST = 10
SLACK, AMPLE = 1 << 16, 1 << 24
HEADER_PER_BYTE, TRANSITIONS_PER_BYTE = 32, 8
IDLE_PER_TRANSITION = 16


NO_VALUES = Cursor(memoryview(b""))


@dataclass
class Node:
    """One state: what it does, the tag that it writes, where its values are, and what follows."""

    run: Callable[[Machine, Node], None]
    tag: bytes
    width: int
    next: int
    implicit: bool
    buffer: Cursor = NO_VALUES


class Machine:
    """The output, which fills from its end, and the submessages that are open."""

    def __init__(self, size: int, most_records: int, lengths: Cursor | None) -> None:
        self.out = bytearray(size)
        self.cursor = size
        self.most_records, self.lengths = most_records, lengths
        self.starts: list[int] = []
        self.open: list[tuple[int, bytes]] = []
        self.idle = 0

    def put(self, data: bytes | memoryview) -> None:
        """Write in front of what is there."""
        begin = self.cursor - len(data)
        if begin < 0:
            raise WireFault("the records are longer than the header says")
        self.out[begin : self.cursor] = data
        self.cursor = begin

    def no_op(self, node: Node) -> None:
        """Only leads on."""
        self.idle += 1

    def non_proto(self, node: Node) -> None:
        """A whole record that is not a message."""
        assert self.lengths is not None
        self.put(node.buffer.take(self.lengths.number()))
        self.message_start(node)

    def message_start(self, node: Node) -> None:
        """A record ends, that is begins."""
        if self.open:
            raise WireFault("a record begins within a submessage")
        if len(self.starts) == self.most_records:
            raise WireFault("there are more records than the header says")
        self.starts.append(self.cursor)

    def submessage_end(self, node: Node) -> None:
        """A submessage ends here, that is it opens."""
        self.open.append((self.cursor, node.tag))

    def submessage_start(self, node: Node) -> None:
        """A submessage begins here: its tag and length come in front."""
        if not self.open:
            raise WireFault("a submessage begins that does not end")
        end, tag = self.open.pop()
        if end - self.cursor >> 32:
            raise WireFault("a submessage is longer than any message")
        self.put(tag + varint(end - self.cursor))

    def copy_tag(self, node: Node) -> None:
        """A tag, and a small value if it is in the node."""
        self.put(node.tag)

    def varint(self, node: Node) -> None:
        """A varint of a known width: continuation bits are put back."""
        data = bytearray(node.buffer.take(node.width))
        for index in range(node.width - 1):
            data[index] |= 0x80
        self.put(node.tag + data)

    def fixed(self, node: Node) -> None:
        """A value of 4 or 8 bytes."""
        self.put(node.tag + bytes(node.buffer.take(node.width)))

    def string(self, node: Node) -> None:
        """Length and bytes as they stand in the buffer."""
        values = node.buffer
        size, begin = read_varint(values.data, values.place, 32)
        self.put(values.take(begin - values.place + size))
        self.put(node.tag)


PLAIN = {
    NO_OP: Machine.no_op,
    NON_PROTO: Machine.non_proto,
    SUBMESSAGE_START: Machine.submessage_start,
    MESSAGE_START: Machine.message_start,
}


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
    machine = Machine(decoded_size, count, lengths)
    _run(machine, nodes, first, transitions)
    return _records(machine, count, decoded_size)


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


def _run(machine: Machine, nodes: list[Node], first: int, transitions: memoryview) -> None:
    index, place = first, 0
    most_idle = len(nodes) + IDLE_PER_TRANSITION * (len(transitions) + 1)
    repeats = 1 if nodes[first].implicit else 0
    while True:
        node = nodes[index]
        node.run(machine, node)
        if machine.idle > most_idle:
            raise WireFault("states lead to each other and write nothing")
        index = node.next
        if repeats:
            repeats -= 0 if nodes[index].implicit else 1
            continue
        if place == len(transitions):
            return
        index, repeats = index + (transitions[place] >> 2), transitions[place] & 3
        place += 1
        if index >= len(nodes):
            raise WireFault("a transition leads to a state that does not exist")
        repeats += 1 if nodes[index].implicit else 0


def _records(machine: Machine, count: int, decoded_size: int) -> Records:
    if machine.open:
        raise WireFault("a submessage does not begin")
    if len(machine.starts) != count:
        raise WireFault(f"there are {len(machine.starts)} records and the header says {count}")
    last = machine.starts[-1] if machine.starts else decoded_size
    if last != machine.cursor:
        raise WireFault("a record does not begin")
    if machine.cursor:
        raise WireFault("the records are shorter than the header says")
    ends = array("Q", [decoded_size, *machine.starts[:-1]] if count else [])
    return Records(memoryview(machine.out), ends[::-1])
