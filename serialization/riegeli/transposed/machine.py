"""The state machine of a transposed chunk as it runs, backwards: the last record comes out first, from its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shardwright.serialization.riegeli.transposed.columns import MESSAGE_START, NO_OP, NON_PROTO, SUBMESSAGE_START
from shardwright.serialization.wire import Cursor, WireFault, read_varint, varint

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


@dataclass(frozen=True)
class Program:
    """What a chunk says: the states and the first, what leads from one to the next, and where the values are."""

    nodes: list[Node]
    first: int
    transitions: memoryview
    buffers: list[Cursor]
    lengths: Cursor | None


@dataclass(frozen=True)
class Ran:
    """What a program made: bytes from `cursor` on, where records start, the last first; the submessages left open."""

    out: bytearray
    cursor: int
    starts: list[int]
    open: int


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


def run(program: Program, size: int, most_records: int) -> Ran:
    """What a program makes, of so many bytes and records at most; `WireFault` where it cannot be run to its end."""
    machine = Machine(size, most_records, program.lengths)
    nodes, transitions = program.nodes, program.transitions
    index, place = program.first, 0
    most_idle = len(nodes) + IDLE_PER_TRANSITION * (len(transitions) + 1)
    repeats = 1 if nodes[program.first].implicit else 0
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
            return Ran(machine.out, machine.cursor, machine.starts, len(machine.open))
        index, repeats = index + (transitions[place] >> 2), transitions[place] & 3
        place += 1
        if index >= len(nodes):
            raise WireFault("a transition leads to a state that does not exist")
        repeats += 1 if nodes[index].implicit else 0
