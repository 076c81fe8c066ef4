"""Protocol buffers on the wire: varints, and where the fields of a serialised message begin and end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

__all__ = ["Bytes", "Cursor", "Field", "WireFault", "delimited", "fields", "read_varint", "varint"]

VARINT, FIXED64, DELIMITED, START_GROUP, END_GROUP, FIXED32 = range(6)
WIDTHS = {FIXED64: 8, FIXED32: 4}


class Bytes(Protocol):
    """Bytes by place: those of a buffer, or of a file."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int, /) -> int: ...


Field = tuple[int, int, int, int, int]
"""A field: its tag; where it begins, what follows the tag, its contents (after a length); and where it ends."""


class WireFault(ValueError):
    """
    Bytes that do not say what they should; whoever knows in which file they are makes a coded error of it.

    `code` is that of what is wrong inside of a record, if nobody knows a better one.
    """

    def __init__(self, message: str, code: str = "SW0805") -> None:
        super().__init__(message)
        self.message, self.code = message, code


def varint(value: int) -> bytes:
    """
    A number as a varint: seven bits a byte, the lowest first.

    >>> varint(300).hex()
    'ac02'
    """
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def delimited(number: int, size: int) -> bytes:
    """
    The tag and the length that stand before so many bytes of a field.

    >>> delimited(2, 300).hex()
    '12ac02'
    """
    return varint(number << 3 | DELIMITED) + varint(size)


def read_varint(data: Bytes, place: int, bits: int = 64, shortest: bool = False) -> tuple[int, int]:
    """
    The varint at `place`, of at most `bits` bits, and the place after it; a longer form than needed only if not
    `shortest`.

    >>> read_varint(bytes.fromhex("ac02"), 0)
    (300, 2)
    """
    size = len(data)
    if place < size and (value := data[place]) < 0x80:
        return value, place + 1  # as nearly all are
    value = shift = 0
    while place < size:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> bits or (shortest and shift and not byte):
                break
            return value, place
        shift += 7
        if shift >= bits:
            break
    else:
        raise WireFault("the data ends inside a number")
    raise WireFault(f"a number does not fit into {bits} bits")


class Cursor:
    """Bytes that are read from the front; nothing behind their end."""

    def __init__(self, data: memoryview, place: int = 0) -> None:
        self.data, self.place = data, place

    def take(self, size: int) -> memoryview:
        """The next `size` bytes."""
        left = len(self.data) - self.place
        if size > left:
            raise WireFault(f"{size} bytes are said to follow, and there are {left}")
        self.place += size
        return self.data[self.place - size : self.place]

    def number(self, bits: int = 32) -> int:
        """The next varint."""
        value, self.place = read_varint(self.data, self.place, bits)
        return value

    def at_end(self) -> bool:
        """Whether all is read."""
        return self.place == len(self.data)


def fields(data: Bytes, place: int = 0, end: int | None = None, shortest: bool = False) -> Iterator[Field]:
    """
    The fields of a message, not those of its submessages; a group's fields stand between its tags. With `shortest`, a
    number in a longer form than needed is a fault.

    >>> list(fields(bytes.fromhex("0801120161")))
    [(8, 0, 1, 1, 2), (18, 2, 3, 4, 5)]
    """
    end, groups = len(data) if end is None else end, list[int]()
    while place < end:
        begin = place
        tag, value = read_varint(data, place, 32, shortest)
        kind, contents = tag & 7, value
        if kind == VARINT:
            place = read_varint(data, value, 64, shortest)[1]
        elif kind == DELIMITED:
            size, contents = read_varint(data, value, 32, shortest)
            place = contents + size
        elif kind in WIDTHS:
            place = value + WIDTHS[kind]
        elif kind == START_GROUP:
            groups.append(tag >> 3)
            place = value
        elif kind == END_GROUP and groups and groups.pop() == tag >> 3:
            place = value
        else:
            raise WireFault("it has a field of a kind that it cannot have")
        if place > end or tag < 8:
            raise WireFault("a field is longer than what holds it")
        yield tag, begin, value, contents, place
    if groups:
        raise WireFault("a group does not end")
