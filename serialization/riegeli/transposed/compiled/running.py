"""The state machine of a transposed chunk as it runs, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from shardwright.serialization.riegeli.transposed import machine
from shardwright.serialization.riegeli.transposed.compiled.numbers import NOWHERE, Array, grown, number
from shardwright.serialization.riegeli.transposed.machine import IDLE_PER_TRANSITION, NO_VALUES, Machine

OPERATIONS = (
    Machine.no_op,
    Machine.non_proto,
    Machine.message_start,
    Machine.submessage_end,
    Machine.submessage_start,
    Machine.copy_tag,
    Machine.varint,
    Machine.fixed,
    Machine.string,
)
"""What states do; compiled code knows them by their places here."""

NO_OP, OTHER, STARTS, ENDS, BEGINS, COPIES, NUMBER, FIXED, STRING = range(len(OPERATIONS))
OPERATION, TAG_SIZE, WIDTH, NEXT, IMPLICIT, BUFFER = range(6)
"""What compiled code knows of a state."""

CURSOR, RECORDS, DEPTH, IDLE, MOST = range(5)
"""What changes as the machine runs: where the output begins, and counts; and how many records there may be."""

LONGEST_TAG = 6
"""Bytes of a tag, with a small value after it."""


@njit(cache=True, inline="always")
def _put(out: Array, state: Array, source: Array, begin: int, size: Any) -> bool:
    """Writes bytes in front of what is there, if there is room."""
    if size > state[CURSOR]:
        return False
    state[CURSOR] -= size
    place = state[CURSOR]
    for offset in range(size):
        out[place + offset] = source[begin + offset]
    return True


@njit(cache=True, inline="always")
def _put_value(out: Array, state: Array, values: Array, places: Array, nodes: Array, index: int) -> bool:
    """Writes the next value of a state: of a known width, with its length in front, or of a length of its own."""
    operation, buffer, size = nodes[index, OPERATION], nodes[index, BUFFER], nodes[index, WIDTH]
    if operation in (STRING, OTHER):
        source = buffer if operation == STRING else len(places) - 1
        length, after = number(values, places[source, 0], places[source, 1], 32, False)
        if after == NOWHERE:
            return False
        size = np.int64(length)
        if operation == STRING:
            size += after - places[source, 0]
        else:
            places[source, 0] = after
    begin = places[buffer, 0]
    if size > places[buffer, 1] - begin or not _put(out, state, values, begin, size):
        return False
    places[buffer, 0] += size
    if operation == NUMBER:
        for place in range(state[CURSOR], state[CURSOR] + size - 1):
            out[place] |= np.uint8(0x80)
    return True


@njit(cache=True, inline="always")
def _put_length(out: Array, state: Array, value: int) -> bool:
    """Writes a number as a varint."""
    size, rest = 1, value >> 7
    while rest:
        size, rest = size + 1, rest >> 7
    if value >> 32 or size > state[CURSOR]:
        return False
    state[CURSOR] -= size
    for offset in range(size):
        out[state[CURSOR] + offset] = (value & 0x7F) | (0x80 if offset < size - 1 else 0)
        value >>= 7
    return True


@njit(cache=True, inline="always")
def _step(
    nodes: Array,
    index: int,
    tags: Array,
    values: Array,
    places: Array,
    out: Array,
    state: Array,
    starts: Array,
    opened: Array,
) -> bool:
    """What one state does; False where it cannot."""
    operation, writer = nodes[index, OPERATION], index
    if operation == NO_OP:
        state[IDLE] += 1
        return True
    if operation == ENDS:
        opened[state[DEPTH], 0], opened[state[DEPTH], 1] = state[CURSOR], index
        state[DEPTH] += 1
        return True
    if operation == BEGINS:
        state[DEPTH] -= 1
        if state[DEPTH] < 0:
            return False
        writer = opened[state[DEPTH], 1]
        if not _put_length(out, state, opened[state[DEPTH], 0] - state[CURSOR]):
            return False
    elif (operation >= NUMBER or operation == OTHER) and not _put_value(out, state, values, places, nodes, index):
        return False
    if operation in (STARTS, OTHER):
        if state[DEPTH] or state[RECORDS] == state[MOST]:
            return False
        starts[state[RECORDS]] = state[CURSOR]
        state[RECORDS] += 1
        return True
    return _put(out, state, tags, writer * LONGEST_TAG, nodes[writer, TAG_SIZE])


@njit(cache=True, nogil=True)
def _run(
    nodes: Array, tags: Array, first: int, transitions: Array, values: Array, places: Array, out: Array, most: int
) -> Any:
    """
    As `machine.run`: whether it went on to the end, where the output begins, how many submessages are open, and the
    starts of records. Of each buffer, `places` are its place and its end in `values`; the last is that of lengths.
    """
    starts, opened = np.empty(64, np.int64), np.empty((64, 2), np.int64)
    state = np.zeros(5, np.int64)
    state[CURSOR], state[MOST] = len(out), most
    most_idle = len(nodes) + IDLE_PER_TRANSITION * (len(transitions) + 1)
    index, place, repeats, going = first, 0, nodes[first, IMPLICIT], True
    while going:
        if state[RECORDS] == len(starts):
            starts = grown(starts)
        if state[DEPTH] == len(opened):
            opened = grown(opened)
        if not _step(nodes, index, tags, values, places, out, state, starts, opened) or state[IDLE] > most_idle:
            return False, 0, 0, starts[:0]
        index = nodes[index, NEXT]
        if repeats:
            repeats -= 1 - nodes[index, IMPLICIT]
        elif place < len(transitions):
            index, repeats = index + (transitions[place] >> 2), np.int64(transitions[place] & 3)
            place += 1
            if index >= len(nodes):
                return False, 0, 0, starts[:0]
            repeats += nodes[index, IMPLICIT]
        else:
            going = False
    return True, state[CURSOR], state[DEPTH], starts[: state[RECORDS]]


def run(program: machine.Program, size: int, most_records: int) -> machine.Ran:
    """As `machine.run`, which also says what is wrong with a program that has no end."""
    buffers = [*program.buffers, program.lengths or NO_VALUES]
    numbers = {id(buffer): index for index, buffer in enumerate(program.buffers)}
    operations: dict[Any, int] = {operation: index for index, operation in enumerate(OPERATIONS)}
    nodes, tags = np.zeros((len(program.nodes), 6), np.int64), bytearray(len(program.nodes) * LONGEST_TAG)
    for index, node in enumerate(program.nodes):
        buffer = numbers.get(id(node.buffer), 0)
        nodes[index] = operations[node.run], len(node.tag), node.width, node.next, node.implicit, buffer
        tags[index * LONGEST_TAG : index * LONGEST_TAG + len(node.tag)] = node.tag
    ends = np.cumsum([len(buffer.data) for buffer in buffers])
    places = np.stack((np.concatenate(([0], ends[:-1])), ends), 1)
    values = np.concatenate([np.frombuffer(buffer.data, np.uint8) for buffer in buffers])
    out, most = bytearray(size), min(most_records, np.iinfo(np.int64).max)
    written, transitions, target = (np.frombuffer(each, np.uint8) for each in (tags, program.transitions, out))
    done, cursor, depth, starts = _run(nodes, written, program.first, transitions, values, places, target, most)
    if not done:
        return machine.run(program, size, most_records)
    return machine.Ran(out, int(cursor), starts.tolist(), int(depth))
