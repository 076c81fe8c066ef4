"""Messages taken apart, compiled: first what there is, in order; then columns and steps; then the values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from shardwright.serialization.riegeli.transposed.columns import (
    CLOSES,
    INLINE,
    MESSAGE_START,
    MOST_DEPTH,
    MOST_INLINE,
    NON_PROTO,
    OPENS,
    PLAIN,
    ROOT,
    Column,
    Taken,
)
from shardwright.serialization.riegeli.transposed.compiled.numbers import NOWHERE, Array, field, grown, is_message
from shardwright.serialization.riegeli.transposed.compiled.tables import numbered, place_of, roomy, table
from shardwright.serialization.wire import DELIMITED, END_GROUP, START_GROUP, VARINT, varint

SUBTYPES = INLINE + MOST_INLINE + 1
"""Subtypes of a column's steps."""

NAME, PARENT, FOLLOWER, FOLLOWING = range(4)
"""What is known of a step: its name, the parent of what follows it, and what did: the event, and its step."""


@njit(cache=True, inline="always")
def _subtype(data: Array, tag: int, begin: int, body: int, end: int, may_open: bool) -> int:
    """The subtype of the step that takes a field, as `columns` has it."""
    kind = tag & 7
    if kind == VARINT:
        return INLINE + data[begin] if data[begin] <= MOST_INLINE else end - begin - 1
    if kind == DELIMITED and may_open and body != end and is_message(data, body, end):
        return OPENS
    return PLAIN


@njit(cache=True, nogil=True)
def _events(data: Array, ends: Array) -> Any:
    """
    What is taken, in order, from records that end at `ends`: tag, subtype, and from where to where its value is.

    Of a record, the tag is what it begins with, below zero: a message, or what is none.
    """
    events, count = np.empty((1024 + min(len(data) // 3, 1 << 20), 4), np.int64), 0
    above, place = np.empty((MOST_DEPTH + 1, 3), np.int64), 0
    for whole in ends:
        depth = groups = 0
        end, begins = whole, True
        while begins or place < end or depth:
            value_begin = value_end = place
            if begins and is_message(data, place, end):
                tag, subtype = -MESSAGE_START, PLAIN
            elif begins:
                tag, subtype, place, value_end = -NON_PROTO, PLAIN, end, end
            elif place == end:
                depth -= 1
                place, end, tag, subtype = above[depth, 0], above[depth, 1], above[depth, 2], CLOSES
            else:
                tag, value_begin, body, after = field(data, place, end)
                subtype = _subtype(data, tag, value_begin, body, after, depth + groups < MOST_DEPTH)
                groups += (tag & 7 == START_GROUP) - (tag & 7 == END_GROUP)
                place = after
                if tag & 7 == DELIMITED and subtype == OPENS:
                    above[depth, 0], above[depth, 1], above[depth, 2] = after, end, tag
                    depth, place, end = depth + 1, body, after
                elif tag & 7 != VARINT or subtype < INLINE:
                    value_end = after
            begins = False
            if count == len(events):
                events = grown(events)
            events[count, 0], events[count, 1], events[count, 2] = tag, subtype, value_begin
            events[count, 3] = max(value_begin, value_end)
            count += 1
    return events[:count]


@njit(cache=True)
def _column(tag: int, subtype: int, parent: int, named: Array, columns: Array, numbers: Array, count: int) -> int:
    """The number of the column in which an event is; a new one gets `count`, and its name."""
    if tag > 0 and tag & 7 == DELIMITED and subtype == CLOSES:
        return parent - ROOT - 1
    key = parent << 32 | tag if tag > 0 else -tag << 32
    column = numbered(columns, numbers, key, count)
    if column == count:
        named[column] = key
    return column


@njit(cache=True)
def _parent_after(tag: int, subtype: int, column: int, named: Array) -> int:
    """The parent of what comes after an event in a column: its own, itself, or that of the group that it ends."""
    if tag <= 0:
        return ROOT
    if tag & 7 == START_GROUP or (tag & 7 == DELIMITED and subtype == OPENS):
        return ROOT + 1 + column
    parent = named[column] >> 32
    return named[parent - ROOT - 1] >> 32 if tag & 7 == END_GROUP else parent


@njit(cache=True)
def _followed(events: Array, index: int, made: Array, previous: int, sequence: Array) -> Any:
    """
    Takes events from `index` on as long as what follows a step is what followed it before.

    The first event of which that is not so, and the step before it.
    """
    while index < len(events) and made[previous, FOLLOWER] == events[index, 0] << 8 | events[index, 1]:
        previous = sequence[index] = made[previous, FOLLOWING]
        index += 1
    return index, previous


@njit(cache=True, nogil=True)
def _take(events: Array) -> Any:
    """
    The columns of events, each a parent and a tag in one number; the steps, each a column and a subtype in one; and the
    sequence of steps. What followed a step the last time mostly follows it again.
    """
    columns, column_numbers = table()
    steps, step_numbers = table()
    named, made = np.empty(64, np.int64), np.full((64, 4), NOWHERE, np.int64)
    sequence = np.empty(len(events), np.int32)
    column_count = step_count = 0
    index, previous = _followed(events, 0, made, 0, sequence)
    while index < len(events):
        tag, subtype = events[index, 0], events[index, 1]
        columns, column_numbers = roomy(columns, column_numbers, column_count)
        steps, step_numbers = roomy(steps, step_numbers, step_count)
        named = grown(named) if column_count == len(named) else named
        made = grown(made) if step_count + 2 > len(made) else made
        column = _column(tag, subtype, made[previous, PARENT], named, columns, column_numbers, column_count)
        column_count += column == column_count
        opens = tag > 0 and tag & 7 == DELIMITED and subtype == OPENS
        for each in (subtype, CLOSES) if opens else (subtype, subtype):
            name = column * SUBTYPES + each
            step = numbered(steps, step_numbers, name, step_count)
            if step == step_count:
                made[step, NAME], made[step, FOLLOWER] = name, NOWHERE
                made[step, PARENT] = _parent_after(tag, each, column, named)
                step_count += 1
        made[previous, FOLLOWER] = tag << 8 | subtype
        made[previous, FOLLOWING] = step_numbers[place_of(steps, column * SUBTYPES + subtype)]
        index, previous = _followed(events, index, made, previous, sequence)
    return named[:column_count], made[:step_count, NAME].copy(), sequence


@njit(cache=True, nogil=True)
def _filled(data: Array, events: Array, columns: Array, sequence: Array, sizes: Array) -> Any:
    """The values of all columns, one column after the other, each from its end; of varints the low bits."""
    places = np.cumsum(sizes)
    out = np.empty(places[-1], np.uint8)
    for index in range(len(events)):
        begin, end, column = events[index, 2], events[index, 3], columns[sequence[index]]
        mask = 0x7F if events[index, 0] > 0 and events[index, 0] & 7 == VARINT else 0xFF
        places[column] -= end - begin
        place = places[column]
        for offset in range(end - begin):
            out[place + offset] = data[begin + offset] & mask
    return out


def take(data: bytes, ends: Sequence[int]) -> Taken:
    """As `columns.take`."""
    source = np.frombuffer(data, np.uint8)
    events = _events(source, np.array(ends, np.int64))
    named, stepped, sequence = _take(events)
    lengths, step_columns = events[:, 3] - events[:, 2], stepped // SUBTYPES
    sizes = np.bincount(step_columns[sequence], lengths, len(named)).astype(np.int64)
    values = _filled(source, events, step_columns, sequence, sizes)
    cuts = np.concatenate(([0], np.cumsum(sizes))).tolist()
    found = [
        Column(name >> 32, name & 0xFFFFFFFF, memoryview(values)[cuts[index] : cuts[index + 1]])
        for index, name in enumerate(named.tolist())
    ]
    steps = [divmod(step, SUBTYPES) for step in stepped.tolist()]
    others = lengths[events[:, 0] == -NON_PROTO].tolist()
    return Taken(found, steps, sequence, b"".join(map(varint, reversed(others))))
