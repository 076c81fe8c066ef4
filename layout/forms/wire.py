"""Protocol buffers on the wire, as far as a few small messages need them: numbers, texts and messages by field."""

from __future__ import annotations

from collections.abc import Iterable

Fields = dict[int, list["int | bytes"]]
"""What a message holds, by field number: numbers, and the bytes of texts, messages and packed numbers."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def number_field(field: int, value: int) -> bytes:
    """A number; nothing for 0, which is what a missing field means."""
    return _varint(field << 3 | _VARINT) + _varint(value) if value else b""


def bytes_field(field: int, value: bytes | str) -> bytes:
    """A text or a message."""
    content = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | _BYTES) + _varint(len(content)) + content


def packed_field(field: int, values: Iterable[int]) -> bytes:
    """
    Several numbers, packed; nothing for none.

    >>> packed_field(3, [4, 300]).hex()
    '1a0304ac02'
    """
    content = b"".join(map(_varint, values))
    return bytes_field(field, content) if content else b""


def read_fields(message: bytes) -> Fields:
    """
    The fields of a message; `ValueError` for bytes that are none.

    >>> read_fields(number_field(1, 5) + bytes_field(2, "x"))
    {1: [5], 2: [b'x']}
    """
    fields: Fields = {}
    place = 0
    while place < len(message):
        tag, place = _read_varint(message, place)
        field, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, place = _read_varint(message, place)
            fields.setdefault(field, []).append(value)
            continue
        if kind == _BYTES:
            size, place = _read_varint(message, place)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"field {field} is of the unknown kind {kind}")
        if not field or place + size > len(message):
            raise ValueError(f"the message ends inside of field {field}")
        fields.setdefault(field, []).append(message[place : place + size])
        place += size
    return fields


def numbers(fields: Fields, field: int) -> tuple[int, ...]:
    """The numbers of a field, packed or not."""
    found: list[int] = []
    for value in fields.get(field, []):
        if isinstance(value, int):
            found.append(_signed(value))
            continue
        place = 0
        while place < len(value):
            number, place = _read_varint(value, place)
            found.append(_signed(number))
    return tuple(found)


def texts(fields: Fields, field: int) -> tuple[str, ...]:
    """The texts of a field; `ValueError` for bytes that are no text."""
    return tuple(message.decode() for message in messages(fields, field))


def messages(fields: Fields, field: int) -> tuple[bytes, ...]:
    """The bytes of each message of a field."""
    found = fields.get(field, [])
    if any(isinstance(value, int) for value in found):
        raise ValueError(f"field {field} holds numbers where texts or messages belong")
    return tuple(value for value in found if isinstance(value, bytes))


def _varint(value: int) -> bytes:
    rest = value & (1 << 64) - 1
    digits: list[int] = []
    while rest > 127:
        digits.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*digits, rest])


def _read_varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(message) and shift < 70:
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
    raise ValueError("the message ends inside of a number")


def _signed(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
