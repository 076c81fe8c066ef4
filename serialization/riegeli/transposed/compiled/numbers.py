"""Numbers and fields of messages in arrays of bytes, and arrays that grow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from shardwright.serialization.wire import DELIMITED, END_GROUP, FIXED32, FIXED64, START_GROUP, VARINT

Array = Any
"""A NumPy array: numba's functions have no types of their own."""

NOWHERE = -1
"""In place of an index or a place: there is none."""


@njit(cache=True)
def grown(array: Array) -> Array:
    """A copy of an array with room for as much again."""
    return np.concatenate((array, array))


@njit(cache=True)
def number(data: Array, place: int, end: int, bits: int, shortest: bool) -> Any:
    """As `wire.read_varint`; the place is `NOWHERE` where there is none."""
    value, shift = np.uint64(0), 0
    while place < end and shift < bits:
        byte = data[place]
        place += 1
        low = np.uint64(byte & 0x7F)
        if shift + 7 > bits and low >> np.uint64(bits - shift):
            return value, NOWHERE
        value |= low << np.uint64(shift)
        if byte < 0x80:
            return value, NOWHERE if shortest and shift and not byte else place
        shift += 7
    return value, NOWHERE


@njit(cache=True, inline="always")
def field(data: Array, place: int, end: int) -> Any:
    """A field's tag, what follows the tag, its contents and its end, which is `NOWHERE` where there is no field."""
    value, begin = number(data, place, end, 32, True)
    tag, contents, after = np.int64(value), begin, NOWHERE
    kind = tag & 7
    if begin == NOWHERE or tag < 8:
        return tag, begin, contents, NOWHERE
    if kind == VARINT:
        _, after = number(data, begin, end, 64, True)
    elif kind == DELIMITED:
        size, contents = number(data, begin, end, 32, True)
        after = NOWHERE if contents == NOWHERE else contents + np.int64(size)
    elif kind == FIXED32:
        after = begin + 4
    elif kind == FIXED64:
        after = begin + 8
    elif kind in (START_GROUP, END_GROUP):
        after = begin
    return tag, begin, contents, NOWHERE if after > end else after


@njit(cache=True)
def is_message(data: Array, place: int, end: int) -> bool:
    """Whether bytes are a message in canonical form, as `columns.message_fields` has it."""
    groups, open_groups = np.empty(8, np.int64), 0
    while place < end:
        tag, _, _, place = field(data, place, end)
        if place == NOWHERE:
            return False
        if tag & 7 == START_GROUP:
            if open_groups == len(groups):
                groups = grown(groups)
            groups[open_groups] = tag >> 3
            open_groups += 1
        elif tag & 7 == END_GROUP:
            open_groups -= 1
            if open_groups < 0 or groups[open_groups] != tag >> 3:
                return False
    return open_groups == 0
